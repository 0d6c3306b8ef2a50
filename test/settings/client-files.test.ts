import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { readSettings, type Settings, type SettingsRequest } from '../../src/settings.ts';

let cwd: string;
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(path.join(tmpdir(), 'client-files-')));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  write('dns-template-sync.yaml', 'baseUrl: https://panel.example.net/api/v1\nclients: ./clients/*.yaml\n');
});

const write = (name: string, content: string): void => {
  mkdirSync(path.dirname(path.join(cwd, name)), { recursive: true });
  writeFileSync(path.join(cwd, name), content);
};

/** A client's file, with tokens of its own. */
const writeClient = (name: string, more = '', token = name): void => {
  write(`secrets/${token}`, `client-token-${token}`);
  write(
    `clients/${name}.yaml`,
    `userToken: {env: USER_TOKEN}\nclientToken: {file: ../secrets/${token}}\n${more}`,
  );
};

interface Given {
  readonly flags?: SettingsRequest['flags'];
  readonly mayLeaveOut?: boolean;
  readonly previous?: Settings;
  readonly env?: Readonly<Record<string, string>>;
}

const read = ({ flags = {}, env = {}, ...more }: Given = {}): Settings =>
  readSettings({
    flags,
    env: { HOME: '/home/somebody', USER_TOKEN: 'user-token', ...env },
    cwd,
    needsService: true,
    ...more,
  });

const namesIn = ({ clients }: Pick<Settings, 'clients'>): string[] => clients.map(({ name }) => name);

const problemsOf = (given?: Given): string[] => {
  try {
    read(given);
  } catch (error) {
    const lines = error instanceof Error ? error.message.split('\n- ') : [];
    return lines.length > 1 ? lines.slice(1) : lines;
  }
  return [];
};

describe('files of clients', () => {
  it('describe one client each, with the name of the file and paths relative to it', () => {
    writeClient('acme', 'templates: ../zones/acme\nmode: edits\n');
    writeClient('bakery', 'name: Bakery.1\nvars: {web: 1.10}\nstateDir: state\n');
    const [acme, bakery] = read().clients;
    expect(acme).toMatchObject({ name: 'acme', templates: ['zones/acme'], mode: 'edits' });
    expect(acme?.baseUrl).toBe('https://panel.example.net/api/v1');
    expect(acme?.tokens.read()).toMatchObject({ clientToken: 'client-token-acme' });
    expect(bakery).toMatchObject({ name: 'Bakery.1', stateDir: path.join(cwd, 'clients/state') });
    expect(bakery?.vars.client).toEqual({ web: '1.10' });
  });

  it('may be named by a directory, one by one, by several paths, and by a settings file that is elsewhere', () => {
    writeClient('acme');
    writeClient('bakery');
    write('clients/notes.txt', 'nothing');
    write('clients/.hidden.yaml', 'nonsense');
    write('dns-template-sync.yaml', 'baseUrl: https://panel.example.net\nclients: clients\n');
    expect(namesIn(read())).toEqual(['acme', 'bakery']);
    const several = '[./clients/bakery.yaml, ./clients/a*.yaml, clients]';
    write('dns-template-sync.yaml', `baseUrl: https://panel.example.net\nclients: ${several}\n`);
    expect(namesIn(read())).toEqual(['bakery', 'acme']);
    write('etc/sync.yaml', 'baseUrl: https://panel.example.net\nclients: ../clients/*.yaml\n');
    expect(namesIn(read({ flags: { config: 'etc/sync.yaml' } }))).toEqual(['acme', 'bakery']);
  });

  it('are none in lost+found, and may end in capitals', () => {
    writeClient('acme');
    mkdirSync(path.join(cwd, 'clients/lost+found'));
    for (const name of ['acme.yaml', 'acme.YAML'])
      for (const all of ['clients', './clients/*.yaml', './clients/*']) {
        renameSync(
          path.join(cwd, 'clients', readdirSync(path.join(cwd, 'clients'))[0]!),
          path.join(cwd, 'clients', name),
        );
        write('dns-template-sync.yaml', `baseUrl: https://panel.example.net\nclients: ${all}\n`);
        expect(namesIn(read())).toEqual(['acme']);
      }
  });

  it('are found behind the links of a mounted volume', () => {
    writeClient('acme');
    renameSync(path.join(cwd, 'clients'), path.join(cwd, 'first'));
    mkdirSync(path.join(cwd, 'clients'));
    symlinkSync('../first', path.join(cwd, 'clients/..data'));
    symlinkSync('..data/acme.yaml', path.join(cwd, 'clients/acme.yaml'));
    expect(namesIn(read())).toEqual(['acme']);
  });

  it('allow to select one client, whatever is wrong with others', () => {
    writeClient('acme');
    writeClient('bakery', 'mode: sometimes\n');
    expect(namesIn(read({ flags: { client: ['acme'] } }))).toEqual(['acme']);
    expect(problemsOf({ flags: { client: ['acmee'] } })).toEqual([
      '--client: there is no client acmee; did you mean `acme`?',
    ]);
  });

  it('have their errors reported all at once, each with file and place', () => {
    writeClient('acme', 'mode: sometimes\nmaxAdds: 3\n');
    writeClient('bakery', 'listen: off\nmoed: edits\nclients: {}\n');
    write('clients/c d.yaml', 'userToken: {env: USER_TOKEN}\nclientToken: {env: OTHER}\n');
    write('clients/e.yaml', 'a: [\n');
    expect(problemsOf()).toEqual([
      'clients/acme.yaml:3:7: mode: expected one of enforce, edits, report',
      'clients/acme.yaml:4:10: maxAdds: unknown key; did you mean `limits.maxAdds`?',
      'clients/bakery.yaml:3:9: listen: it applies to all clients: set it at the top of the settings file',
      'clients/bakery.yaml:4:7: moed: unknown key; did you mean `mode`?',
      'clients/bakery.yaml:5:10: clients: it applies to all clients: set it at the top of the settings file',
      'clients/c d.yaml: expected a name of letters, digits, dots, dashes and underscores: rename the file, or set name in it',
      'clients/c d.yaml:2:14: clientToken: the environment variable OTHER is not set',
      'clients/e.yaml:2:1: not valid YAML: bad indent; text with special characters needs quotes, and an opening bracket its end',
    ]);
  });

  it('cannot describe one client twice: the error names both', () => {
    writeClient('acme');
    writeClient('bakery', '', 'acme');
    writeClient('cafe', 'name: dairy\n');
    writeClient('dairy');
    expect(problemsOf()).toEqual([
      'clients/acme.yaml: the same base URL and client token as clients/bakery.yaml: keep one of them, or give each its own token',
      'clients/bakery.yaml: the same base URL and client token as clients/acme.yaml: keep one of them, or give each its own token',
      'clients/cafe.yaml: the same client name, dairy, as clients/dairy.yaml: keep one of them',
      'clients/dairy.yaml: the same client name, dairy, as clients/cafe.yaml: keep one of them',
    ]);
  });

  it('do not share one token from a variable', () => {
    writeClient('acme');
    expect(problemsOf({ env: { DNS_SYNC_CLIENT_TOKEN: 'somebody' } })).toEqual([
      'DNS_SYNC_CLIENT_TOKEN: would take the place of clients/acme.yaml: clientToken in the settings file, for every client: unset it, or choose one client with --client',
    ]);
  });
});

