import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { built } from '../built.ts';
import { parseScrape, type Scrape } from '../daemon/scrape.ts';
import { never, triggerToken } from '../e2e/daemon.ts';
import { runProcess, startProcess } from '../e2e/process.ts';
import { linesOf, reportOf, workplace, type Program } from '../e2e/program.ts';
import { pausedServers } from '../../src/cluster/servers.ts';
import { status } from '../hosting/scripted-server.ts';
import { connected } from './databases.ts';
import { allPassed, newFleet, passedBy, runningIn, writesBy } from './fleet.ts';

const leaseDuration = 10_000;
const asPasses = z.object({ passes: z.array(z.object({ client: z.string(), run: z.string() })) });

/** A write that was under way when its sender died is tried again by a later pass. */
const often = '*/10 * * * * *';

const since = (moment: number): number => Math.round(performance.now() - moment);

describe('several that run at once', () => {
  it('share the work; what one leaves when it dies or stops, another one takes over', async () => {
    const { clients, service, describeAll, agree, daemon } = await newFleet({
      schedule: often,
      leaseDuration,
    });
    const [killed, stopped] = [daemon(), daemon()];
    await allPassed(clients, [killed, stopped]);
    expect(service.writes()).toEqual([]);

    const first = ['192.0.2.1', '192.0.2.2'];
    await describeAll(first);
    while (service.writes().length < 20 || runningIn(killed).length === 0) await setTimeout(1);
    killed.signal('SIGKILL');
    const killedAt = performance.now();
    await killed.ended;
    const orphans = runningIn(killed);
    const before = passedBy(stopped).length;
    for (const open = new Set(orphans); open.size > 0;) {
      for (const client of passedBy(stopped).slice(before)) open.delete(client);
      if (open.size > 0) await stopped.event('pass.finished');
    }
    const killedFor = since(killedAt);
    await agree(first);

    const third = daemon();
    await third.event('pass.finished');
    const second = [...first, '192.0.2.3'];
    const count = service.writes().length;
    await describeAll(second);
    while (service.writes().length < count + 20 || runningIn(stopped).length === 0) await setTimeout(1);
    stopped.signal('SIGSTOP');
    const stoppedAt = performance.now();
    await agree(second);
    const stoppedFor = since(stoppedAt);
    const made = service.writes().length;
    stopped.signal('SIGCONT');
    await stopped.event('pass.finished');
    stopped.signal('SIGTERM');
    await stopped.ended;
    await agree(second);
    const late = service.writes().length - made;
    process.stdout.write(
      `60 clients, lease ${leaseDuration} ms: ${writesBy(killed)}, ${writesBy(stopped)} and ${writesBy(third)} writes by each of three; ` +
        `${orphans.length} passes taken over ${killedFor} ms after SIGKILL; ${stoppedFor} ms from SIGSTOP to the last record; ` +
        `${late} late writes, no record twice\n`,
    );
    expect(late).toBe(0);
  });

  it('hand over at once what they have begun when they are told to end', async () => {
    // Whatever is not handed over comes when this test is long over.
    const quiet = { schedule: never, leaseDuration: 600_000 };
    const { clients, service, describeAll, agree, daemon } = await newFleet(quiet);
    const [ended, other] = [daemon(), daemon()];
    await allPassed(clients, [ended, other]);
    const wanted = Array.from({ length: 5 }, (_, at) => `192.0.2.${at + 1}`);
    await describeAll(wanted);
    while (service.writes().length < 30 || runningIn(ended).length === 0) await setTimeout(1);
    ended.signal('SIGTERM');
    expect(await ended.ended).toMatchObject({ code: 0 });
    await agree(wanted);
  });

  it('do what their role says, and all of them show what any of them did', async () => {
    const { clients, service, env, describeAll, agree, daemon } = await newFleet({
      schedule: never,
      leaseDuration,
      count: 5,
    });
    Object.assign(env, { DNS_SYNC_TRIGGER_TOKEN: triggerToken });
    const web = daemon('--role', 'web', '--listen', '127.0.0.1:0');
    const source = daemon('--role', 'source', '--listen', '127.0.0.1:0');
    const worker = daemon('--role', 'worker', '--listen', '127.0.0.1:0');
    const address = await addressOf(web);
    await allPassed(clients, [worker]);
    const isReady = async (): Promise<boolean> => (await fetch(`${address}/readyz`)).ok;
    while (!(await isReady())) await setTimeout(20);
    const wanted = ['192.0.2.1', '192.0.2.2'];
    await describeAll(wanted);
    await agree(wanted);
    expect([passedBy(web), passedBy(source)]).toEqual([[], []]);
    expect(service.writes()).toHaveLength(clients.length);
    const statuses = async (): Promise<string[]> => {
      const report = reportOf(await (await fetch(`${address}/api/report`)).text());
      return report.templates.map(({ template, inSync }) => `${template} ${inSync}`).toSorted();
    };
    const all = clients.map((client) => `web-of-${client} 2`).toSorted();
    while (String(await statuses()) !== String(all)) await setTimeout(20);
    expect(await (await fetch(`${address}/metrics`)).text()).toMatch(
      /last_success_timestamp_seconds\{client="client-4"\} [1-9]/,
    );
    const ofWorker = await scrapeOf(worker);
    expect(ofWorker.value('dns_template_sync_fleet_templates', { status: 'in-sync' })).toBe(clients.length);
    expect(ofWorker.value('dns_template_sync_leases_held', { lease: 'source' })).toBe(0);
    expect((await scrapeOf(source)).value('dns_template_sync_leases_held', { lease: 'source' })).toBe(1);
    const history = await (await fetch(`${address}/api/history`)).json();
    expect(history).toHaveLength(clients.length);
    const asked = await fetch(`${address}/api/reconcile`, {
      method: 'POST',
      headers: { authorization: `Bearer ${triggerToken}` },
    });
    expect(asked.status).toBe(202);
    const { passes } = asPasses.parse(await asked.json());
    expect(passes.map(({ client }) => client).toSorted()).toEqual(clients.toSorted());
    // The process that makes a pass logs it under the id that the other one answered.
    for (const { run: id } of passes) await worker.says(`"run":"${id}"`);
    const made = linesOf(worker).filter(
      (line) => line['event'] === 'pass.started' && line['trigger'] === 'request',
    );
    expect(new Set(made.map((line) => [line['client'], line['run']]))).toEqual(
      new Set(passes.map(({ client, run: id }) => [client, id])),
    );
  });
});

