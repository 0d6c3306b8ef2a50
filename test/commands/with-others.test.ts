import { execFileSync } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { built } from '../built.ts';
import { writeBelow } from '../daemon/ways.ts';
import { startCommandOnTerminal } from '../process.ts';
import { run, start, workplace } from '../program.ts';
import { startService } from '../service.ts';
import { scriptedServer, status } from '../wire/scripted-server.ts';

vi.setConfig({ testTimeout: 60_000 });

/* What commands do with other programs and with people who work at the same time, which no transcript can show. */

const web = (address: string): string => `template: web\nrecords:\n  - {type: A, content: ${address}}\n`;

/** A template `web` at the service, and its file, which says something else. */
const place = async () => {
  const service = await startService();
  const cwd = await workplace({ withExamples: false });
  await service.change('add-template', { name: 'web', records: [{ type: 'A', content: '192.0.2.1' }] });
  await writeBelow(cwd, 'templates/web.yaml', web('192.0.2.2'));
  return { service, cwd, launch: { cwd, env: service.env } };
};

it('history has the commit of the file that asked for a write', async () => {
  const { cwd, launch } = await place();
  const git = (...args: string[]): string => execFileSync('git', args, { cwd, encoding: 'utf8' }).trim();
  git('init', '-q');
  git('add', 'templates');
  git('-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '-qm', 'web');
  expect(await run(['apply', '--yes'], launch)).toMatchObject({ code: 0 });
  const { stdout } = await run(['history', '--format', 'json'], launch);
  expect(JSON.parse(stdout)).toMatchObject([{ action: 'update', revision: git('rev-parse', 'HEAD') }]);
});

it('doctor asks nothing that may change something', async () => {
  const { service, launch } = await place();
  const env = { ...service.env, DNS_SYNC_SETTLE: '0s' };
  expect((await run(['doctor'], { ...launch, env })).stdout).toContain('clock');
  expect(service.seen.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET']);
});

it('notify --test says to each receiver that it is a test', async () => {
  const hook = await scriptedServer(status(204));
  const chat = await scriptedServer(status(200, 'ok'));
  const cwd = await workplace({ withExamples: false });
  const receivers = 'ops: {type: webhook, url: {env: HOOK}}, chat: {type: slack, url: {env: CHAT}}';
  await writeBelow(cwd, 'dns-template-sync.yaml', `notify: {${receivers}}\n`);
  const ended = await run(['notify', '--test'], { cwd, env: { HOOK: hook.url, CHAT: chat.url } });
  expect(ended).toMatchObject({ code: 0, stdout: 'ops: delivered\nchat: delivered\n' });
  const [told, said] = [...hook.seen, ...chat.seen].map(({ body }) => JSON.parse(body));
  const message = 'this is a test: messages reach this receiver';
  expect(told.changes).toMatchObject([{ client: 'test', template: null, message }]);
  expect(said.text).toContain(message);
});

it('accept leaves a file as it is that changes before the answer', async () => {
  const { cwd, launch } = await place();
  const program = start(['accept', 'web'], { ...launch, isTerminal: true });
  await program.says('Write this to the files? [y/N]');
  const mine = `${web('192.0.2.2')}# mine\n`;
  await writeBelow(cwd, 'templates/web.yaml', mine);
  program.type('y\n');
  expect((await program.ended).code).toBe(1);
  expect(program.output()).toContain('templates/web.yaml was changed meanwhile');
  expect(await readFile(path.join(cwd, 'templates/web.yaml'), 'utf8')).toBe(mine);
});

it('import names for editors the schema that is in the templates directory', async () => {
  const { cwd, launch } = await place();
  await rm(path.join(cwd, 'templates/web.yaml'));
  await run(['schema', '--write', 'templates'], launch);
  expect(await run(['import', 'web', '--out', 'templates/a/b'], launch)).toMatchObject({ code: 0 });
  expect(await readFile(path.join(cwd, 'templates/a/b/web.yaml'), 'utf8')).toMatch(
    /^# yaml-language-server: \$schema=\.\.\/\.\.\/\.template\.schema\.json\ntemplate: web\n/,
  );
});

it('import --zone reads what another program prints, octets of another encoding, and what PowerShell saves', async () => {
  const cwd = await workplace({ withExamples: false });
  const text = '$TTL 1h\n@ IN SOA ns1 hostmaster ( 1 2h 15m 2w 1h )\nwww TXT "caf\xe9" ; \xe9\n';
  await writeFile(path.join(cwd, 'latin.zone'), Buffer.from(text, 'latin1'));
  await writeFile(path.join(cwd, 'wide.zone'), Buffer.from(`\ufeff${text}`, 'utf16le'));
  const words = (name: string, file: string): string[] =>
    `import ${name} --zone ${file} --origin example.net`.split(' ');
  const program = [process.execPath, built('main.js'), ...words('piped', '-')].join(' ');
  const piped = ['sh', '-c', `cat latin.zone | ${program}`];
  const all = [
    await startCommandOnTerminal(piped, { cwd }).ended,
    await run(words('latin', 'latin.zone'), { cwd }),
    await run(words('wide', 'wide.zone'), { cwd }),
  ];
  expect(all.map(({ code }) => code)).toEqual([0, 0, 0]);
  for (const [name, content] of [
    ['piped', String.raw`'"caf\233"'`],
    ['latin', String.raw`'"caf\233"'`],
    ['wide', 'café'],
  ] as const)
    expect(await readFile(path.join(cwd, `templates/${name}.yaml`), 'utf8')).toContain(
      `  - { type: TXT, name: www, content: ${content} }\n`,
    );
});