describe('files of clients that are read again', () => {
  const start = () => {
    for (const name of ['acme', 'bakery', 'cafe']) writeClient(name);
    const settings = read({ mayLeaveOut: true });
    const files = settings.clientFiles;
    if (files === null) throw new Error('no files');
    return { settings, files, again: () => files.read(), first: settings.clients };
  };

  it('keep the clients that have not changed, and replace the changed one', () => {
    const { again, first } = start();
    for (const [at, client] of again().clients.entries()) expect(client).toBe(first[at]);
    writeClient('bakery', 'mode: edits\n');
    const { clients, problems } = again();
    expect(problems).toEqual([]);
    expect(clients[0]).toBe(first[0]);
    expect(clients[1]).toMatchObject({ name: 'bakery', mode: 'edits' });
    expect(clients[2]).toBe(first[2]);
  });

  it('keep the previous settings of an invalid file, until it is valid', () => {
    const { again, first } = start();
    writeClient('bakery', 'mode: sometimes\n');
    writeClient('dairy', 'mode: sometimes\n');
    const { clients, problems } = again();
    expect(clients).toEqual(first);
    expect(clients[1]).toBe(first[1]);
    const message = 'mode: expected one of enforce, edits, report';
    const [severity, check, place] = ['error', 'settings', { line: 3, column: 7 }];
    expect(problems).toEqual([
      { severity, check, message, client: 'bakery', file: 'clients/bakery.yaml', ...place },
      { severity, check, message, client: 'dairy', file: 'clients/dairy.yaml', ...place },
    ]);
    expect(again().problems).toEqual(problems);
    writeClient('bakery', 'mode: report\n');
    writeClient('dairy');
    expect(again()).toMatchObject({ problems: [], clients: [{}, { mode: 'report' }, {}, {}] });
  });

  it.each([
    ['come and go', 'client dairy; remove clients/acme.yaml; are bakery cafe dairy'],
    ['go and come by another name', 'move clients/bakery.yaml clients/zoo.yaml; are acme cafe zoo'],
    [
      'are used once their token is there',
      'client dairy; remove secrets/dairy; are acme bakery cafe; told dairy.yaml clientToken: cannot read; client dairy; are acme bakery cafe dairy',
    ],
    [
      'are all kept if all files are gone',
      'move clients away; are acme bakery cafe; told there is no file ./clients/*.yaml; move away clients; are acme bakery cafe; told',
    ],
    [
      'are not there if the folder is empty',
      'move clients away; folder clients; told there is no file ./clients/*.yaml (in',
    ],
    [
      'never share a token with one in use',
      'client copy token=bakery; are acme bakery cafe; told copy.yaml the same base URL and client token as clients/bakery.yaml: keep one of them, or give each its own token',
    ],
    [
      'never share a name with one in use',
      'client copy name=cafe; are acme bakery cafe; told copy.yaml the same client name, cafe, as clients/cafe.yaml: keep one of them',
    ],
    [
      'never share a token if both are new',
      'client dairy; client fish token=dairy; are acme bakery cafe; remove clients/fish.yaml; are acme bakery cafe dairy',
    ],
    [
      'get a name that another one has given up',
      'client acme name=fish; client bakery name=acme; are fish bakery cafe; are fish acme cafe',
    ],
    [
      'cannot change names with each other',
      'client acme name=bakery; client bakery name=acme; are acme bakery cafe; are acme bakery cafe',
    ],
  ])('%s', (_, script) => {
    const { again } = start();
    for (const step of script.split('; ')) {
      const [verb = '', ...words] = step.split(' ');
      const [name = '', other = ''] = words;
      const [key, value = ''] = other.split('=');
      if (verb === 'client' && key === 'token') writeClient(name, '', value);
      else if (verb === 'client') writeClient(name, key === 'name' ? `name: ${value}\n` : '');
      else if (verb === 'remove') rmSync(path.join(cwd, name));
      else if (verb === 'move') renameSync(path.join(cwd, name), path.join(cwd, other));
      else if (verb === 'folder') mkdirSync(path.join(cwd, name));
      else if (verb === 'are') expect([step, namesIn(again())]).toEqual([step, words]);
      else {
        const told = again()
          .problems.map(({ file, message }) => `${file ?? ''} ${message}`)
          .join('\n');
        expect(told).toContain(words.join(' '));
        if (words.length === 0) expect(told).toBe('');
      }
    }
  });

  it('keep an invalid file’s client also when all settings are read again', () => {
    const { settings } = start();
    writeClient('bakery', 'mode: sometimes\n');
    const reread = read({ mayLeaveOut: true, previous: settings });
    expect(namesIn(reread)).toEqual(['acme', 'bakery', 'cafe']);
    expect(reread.leftOut).toMatchObject([
      {
        client: 'bakery',
        file: 'clients/bakery.yaml',
        line: 3,
        column: 7,
        message: expect.stringMatching(/^mode: /),
      },
    ]);
  });

  it('skip an invalid one at the start, unless it is the only one', () => {
    writeClient('acme');
    writeClient('bakery', 'mode: sometimes\n');
    const settings = read({ mayLeaveOut: true });
    expect(namesIn(settings)).toEqual(['acme']);
    expect(settings.leftOut).toHaveLength(1);
    expect(problemsOf()).toHaveLength(1);
    rmSync(path.join(cwd, 'clients/acme.yaml'));
    expect(problemsOf({ mayLeaveOut: true })).toHaveLength(1);
  });

  it('are read once each, also thousands of them', () => {
    const files = Array.from({ length: 2_000 }, (_, at) => path.join(cwd, `clients/client-${at}.yaml`));
    mkdirSync(path.join(cwd, 'clients'));
    const longAgo = new Date('2026-01-01');
    for (const [at, file] of files.entries()) {
      writeFileSync(file, `userToken: {env: USER_TOKEN}\nclientToken: {env: TOKEN_${at}}\n`);
      utimesSync(file, longAgo, longAgo);
    }
    const env = Object.fromEntries(files.map((_, at) => [`TOKEN_${at}`, `client-token-${at}`]));
    const settings = read({ env });
    const first = new Set(settings.clients);
    expect(first.size).toBe(2_000);
    writeFileSync(files[700]!, 'userToken: {env: USER_TOKEN}\nclientToken: {env: TOKEN_700}\nmode: edits\n');
    const { clients = [] } = settings.clientFiles?.read() ?? {};
    expect(clients).toHaveLength(2_000);
    expect(namesIn({ clients: clients.filter((client) => !first.has(client)) })).toEqual(['client-700']);
  });
});
