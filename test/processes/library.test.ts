import { execFile } from 'node:child_process';
import { mkdtemp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { blocksOf } from '../documents/documents.ts';
import { reportOf, workplace } from '../program.ts';
import { clientToken, startService, userToken } from '../service.ts';
import { scriptedServer, status } from '../wire/scripted-server.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const call = promisify(execFile);
let project = '';
let packed: readonly string[] = [];

/** A program's directory with the package as `npm install` would put it there, but without a registry. */
beforeAll(async () => {
  project = await mkdtemp(path.join(tmpdir(), 'library-'));
  const { stdout } = await call('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', project]);
  const form = z.object({ filename: z.string(), files: z.array(z.object({ path: z.string() })) });
  const [{ filename, files }] = z.tuple([form]).parse(JSON.parse(stdout));
  packed = files.map((file) => file.path).filter((file) => !file.startsWith('dist/types/'));
  const own = path.join(project, 'node_modules/dns-template-sync');
  await mkdir(own, { recursive: true });
  await call('tar', ['-xzf', path.join(project, filename), '-C', own, '--strip-components=1']);
  const { dependencies } = z
    .object({ dependencies: z.record(z.string(), z.string()) })
    .parse(JSON.parse(await readFile(path.join(own, 'package.json'), 'utf8')));
  await mkdir(path.join(project, 'node_modules/@types'));
  for (const name of [...Object.keys(dependencies), '@types/node'])
    await symlink(path.resolve('node_modules', name), path.join(project, 'node_modules', name));
  await writeFile(path.join(project, 'package.json'), '{"type": "module"}\n');
});

afterAll(() => rm(project, { recursive: true, force: true }));

/** Runs a module of that project. Its exit code and all that it printed. */
const runModule = async (
  name: string,
  source: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number; stdout: string; stderr: string }> => {
  await writeFile(path.join(project, name), source);
  const { PATH = '' } = process.env;
  return call(process.execPath, [name], { cwd: project, env: { PATH, ...env } }).then(
    (ended) => ({ code: 0, ...ended }),
    (ended: { code: number; stdout: string; stderr: string }) => ended,
  );
};

const [chat = '', writing = ''] = blocksOf('.github/docs/library.md', '[jt]s');

const settingsFor = async (baseUrl: string): Promise<Record<string, unknown>> => {
  const cwd = await workplace();
  const [templates, stateDir] = [path.join(cwd, 'templates'), path.join(cwd, 'state')];
  return { baseUrl, userToken, clientToken, templates, stateDir, settle: '0s' };
};

it('the package has the built program and its notices, and nothing else', () => {
  const own = ['LICENSE', 'README.md', 'package.json'];
  const programs = ['index.mjs', 'main.js', 'package.json', 'pg.cjs', 'program.cache', 'program.cjs'];
  const notices = ['THIRD-PARTY-NOTICES.txt', 'sbom.cdx.json'];
  const built = [...programs, ...notices].map((name) => `dist/${name}`);
  expect([...packed].toSorted()).toEqual([...own, ...built].toSorted());
});

describe('the packed library', () => {
  it('has types for programs that are strict, without those of what is bundled', async () => {
    await writeFile(
      path.join(project, 'use.ts'),
      `${writing}
import { type Report, type SyncError } from 'dns-template-sync';
const kinds = {
  settings: 1, arguments: 1, 'plan-changed': 1, environment: 1, aborted: 1, closed: 1,
} satisfies Record<SyncError['kind'], number>;
const client = connect({ baseUrl: 'https://panel.example.net/api/v1', userToken: 'abcd', limits: { maxAdds: 1 } });
const planned = await client.plan();
// @ts-expect-error -- the report is there only after a look at ok
planned.report;
if (planned.ok) {
  const report: Report = planned.report;
  const names: readonly string[] = report.templates.map(({ template }) => template);
  for (const { differences } of report.templates)
    for (const one of differences) if (one.action === 'blocked') one.reason satisfies string;
  console.log(names, (await render(report, 'markdown')).length, kinds[(await client.apply({ plan: report })).ok ? 'closed' : 'aborted']);
}
connect({}, { onEvent: (event: SyncEvent) => void event.client });
// @ts-expect-error -- an unknown key
connect({ baseUri: '' });
// @ts-expect-error -- a format that there is not
await client.plan({ format: 'json' });
`,
    );
    const options = { target: 'es2022', module: 'nodenext', types: ['node'], strict: true, noEmit: true };
    const exact = { exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: false };
    await writeFile(
      path.join(project, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: { ...options, ...exact }, files: ['use.ts'] }),
    );
    const tsc = path.resolve('node_modules/typescript/bin/tsc');
    const { stdout } = await call(process.execPath, [tsc, '-p', project]).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe('');
  });

  it('posts a plan to a chat as the documents say', async () => {
    const service = await startService();
    const { templates, stateDir } = await settingsFor(service.url);
    const receiver = await scriptedServer(status(200, 'ok'));
    const secret = path.join(project, 'client-token');
    await writeFile(secret, `${clientToken}\n`);
    const source = chat
      .replace('https://panel.example.net/api/v1', service.url)
      .replace('/run/secrets/client-token', secret)
      .replace("'/var/lib/dns-template-sync'", `'${String(stateDir)}',\n  templates: '${String(templates)}'`);
    const env = { USER_TOKEN: userToken, CHAT_URL: receiver.url };
    expect(await runModule('chat.mjs', source, env)).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(receiver.seen).toHaveLength(1);
    const { text } = z.object({ text: z.string() }).parse(JSON.parse(receiver.seen[0]?.body ?? ''));
    expect(text).toMatch(/^DNS is drifted:\n/);
    expect(text).toContain('203.0.113.9 → 203.0.113.10');
    expect(service.writes()).toEqual([]);
  });

  it('writes what was planned, tells it as it happens, and leaves the process as it is', async () => {
    const service = await startService();
    const settings = await settingsFor(service.url);
    const { code, stdout, stderr } = await runModule(
      'apply.mjs',
      `import { connect } from 'dns-template-sync';
import v8 from 'node:v8';
const flags = new Set();
const { setFlagsFromString } = v8;
v8.setFlagsFromString = (flag) => {
  setFlagsFromString(flag);
  if (!flags.delete(flag.replace('--no-', '--'))) flags.add(flag);
};
const listeners = () => ['exit', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1', 'uncaughtException', 'unhandledRejection']
  .map((name) => process.listenerCount(name));
const before = listeners();
const events = [];
const dns = connect(${JSON.stringify(settings)}, { onEvent: (one) => events.push(one) });
const { report: plan } = await dns.plan({ templates: ['standard-web'] });
const applied = await dns.apply({ templates: ['standard-web'], plan: JSON.parse(JSON.stringify(plan)) });
const again = await dns.apply({ templates: ['standard-web'], plan });
await dns.close();
console.log(JSON.stringify({ plan, applied, again, events, flags: [...flags], same: String(before) === String(listeners()) }));
`,
      // What would be an error of a command.
      { DNS_SYNC_MODE: 'sometimes', DNS_SYNC_BASE_URL: 'nonsense', XDG_STATE_HOME: '/dev/null' },
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const said = JSON.parse(stdout);
    expect(reportOf(JSON.stringify(said.plan)).summary).toMatchObject({ add: 1, update: 2, applied: 0 });
    expect(reportOf(JSON.stringify(said.applied.report)).summary).toMatchObject({ applied: 3 });
    expect(said).toMatchObject({
      applied: { ok: true },
      again: { ok: false, error: { kind: 'plan-changed' } },
      flags: [],
      same: true,
    });
    expect(said.events[0]).toMatchObject({ event: 'notice', message: expect.stringContaining('memory') });
    const changes = said.events.filter(({ event }: { event: string }) => event === 'change');
    const change = { client: 'default', template: 'standard-web', outcome: 'applied' };
    expect(changes).toMatchObject(service.writes().map(() => change));
    expect(stdout).not.toContain(userToken);
  });

  it('loads nothing of the program before it is used, and is no other for require', async () => {
    const source = `import * as library from 'dns-template-sync';
import { createRequire } from 'node:module';
const loaded = Object.keys(createRequire(import.meta.url).cache);
const started = performance.now();
console.log(JSON.stringify([Object.keys(library), loaded, typeof library.connect({}).plan]));`;
    const { stdout } = await runModule('light.mjs', source);
    expect(JSON.parse(stdout)).toEqual([['connect', 'render'], [], 'function']);
    const { stdout: required } = await runModule(
      'required.cjs',
      `require('dns-template-sync').connect({}).plan().then((one) => console.log(one.error.kind))`,
    );
    expect(required).toBe('settings\n');
  });
});
