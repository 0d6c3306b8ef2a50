import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Settings } from '../../src/settings.ts';
import { rowsOf } from '../rows.ts';
import { namesIn, settingsPlace, type Given } from './place.ts';

const { at, write, problemsOf: problemsIn, read: readIn } = settingsPlace();

const given = ({ env, ...more }: Given): Given => ({
  needsService: true,
  env: { USER_TOKEN: 'user-token', ...env },
  ...more,
});
const read = (more: Given = {}): Settings => readIn(given(more));
const problemsOf = (more: Given = {}): string[] => problemsIn(given(more));

const writeSettings = (clients: string, file = 'dns-template-sync.yaml'): void =>
  write(file, `baseUrl: https://panel.example.net/api/v1\nclients: ${clients}\n`);
beforeEach(() => writeSettings('./clients/*.yaml'));

/** A client's file, with tokens of its own. */
const writeClient = (name: string, more = '', token = name): void => {
  write(`secrets/${token}`, `client-token-${token}`);
  const tokens = `userToken: {env: USER_TOKEN}\nclientToken: {file: ../secrets/${token}}\n`;
  write(`clients/${name}.yaml`, `${tokens}${more}`);
};

describe('files of clients', () => {
  it('describe one client each, with the name of the file and paths relative to it', () => {
    writeClient('acme', 'templates: ../zones/acme\nmode: edits\n');
    writeClient('bakery', 'name: Bakery.1\nvars: {web: 1.10}\nstateDir: state\n');
    const [acme, bakery] = read().clients;
    const baseUrl = 'https://panel.example.net/api/v1';
    expect(acme).toMatchObject({ name: 'acme', baseUrl, templates: ['zones/acme'], mode: 'edits' });
    expect(acme?.tokens.read()).toMatchObject({ clientToken: 'client-token-acme' });
    const vars = { client: { web: '1.10' } };
    expect(bakery).toMatchObject({ name: 'Bakery.1', stateDir: at('clients/state'), vars });
    expect(problemsOf({ env: { DNS_SYNC_CLIENT_TOKEN: 'somebody' } })).toContain(
      'DNS_SYNC_CLIENT_TOKEN: would take the place of clients/acme.yaml: clientToken in the settings file, for every client: unset it, or choose one client with --client',
    );
  });

  it.each([
    ['clients', ['acme', 'bakery']],
    ['[./clients/bakery.yaml, ./clients/a*.yaml, clients]', ['bakery', 'acme']],
    ['./clients/*', ['acme', 'bakery']],
  ])('may be named as %s, and by a settings file that is elsewhere', (paths, names) => {
    writeClient('acme');
    writeClient('bakery');
    write('clients/notes.txt', 'nothing');
    write('clients/.hidden.yaml', 'nonsense');
    mkdirSync(at('clients/lost+found'));
    writeSettings(paths);
    expect(namesIn(read())).toEqual(names);
    renameSync(at('clients/acme.yaml'), at('clients/acme.YAML'));
    expect(namesIn(read())).toEqual(names);
    writeSettings('../clients/*.yaml', 'etc/sync.yaml');
    expect(namesIn(read({ flags: { config: 'etc/sync.yaml' } }))).toEqual(['acme', 'bakery']);
  });

  it('are found behind the links of a mounted volume', () => {
    writeClient('acme');
    renameSync(at('clients'), at('first'));
    mkdirSync(at('clients'));
    symlinkSync('../first', at('clients/..data'));
    symlinkSync('..data/acme.yaml', at('clients/acme.yaml'));
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
    writeClient('bakery', 'listen: off\nclients: {}\n');
    write('clients/c d.yaml', 'userToken: {env: USER_TOKEN}\nclientToken: {env: OTHER}\n');
    write('clients/e.yaml', 'a: [\n');
    expect(problemsOf()).toEqual([
      'clients/acme.yaml:3:7: mode: expected one of enforce, edits, report',
      'clients/acme.yaml:4:1: maxAdds: unknown key; did you mean `limits.maxAdds`?',
      'clients/bakery.yaml:3:1: listen: it applies to all clients: set it at the top of the settings file',
      'clients/bakery.yaml:4:1: clients: it applies to all clients: set it at the top of the settings file',
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
    writeClient('fish');
    writeClient('gelato', 'name: fish\nbogus: 1\n');
    expect(problemsOf()).toEqual([
      'clients/acme.yaml: the same base URL and client token as clients/bakery.yaml: keep one of them, or give each its own token',
      'clients/bakery.yaml: the same base URL and client token as clients/acme.yaml: keep one of them, or give each its own token',
      'clients/cafe.yaml: the same client name, dairy, as clients/dairy.yaml: keep one of them',
      'clients/dairy.yaml: the same client name, dairy, as clients/cafe.yaml: keep one of them',
      'clients/fish.yaml: the same client name, fish, as clients/gelato.yaml: keep one of them',
      'clients/gelato.yaml:4:1: bogus: unknown key',
      'clients/gelato.yaml: the same client name, fish, as clients/fish.yaml: keep one of them',
    ]);
  });
});

describe('files of clients that are read again', () => {
  const start = () => {
    for (const name of ['acme', 'bakery', 'cafe']) writeClient(name);
    const settings = read({ mayLeaveOut: true });
    const again = () => {
      settings.clientFiles!.look();
      return settings.clientFiles!.read();
    };
    return { settings, again, first: settings.clients };
  };

  it('keep the clients that have not changed, and those of invalid files, until these are valid', () => {
    const { settings, again, first } = start();
    writeClient('bakery', 'mode: sometimes\n');
    writeClient('dairy', 'mode: sometimes\n');
    const { clients, problems } = again();
    for (const [index, client] of clients.entries()) expect(client).toBe(first[index]);
    const what = { message: 'mode: expected one of enforce, edits, report', line: 3, column: 7 };
    const found = ['bakery', 'dairy'].map((client) => ({ ...what, client, file: `clients/${client}.yaml` }));
    expect(problems).toMatchObject(found);
    expect(again().problems).toEqual(problems);
    // Also when all settings are read again.
    const reread = read({ mayLeaveOut: true, previous: settings });
    expect(namesIn(reread)).toEqual(['acme', 'bakery', 'cafe']);
    expect(reread.leftOut).toMatchObject(found);
    writeClient('bakery', 'mode: report\n');
    writeClient('dairy');
    expect(again()).toMatchObject({ problems: [], clients: [{}, { mode: 'report' }, {}, {}] });
  });

  /** Steps: clients that are written, files that come and go, which clients there `are` then, and what is `told`. */
  const courses = rowsOf(`
    come and go | client dairy; remove clients/acme.yaml; are bakery cafe dairy
    go and come by another name | move clients/bakery.yaml clients/zoo.yaml; are acme cafe zoo
    are used once their token is there | client dairy; remove secrets/dairy; are acme bakery cafe; told dairy.yaml clientToken: cannot read; client dairy; are acme bakery cafe dairy
    are all kept if all files are gone | move clients away; are acme bakery cafe; told there is no file ./clients/*.yaml; move away clients; are acme bakery cafe; told
    are not there if the folder is empty | move clients away; folder clients; told there is no file ./clients/*.yaml (in
    are not there behind links that lead in a circle | link clients/dairy.yaml; are acme bakery cafe; told dairy.yaml cannot read this file (its links lead in a circle: ELOOP)
    never share a token with one in use | client copy token=bakery; are acme bakery cafe; told copy.yaml the same base URL and client token as clients/bakery.yaml: keep one of them, or give each its own token
    never share a name with one in use | client copy name=cafe; are acme bakery cafe; told copy.yaml the same client name, cafe, as clients/cafe.yaml: keep one of them
    never share a token if both are new | client dairy; client fish token=dairy; are acme bakery cafe; remove clients/fish.yaml; are acme bakery cafe dairy
    get a name that another one has given up | client acme name=fish; client bakery name=acme; are fish bakery cafe; are fish acme cafe
    cannot change names with each other | client acme name=bakery; client bakery name=acme; are acme bakery cafe; are acme bakery cafe`);

  it.each(courses)('%s', (_, script = '') => {
    const { again } = start();
    for (const step of script.split('; ')) {
      const [verb = '', ...words] = step.split(' ');
      const [name = '', other = ''] = words;
      const [key, value = ''] = other.split('=');
      if (verb === 'client' && key === 'token') writeClient(name, '', value);
      else if (verb === 'client') writeClient(name, key === 'name' ? `name: ${value}\n` : '');
      else if (verb === 'remove') rmSync(at(name));
      else if (verb === 'move') renameSync(at(name), at(other));
      else if (verb === 'folder') mkdirSync(at(name));
      else if (verb === 'link') symlinkSync(at(name), at(name));
      else if (verb === 'are') expect([step, namesIn(again())]).toEqual([step, words]);
      else {
        const told = again().problems.map(({ file, message }) => `${file ?? ''} ${message}`);
        expect(told.join('\n')).toContain(words.join(' '));
        expect(told.length > 0).toBe(words.length > 0);
      }
    }
  });

  it('skip an invalid one at the start, unless it is the only one', () => {
    writeClient('acme');
    writeClient('bakery', 'mode: sometimes\n');
    const settings = read({ mayLeaveOut: true });
    expect([namesIn(settings), settings.leftOut.length]).toEqual([['acme'], 1]);
    rmSync(at('clients/acme.yaml'));
    expect(problemsOf({ mayLeaveOut: true })).toHaveLength(1);
  });

  it('are read once each, also thousands of them', () => {
    const names = Array.from({ length: 1_000 }, (_, index) => `client-${index}`);
    for (const name of names)
      write(`clients/${name}.yaml`, `userToken: {env: USER_TOKEN}\nclientToken: {env: ${name}}\n`);
    for (const name of readdirSync(at('clients'))) utimesSync(at('clients', name), 1e9, 1e9);
    const settings = read({ env: Object.fromEntries(names.map((name) => [name, `token of ${name}`])) });
    const first = new Set(settings.clients);
    expect(first.size).toBe(1_000);
    write(
      'clients/client-700.yaml',
      'userToken: {env: USER_TOKEN}\nclientToken: {env: client-700}\nmode: edits\n',
    );
    const { clients } = settings.clientFiles!.read();
    expect(clients).toHaveLength(1_000);
    expect(namesIn({ clients: clients.filter((client) => !first.has(client)) })).toEqual(['client-700']);
  });
});