describe('a hosting service that asks to wait', () => {
  it('is left alone by all of them, also for other clients', async () => {
    const wait = { 'retry-after': '60' };
    const { service, env, daemon } = await newFleet({
      schedule: never,
      leaseDuration,
      count: 2,
      meddle: ({ query }) => (query.includes('token-of-client-0') ? status(429, '{}', wait) : null),
    });
    const servers = pausedServers(connected(env.DNS_SYNC_STORE));
    const running = [daemon(), daemon()];
    const first = await Promise.race(
      running.map((one) => one.event('pass.finished', (line) => line['status'] === 'failed')),
    );
    expect(first).toMatchObject({ client: 'client-0', status: 'failed' });
    const { host } = new URL(service.url);
    while ((await servers.list())[0] !== host) await setTimeout(20);
  });
});

describe('a worker', () => {
  it('needs no template files: the source gives it those that it has, and older ones never again', async () => {
    const { clients, service, cwd, env, describeAll, agree, daemon } = await newFleet({
      schedule: often,
      leaseDuration: 3_000,
      count: 3,
    });
    const elsewhere = await workplace({ withExamples: false });
    const old = await workplace({ withExamples: false });
    for (const folder of [elsewhere, old])
      await cp(path.join(cwd, 'dns-template-sync.yaml'), path.join(folder, 'dns-template-sync.yaml'));
    for (const client of clients)
      await cp(path.join(cwd, client), path.join(old, client), { recursive: true });
    const worker = startProcess(['run', '--listen', 'off', '--role', 'worker'], { cwd: elsewhere, env });
    const source = daemon('--role', 'source');
    await allPassed(clients, [worker]);
    const wanted = ['192.0.2.1', '192.0.2.2'];
    await describeAll(wanted);
    await agree(wanted);
    expect(await worker.event('drift.report', (line) => line['status'] === 'in-sync')).toMatchObject({
      file: expect.stringMatching(/^client-\d\/web\.yaml$/),
    });
    source.signal('SIGKILL');
    const late = startProcess(['run', '--listen', 'off'], { cwd: old, env });
    await late.event('templates.older');
    const asked = passedBy(worker).length + passedBy(late).length;
    while (passedBy(worker).length + passedBy(late).length < asked + 6) await setTimeout(20);
    await agree(wanted);
    expect(service.writes()).toHaveLength(clients.length);
    const { code, stdout } = await runProcess(['plan', '--detailed-exitcode'], { cwd: elsewhere, env });
    expect({ code, stdout }).toMatchObject({ code: 0 });
  });
});

const addressOf = async (program: Program): Promise<string> =>
  String((await program.event('daemon.started'))['listen']);

const scrapeOf = async (program: Program): Promise<Scrape> =>
  parseScrape(await (await fetch(`${await addressOf(program)}/metrics`)).text());

describe('a role', () => {
  it('is for processes that share a store', async () => {
    const { env, daemon } = await newFleet({ schedule: never, leaseDuration, count: 1 });
    Object.assign(env, { DNS_SYNC_STORE: '' });
    delete (env as Partial<typeof env>).DNS_SYNC_STORE;
    const { code, stderr } = await daemon('--role', 'worker').ended;
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining(
        'worker is for processes that share a store: give store as postgres://',
      ),
    });
  });
});

describe('the Node.js that the tests were called with', () => {
  it('applies; and run says where it is too old for the queue', async () => {
    const { cwd, env, describeAll, agree } = await newFleet({ schedule: never, leaseDuration, count: 3 });
    const { stdout: version } = await node(['--version'], { cwd });
    const [, major = 0, minor = 0] = /v(\d+)\.(\d+)/.exec(version)?.map(Number) ?? [];
    const wanted = ['192.0.2.1', '192.0.2.2'];
    await describeAll(wanted);
    const { PATH } = process.env;
    const own = { PATH, HOME: cwd, DNS_SYNC_SETTLE: '0s', ...env };
    const program = (...args: readonly string[]) => node([built('main.js'), ...args], { cwd, env: own });
    if (major < 22 || (major === 22 && minor < 12))
      expect(await program('run', '--listen', 'off')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('run with a PostgreSQL store needs Node.js 22.12 or later'),
      });
    for (let passes = 0; passes < 2; passes += 1) await program('apply', '--yes');
    await agree(wanted);
    expect((await program('history')).stdout.trim().split('\n').length).toBeGreaterThan(2);
  });
});

const node = (
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): Promise<{ code: unknown; stdout: string; stderr: string }> =>
  new Promise((resolve) => {
    execFile('node', args, options, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });
