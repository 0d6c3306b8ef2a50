import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { recordsOf, type SandboxData, type TemplateRecord } from '../../src/sandbox/operations.ts';
import { exampleData } from '../../src/sandbox/example-data.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { startZoneServer, type ZoneLine } from '../answers/zone-server.ts';
import { built } from '../built.ts';
import { writeBelow } from '../daemon/ways.ts';
import { freePort } from '../free-port.ts';
import { never } from '../daemon/daemon.ts';
import { standInForDocker } from './docker.ts';
import { blocksOf, pages, textOf } from './documents.ts';
import { startCommand, startCommandOnTerminal } from '../process.ts';
import { edit, run, workplace } from '../program.ts';
import { environment } from '../service.ts';

/**
 * How each code block of the documents is checked, by its page, its language and how it begins: by the first row that
 * fits. These are checked here:
 *
 * - `typed`: each line is typed into a shell on a terminal, against the embedded service. Addresses and ports are others,
 *   and `docker`, `npm` and `dig` are stand-ins: there is no engine and no such name server here, and
 *   npm would change the checkout that runs this
 * - `shown`: the commands after `$`, where the page says; what is printed is what the block shows
 * - `named`: what contributors run, each of which takes long; the scripts and files that it names are there
 * - `template`, `settings`: valid for the program
 * - `change`, `changed`: a change of the source, which applies, and what the program then says of the example that it is about
 * - `octodns`, `move`: a file of octoDNS becomes a template file; an imported zone fills a template, and is compared
 *
 * And these elsewhere: `recipe` in `recipes.operators.ts`, `jq` and `scrape` in `test/daemon/operators`, `store` in
 * `test/cluster/program.cluster.ts`, `library` in `test/processes/library.test.ts`. `drawing` is for reading.
 */
const kinds: readonly (readonly [kind: string, page: RegExp, block: RegExp])[] = [
  ['recipe', /ci\.md$/, /^yaml\n(name: dns|stages:)/],
  ['jq', /daemon/, /^sh\n# Who caused a change/],
  ['scrape', /deployment/, /^yaml\nrule_files:/],
  ['library', /library/, /^(js|ts)\nimport /],
  ['store', /postgres/, /^text\nexport DNS_SYNC_STORE_FILE/],
  ['drawing', /CONTRIBUTING/, /^text\n template files ─>/],
  ['change', /CONTRIBUTING/, /^diff\n--- a\/src/],
  ['changed', /CONTRIBUTING/, /^console\n\$ npm run --silent build/],
  ['named', /CONTRIBUTING|README/, /^sh\n(npm ci|npx vitest|npm run release)/],
  ['log', /README/, /^console\n21:27:00 daemon started/],
  ['octodns', /move/, /^(js\nimport|sh\nnode octodns\.mjs)/],
  ['move', /move/, /^sh\n(dns-template-sync validate|flat\(\))/],
  ['try-it', /try-it/, /^console\n\$ /],
  ['settings', /settings/, /^text\nclients:/],
  ['template', /./, /^yaml\ntemplate:/],
  ['settings', /./, /^yaml\n(#|baseUrl:|notify:)/],
  ['shown', /./, /^console\n\$ dns-template-sync /],
  ['typed', /./, /^sh\n(dns-template-sync|docker|dig|npm pack|alias|export|SETTINGS=)/],
];

const blocks = pages.flatMap((page) =>
  [...textOf(page).matchAll(/^```([a-z]*\n(.*?))^```$/gms)].map(([, whole = '', text = '']) => {
    const kind = kinds.find(([, ofPage, ofBlock]) => ofPage.test(page) && ofBlock.test(whole))?.[0];
    return { page, kind, text };
  }),
);

const those = (kind: string): [page: string, start: string, block: string][] =>
  blocks.flatMap((one) => (one.kind === kind ? [[one.page, one.text.split('\n')[0] ?? '', one.text]] : []));

it('every block has its check, and every check a block', () => {
  expect(blocks.filter(({ kind }) => kind === undefined)).toEqual([]);
  expect(new Set(blocks.map(({ kind }) => kind))).toEqual(new Set(kinds.map(([kind]) => kind)));
});

/** A directory as the documents assume it, with `bin` for the programs that they call, and a service to call. */
const place = async () => {
  const cwd = await workplace();
  const data = withShop(exampleData());
  const dataFile = path.join(cwd, '.service.json');
  await writeFile(dataFile, JSON.stringify(data));
  const service = await startSandbox({ dataFile });
  onTestFinished(() => service.close());
  const bakery = data.subdomains.find(({ name }) => name === 'bakery.example.net')!;
  const zone = await startZoneServer({
    apex: bakery.name,
    serial: 2025111801,
    lines: recordsOf(data, bakery).flatMap((record) => lineOf(record, bakery.name)),
  });
  onTestFinished(() => zone.close());
  for (const token of ['user-token', 'client-token']) {
    await writeBelow(cwd, `.secrets/${token}`, `the-${token}\n`);
    await writeBelow(cwd, `secrets/${token}`, `the-${token}\n`);
  }
  for (const name of ['Dockerfile', 'dist', 'node_modules', 'package.json', 'LICENSE'])
    await symlink(path.resolve(name), path.join(cwd, name));
  await standInForDocker(cwd);
  await writeBelow(
    cwd,
    'bin/dns-template-sync',
    `#!/bin/sh\nexec '${process.execPath}' '${built('main.js')}' "$@"\n`,
  );
  await writeBelow(cwd, 'bin/npm', npm);
  await writeBelow(cwd, 'bin/dig', `#!/bin/sh\necho 'www.example.net.\t3600\tIN\tA 192.0.2.1'\n`);
  await writeBelow(cwd, 'example.net.zone', 'www 3600 A 192.0.2.1\n');
  await promisify(execFile)('chmod', ['-R', '+x', path.join(cwd, 'bin')]);
  const env = {
    PATH: `${path.join(cwd, 'bin')}:${process.env['PATH']}`,
    DNS_SYNC_NAMESERVERS: zone.place,
    NO_COLOR: '1',
  };
  return { cwd, service, env };
};

/** With a template that has no records yet, and the domain that follows it. */
const withShop = (data: SandboxData): SandboxData => ({
  ...data,
  dns_templates: [
    ...data.dns_templates,
    { id: 900, name: 'shop', publicly_available: false, dns_template_records: [] },
  ],
  subdomains: [...data.subdomains, { id: 901, name: 'example.net', dns_template_id: 900 }],
});

/** A record as a name server has it; it has SOA by itself. */
const lineOf = ({ type, name, content, priority, ttl }: TemplateRecord, apex: string): ZoneLine[] => {
  const whole = name === null ? apex : `${name}.${apex}`;
  const data = type === 'MX' ? { preference: priority, exchange: content } : content;
  return type === 'SOA' ? [] : [[whole, type, data, ttl]];
};

/** Has the scripts of `package.json`; `pack` makes a file of that name, and `install` wants it. */
const npm = `#!/bin/bash -e
case $1 in
  ci | prune) ;;
  run) node -e 'if (!(process.argv[1] in require("./package.json").scripts)) process.exit(1)' "$2" ;;
  pack) touch "$(node -p '({ name, version } = require("./package.json"), name + "-" + version)').tgz" ;;
  install) [ -f "\${@: -1}" ] ;;
  *) exit 1 ;;
esac
`;

/** With both spellings of what has changed in time, and a text that needs several strings. */
const octodns = `
'':
  - {type: A, ttl: 300, values: [192.0.2.1, 192.0.2.2]}
  - {type: CAA, value: {flags: 0, tag: issue, value: letsencrypt.org}}
  - type: MX
    values: [{exchange: mx1.example.net., preference: 10}, {priority: 20, value: mx2.example.net.}]
  - {type: TXT, value: 'say "hi"\\; ${'é'.repeat(300)}'}
'*': {type: CNAME, value: example.net.}
_dmarc: {type: TXT, value: 'v=DMARC1; p=none'}
_ssh: {type: SSHFP, value: {algorithm: 4, fingerprint: 1a2b, fingerprint_type: 2}}
_imap._tcp: {type: SRV, value: {port: 143, priority: 0, target: mail.example.net., weight: 1}}
`;

/** Types a block, line by line, and answers what it asks. Throws where a command fails. */
const type = async (block: string): Promise<void> => {
  const { cwd, service, env } = await place();
  const port = await freePort();
  const text = block
    .replaceAll('https://panel.example.net/api/v1', service.url)
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`)
    .replaceAll('127.0.0.1:8053', '127.0.0.1:0')
    .replaceAll('/opt/', `${cwd}/opt/`);
  // With the paths that it has in a container.
  const settings = `baseUrl: ${service.url}
clients: { acme: { userToken: { file: run/secrets/user-token }, clientToken: { file: run/secrets/client-token } } }
`;
  if (/[/ ]dns-template-sync\.yaml/.test(block)) await writeBelow(cwd, 'dns-template-sync.yaml', settings);
  const tokens = block.includes('_TOKEN_FILE=') ? {} : environment(service.url);
  const shell = startCommandOnTerminal(['bash', '--norc', '--noediting', '-i'], {
    cwd,
    env: { ...env, ...tokens, PS1: String.raw`<\#:$?>`, DNS_SYNC_LISTEN: 'off' },
  });
  for (const [at, line] of typedLines(text).entries()) {
    await shell.says(`<${at + 1}:`);
    const before = shell.output().length;
    const ends = shell.says(`<${at + 2}:`);
    const reply = async (question: string, answer: string): Promise<void> => {
      await Promise.race([ends, shell.says(question, before)]);
      if (shell.output().includes(question, before)) shell.type(answer);
    };
    if (line.startsWith('dns-template-sync sandbox')) {
      // In another terminal, or in the background, where it takes as long as it needs.
      shell.type(
        `${line.replace(/ &$/, '').replace(/sandbox(?!.*--listen)/, `$& --listen 127.0.0.1:${port}`)} &\n`,
      );
      await shell.says('/api/v1 (', before);
      await ends;
    } else {
      shell.type(`${line}\n`);
      if (/\bapply\b(?!.*--yes)/.test(line)) await reply('[y/N]', 'y\n');
      if (/\brun( |$)/.test(line)) await reply('pass finished', '\u0003');
      await ends;
    }
    const [, code] = new RegExp(`<${at + 2}:(\\d+)>`).exec(shell.output()) ?? [];
    const isExpected =
      code === '0' ||
      (code === '2' && line.includes('--detailed-exitcode')) ||
      // The example data has a conflict that no pass can write.
      (code === '1' && line.startsWith('dns-template-sync apply'));
    if (!isExpected) expect({ line, code, said: shell.output() }).toBe('well');
  }
  shell.type('kill $(jobs -p) 2>/dev/null; exit\n');
  await shell.ended;
  if (text.includes('/opt/'))
    expect(
      await promisify(execFile)(process.execPath, [
        path.join(cwd, 'opt/dns-template-sync/dist/main.js'),
        '--version',
      ]),
    ).toBeTruthy();
};

/** The lines that somebody types: without comments, and whole where they go on after a backslash. */
const typedLines = (block: string): string[] =>
  block
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'));

describe('the commands', () => {
  it.each(those('typed'))('of %s work as they stand: %s', async (_, __, block) => {
    for (const alternative of block.split('# Or:\n')) await type(alternative);
  });

  it('of a move fill a template, and show no difference', async () => {
    const [fill = '', compare = ''] = those('move').map(([, , block]) => block);
    const [, , importZone = ''] = those('typed').find(([page]) => page.endsWith('move.md')) ?? [];
    await type(importZone + fill + compare);
  });

  it('of a move read a file of octoDNS', async () => {
    const { cwd, env } = await place();
    const [script = '', command = ''] = those('octodns').map(([, , block]) => block);
    await writeBelow(cwd, 'octodns.mjs', script);
    await writeBelow(cwd, 'config/example.net.yaml', octodns);
    const { stderr } = await promisify(execFile)('bash', ['-c', command], { cwd, env });
    expect(stderr).toMatch(
      / line 3 .* type: CAA, content: '0 issue letsencrypt\.org'.*\n.* line 9 .* type: SSHFP, name: _ssh, .*\n$/,
    );
    const text = await readFile(path.join(cwd, 'templates/shop.yaml'), 'utf8');
    const { records } = z.object({ records: z.array(z.unknown()) }).parse(parse(text));
    expect(records).toEqual([
      { type: 'A', content: '192.0.2.1', ttl: 300 },
      { type: 'A', content: '192.0.2.2', ttl: 300 },
      { type: 'CNAME', name: '*', content: 'example.net' },
      { type: 'MX', content: 'mx1.example.net', priority: 10 },
      { type: 'MX', content: 'mx2.example.net', priority: 20 },
      { type: 'SRV', name: '_imap._tcp', priority: 0, weight: 1, port: 143, target: 'mail.example.net' },
      { type: 'TXT', content: `say "hi"; ${'é'.repeat(300)}` },
      { type: 'TXT', name: '_dmarc', content: 'v=DMARC1; p=none' },
    ]);
  });

  it.each(those('named'))('of %s are there: %s', async (_, __, block) => {
    const { scripts } = z
      .object({ scripts: z.record(z.string(), z.string()) })
      .parse(JSON.parse(await readFile('package.json', 'utf8')));
    for (const line of block.split('\n')) {
      const [command = ''] = line.split('#');
      for (const [, name = ''] of command.matchAll(/npm (?:run )?(start|test|(?<=run )[\w:]+)/g))
        expect(Object.keys(scripts)).toContain(name);
      for (const [file] of command.matchAll(/(?:\.ci|test|src)\/[\w./-]+/g))
        expect(existsSync(file) ? file : null).toBe(file);
    }
  });
});

describe('the change of the first hour', () => {
  it.each(those('change'))('of %s applies', async (_, __, block) => {
    const apply = promisify(execFile)('git', ['apply', '--check', '-']);
    apply.child.stdin?.end(block);
    await apply;
  });

  it.each(those('changed'))('of %s shows what the program says', async (_, __, block) => {
    const cwd = await workplace();
    // Short enough for the limit as it is.
    await edit(cwd, 'voice.yaml', 'ttl: 5m', 'ttl: 30s');
    const { stdout } = await run(['validate'], { cwd });
    expect(stdout.replace('30 s', '300 s')).toBe(block.slice(block.indexOf('\n') + 1));
  });
});

describe('the files', () => {
  it.each(those('template'))('of %s are valid: %s', async (_, __, block) => {
    const cwd = await workplace({ withExamples: false });
    await writeBelow(cwd, 'templates/example.yaml', block);
    await writeBelow(cwd, 'templates/_mail.yaml', 'records:\n  - {type: TXT, content: v=spf1 mx -all}\n');
    expect(await run(['validate'], { cwd })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('0 errors'),
    });
  });

  it.each(those('settings'))('of %s are understood: %s', async (_, __, block) => {
    const cwd = await workplace({ withExamples: false });
    const files = [...block.matchAll(/^.* # in (\S+)\n(?:.+\n)*/gm)];
    for (const [text, file = ''] of files) await writeBelow(cwd, file, text);
    const needed = block.includes('baseUrl:') ? '' : 'baseUrl: https://panel.example.net/api/v1\n';
    const settings = path.join(cwd, 'dns-template-sync.yaml');
    const main = files.length > 0 ? await readFile(settings, 'utf8') : block;
    await writeFile(settings, needed + main);
    await writeBelow(cwd, 'templates/common/_mail.yaml', 'records: []\n');
    for (const client of ['acme', 'bakery'])
      await writeBelow(cwd, `templates/${client}/a.yaml`, `template: ${client}\nrecords: []\n`);
    expect(await run(['validate'], { cwd })).toMatchObject({ code: 0 });
  });

  it.each(pages)('in YAML of %s can be read', (page) => {
    for (const block of blocksOf(page, 'yaml'))
      expect(parseAllDocuments(block).flatMap(({ errors }) => errors)).toEqual([]);
  });
});

/** What is never twice the same. */
const withoutTimes = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/^\d\d:\d\d:\d\d/gm, 'TIME')
    .replaceAll(/127\.0\.0\.1:\d+ */g, 'ADDRESS ')
    .replaceAll(/\d+\.\d s$/gm, 'some s');

/** Throws unless the commands of a block print what stands below each; `…` stands for any lines. */
const expectShown = async (block: string, cwd: string, env: NodeJS.ProcessEnv): Promise<void> => {
  const commands = block.split(/^\$ /m).slice(1);
  const script = commands.map((text) => text.split('\n')[0]);
  const expected = commands.map((text) => text.slice(text.indexOf('\n') + 1)).join('');
  const { stdout } = await promisify(execFile)('bash', ['-c', script.join('\n')], { cwd, env }).catch(
    (error: { stdout: string }) => error,
  );
  const [said, ...parts] = [stdout, ...expected.split(/^…\n/m)].map(withoutTimes);
  if (parts.length < 2) expect(said).toBe(parts[0]);
  else for (const part of parts) expect(said).toContain(part);
};

describe('the output', () => {
  it.each(those('shown'))('of %s is what is printed: %s', async (_, __, block) => {
    const { cwd, env } = await place();
    await expectShown(block, cwd, { ...env, HOME: cwd, DNS_SYNC_STATE_DIR: path.join(cwd, 'state') });
  });

  it('of what to try is what is printed, in its order', async () => {
    const { cwd, env } = await place();
    await symlink(path.resolve('.scripts'), path.join(cwd, '.scripts'));
    const launch = { cwd, env: { DNS_SYNC_SCHEDULE: never, DNS_SYNC_LISTEN: 'off' } };
    const daemon = startCommand([process.execPath, path.resolve('.scripts/start.mjs')], launch);
    const { clients } = await daemon.event('daemon.started');
    await daemon.event('pass.finished');
    const { baseUrl } = z.tuple([z.object({ baseUrl: z.string() })]).parse(clients)[0];
    const [validate = '', change = '', history = ''] = those('try-it').map(([, , block]) => block);
    const shell = { ...env, HOME: cwd, DNS_SYNC_STATE_DIR: path.join(cwd, 'state') };

    await edit(cwd, 'standard-web.yaml', 'content: ', 'contend: ');
    await daemon.event('pass.finished');
    await expectShown(validate, cwd, shell);
    await edit(cwd, 'standard-web.yaml', 'contend: ', 'content: ');
    // A later pass would correct the change at once.
    await daemon.event('pass.finished', ({ status }) => status === 'in-sync');
    await expectShown(change.replace(/http:.*sandbox/, baseUrl.replace('/api/v1', '/sandbox')), cwd, shell);
    daemon.signal('SIGHUP');
    await daemon.event('change.applied');
    await expectShown(history, cwd, shell);
  });

  it('of the daemon has the lines of the README', async () => {
    const launch = { cwd: await workplace(), env: { DNS_SYNC_LISTEN: '127.0.0.1:0', NO_COLOR: '1' } };
    const script = path.resolve('.scripts/start.mjs');
    const daemon = startCommandOnTerminal([process.execPath, script], launch);
    await daemon.says('pass finished');
    daemon.type('\u0003');
    const said = withoutTimes((await daemon.ended).stdout.replaceAll('\r', ''));
    const block = those('log')[0]?.[2] ?? '';
    for (const line of withoutTimes(block).trimEnd().split('\n')) expect(said).toContain(line);
  });
});

/** As systemd would start it: with its variables, its credentials, and its signals. */
it('the unit starts the daemon, reloads and stops it', async () => {
  const block = await readFile('.github/deploy/systemd/dns-template-sync.service', 'utf8');
  const valuesOf = (key: string): string[] =>
    [...block.matchAll(new RegExp(`^${key}=(.+)$`, 'gm'))].map(([, value = '']) => value);
  const { cwd, service } = await place();
  const credentials = path.join(cwd, 'credentials');
  for (const credential of valuesOf('LoadCredential')) {
    const [name = '', from] = credential.split(':');
    expect(from).toBe(`/etc/dns-template-sync/${name}`);
    await writeBelow(credentials, name, `the-${name}\n`);
  }
  expect(valuesOf('StateDirectory').map((name) => `DNS_SYNC_STATE_DIR=/var/lib/${name}`)).toEqual(
    valuesOf('Environment').filter((one) => one.includes('STATE_DIR')),
  );
  const here = (text: string): string =>
    text
      .replace('https://panel.example.net/api/v1', service.url)
      .replace('%d', credentials)
      .replace('/etc/dns-template-sync', cwd)
      .replace('/var/lib', path.join(cwd, 'var'))
      .replace('/usr/bin/node', process.execPath)
      .replace('/opt/dns-template-sync/dist', path.resolve('dist'));
  const env = Object.fromEntries(valuesOf('Environment').map((one) => here(one).split(/=(.*)/s).slice(0, 2)));
  const [command = '', ...args] = here(valuesOf('ExecStart')[0] ?? '').split(' ');
  expect(command).toBe(process.execPath);
  const daemon = startCommand([command, ...args], { cwd, env: { ...env, DNS_SYNC_LISTEN: 'off' } });
  await daemon.event('pass.finished');
  expect(valuesOf('ExecReload')).toEqual(['/bin/kill -HUP $MAINPID']);
  daemon.signal('SIGHUP');
  await daemon.event('settings.reloaded');
  daemon.signal('SIGTERM');
  expect(await daemon.ended).toMatchObject({ code: 0 });
});
