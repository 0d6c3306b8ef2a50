import { setTimeout } from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { FleetClient } from '../../src/daemon/fleet.ts';
import { passQueue, startBoss } from '../../src/cluster/boss.ts';
import { passQueueOf, type PassJob, type PassQueue, type WaitingPass } from '../../src/cluster/pass-queue.ts';
import { openFleet } from '../../src/cluster/shared-fleet.ts';
import { pausedServers } from '../../src/cluster/servers.ts';
import { Worker } from '../../src/cluster/worker.ts';
import { forgetUnused } from '../../src/cluster/used-names.ts';
import { postgresSnapshots } from '../../src/cluster/postgres/snapshots.ts';
import { connected, newDatabase, newDatabaseUrl } from './databases.ts';
import { migrate } from '../../src/cluster/postgres/schema.ts';

const waiting = (client: string, rest: Partial<WaitingPass> = {}): WaitingPass => ({
  client,
  server: 'panel.example.net',
  trigger: 'schedule',
  failures: 0,
  ...rest,
});

/** A queue of its own, as one process sees it. */
const newQueue = async () => {
  const url = await newDatabaseUrl();
  const boss = await startBoss({ database: connected(url), supervises: true, onTrouble: () => undefined });
  onTestFinished(() => boss.stop({ graceful: false }));
  const another = (): PassQueue => passQueueOf(() => Promise.resolve(boss), 1_000);
  const queue = another();
  const database = connected(url);
  const states = async (): Promise<string[]> =>
    (await boss.findJobs(passQueue)).map(({ singletonKey, state }) => `${singletonKey} ${state}`).toSorted();
  return { queue, states, database, another };
};

const clientsOf = (jobs: readonly PassJob[]): string[] => jobs.map(({ client }) => client);

const first = async (queue: PassQueue): Promise<PassJob> =>
  (await queue.take(1, []))[0] ?? expect.fail('nothing was due');

describe('the queue of passes', () => {
  it('holds one waiting pass of each client, whoever puts it in', async () => {
    const { queue, states } = await newQueue();
    await Promise.all([1, 2, 3].map(() => queue.putMissing([waiting('a'), waiting('b')])));
    await Promise.all([queue.putFirst(waiting('a')), queue.putFirst(waiting('a'))]);
    expect(await states()).toEqual(['a created', 'b created']);
  });

  it('gives no pass of a client while another one runs', async () => {
    const { queue, states } = await newQueue();
    await queue.putFirst(waiting('a'));
    const job = await first(queue);
    await queue.putFirst(waiting('a', { trigger: 'request' }));
    expect(await states()).toEqual(['a active', 'a created']);
    expect(await queue.take(5, [])).toEqual([]);
    await queue.finish(job, { pass: waiting('a'), delay: 3_600_000 });
    expect(await queue.take(5, [])).toMatchObject([{ client: 'a', trigger: 'request' }]);
  });

  it('lets the next pass wait for its time, unless somebody asks', async () => {
    const { queue, states } = await newQueue();
    await queue.putFirst(waiting('a'));
    await queue.finish(await first(queue), { pass: waiting('a', { failures: 3 }), delay: 3_600_000 });
    expect(await queue.take(5, [])).toEqual([]);
    expect(await queue.putMissing([waiting('a')])).toEqual(['a']);
    expect(await queue.take(5, [])).toEqual([]);
    await queue.putFirst(waiting('a', { trigger: 'file-change', failures: 3 }));
    expect(await queue.take(5, [])).toMatchObject([{ client: 'a', trigger: 'file-change', failures: 3 }]);
    expect(await states()).toEqual(['a active']);
  });

  it('gives what is asked for before what is due, and nothing of servers that are left alone', async () => {
    const { queue } = await newQueue();
    await queue.putMissing([waiting('a'), waiting('b', { server: 'slow.example.net' }), waiting('c')]);
    await queue.putFirst(waiting('d'));
    expect(clientsOf(await queue.take(1, []))).toEqual(['d']);
    expect(clientsOf(await queue.take(5, ['slow.example.net'])).toSorted()).toEqual(['a', 'c']);
  });

  it('gives at once what a process hands over', async () => {
    const { queue, states } = await newQueue();
    await queue.putMissing([waiting('a'), waiting('b')]);
    await queue.handOver(await first(queue));
    expect(await states()).toEqual(['a created', 'b created']);
    expect(await queue.take(5, [])).toHaveLength(2);
  });

  it('gives what a process has given back to another one first', async () => {
    const { queue, states, database, another } = await newQueue();
    await queue.putFirst(waiting('a'));
    await queue.giveBack(await first(queue));
    await queue.putFirst(waiting('b'));
    expect(clientsOf(await queue.take(5, []))).toEqual(['b']);
    const due = `SELECT FROM dns_template_sync_queue.job WHERE singleton_key = 'a' AND start_after <= now()`;
    while ((await database.query(due)).length === 0) await setTimeout(20);
    expect(await queue.take(5, [])).toEqual([]);
    expect(await another().take(5, [])).toMatchObject([{ client: 'a', returns: 1 }]);
    expect(await states()).toEqual(['a active', 'b active']);
  });

  it('gives it to the same process once no other has taken it', async () => {
    const { queue } = await newQueue();
    await queue.putFirst(waiting('a'));
    await queue.giveBack(await first(queue));
    let taken: readonly PassJob[] = [];
    while (taken.length === 0) taken = await queue.take(5, []);
    expect(taken).toMatchObject([{ client: 'a', returns: 1 }]);
  });

  it('gives again what is not heard of, and lets a late end of it end nothing', async () => {
    const { queue, states } = await newQueue();
    await queue.putFirst(waiting('a'));
    await queue.putFirst(waiting('b'));
    const jobs = await queue.take(2, []);
    const [lost = expect.fail('nothing was due'), kept = expect.fail('one was due')] = jobs;
    let again: readonly PassJob[] = [];
    while (again.length === 0) {
      await queue.renew([kept]);
      again = await queue.take(5, []);
    }
    expect(again).toMatchObject([{ client: lost.client, id: lost.id }]);
    expect(again[0]?.retryCount).toBeGreaterThan(lost.retryCount);
    await queue.finish(lost, null);
    expect(await states()).toEqual(['a active', 'b active']);
  });
});

describe('a worker', () => {
  it('makes so many passes at the same time, and fewer of one server', async () => {
    const { queue, database } = await newQueue();
    await migrate(database);
    const names = (count: number, server: string): WaitingPass[] =>
      Array.from({ length: count }, (_, at) => waiting(`${server} ${at}`, { server }));
    await queue.putMissing([...names(30, 'slow'), ...names(30, 'fast')]);
    const { worker, running } = newWorker(queue, pausedServers(database));
    await running.until(({ length }) => length === 16);
    const ofSlow = running.now().filter(({ server }) => server === 'slow');
    expect(ofSlow.length).toBeLessThanOrEqual(12);
    for (const { end } of running.now().filter(({ server }) => server === 'fast')) end();
    await running.until((now) => now.filter(({ server }) => server === 'slow').length === 12);
    await running.until(({ length }) => length === 16);
    expect(running.most('slow')).toBe(12);
    running.endAll();
    await worker.close();
  });

  it('takes nothing of a server that has asked to wait', async () => {
    const { queue, database } = await newQueue();
    await migrate(database);
    await queue.putMissing([waiting('a', { server: 'busy' }), waiting('b', { server: 'free' })]);
    const servers = pausedServers(database);
    await servers.pause('busy', 60_000);
    await servers.pause('busy', 10);
    expect(await servers.list()).toEqual(['busy']);
    const { worker, running } = newWorker(queue, servers);
    await running.until(({ length }) => length === 1);
    expect(running.now()).toMatchObject([{ server: 'free' }]);
    running.endAll();
    await worker.close();
  });
});

interface RunningPass {
  readonly server: string;
  readonly end: () => void;
}

/** One whose passes end when the test says so. */
const newWorker = (queue: PassQueue, servers: ReturnType<typeof pausedServers>) => {
  const open = new Set<RunningPass>();
  const most = new Map<string, number>();
  let isEnding = false;
  let onNews = (): void => undefined;
  const worker = new Worker({
    queue,
    servers,
    log: pino({ level: 'silent' }),
    renewal: 1_000,
    run: async (job) => {
      const { server } = job;
      if (!isEnding)
        await new Promise<void>((resolve) => {
          const end = (): void => {
            open.delete(pass);
            resolve();
          };
          const pass = { server, end };
          open.add(pass);
          most.set(
            server,
            Math.max(most.get(server) ?? 0, [...open].filter((one) => one.server === server).length),
          );
          onNews();
        });
      await queue.finish(job, null);
    },
  });
  worker.start();
  const now = (): RunningPass[] => [...open];
  const until = async (isSo: (now: RunningPass[]) => boolean): Promise<void> => {
    while (!isSo(now())) await new Promise<void>((resolve) => (onNews = resolve));
  };
  const endAll = (): void => {
    isEnding = true;
    for (const { end } of now()) end();
  };
  return { worker, running: { now, until, endAll, most: (server: string) => most.get(server) ?? 0 } };
};

it('has what is asked for while a process ends', async () => {
  const url = await newDatabaseUrl();
  const log = pino({ enabled: false });
  const fleet = openFleet({
    database: connected(url),
    role: 'source',
    leaseDuration: 1_000,
    version: '1',
    redact: (value) => value,
    log,
    onTaken: () => undefined,
    onDatabase: () => undefined,
    onFacts: () => undefined,
  });
  const none = { clients: [], files: [], receivers: [] };
  await fleet.start(
    () => undefined,
    () => none,
  );
  const settings = {
    name: 'a',
    baseUrl: 'https://panel.example.net/api',
    schedule: '@daily',
    timezone: 'UTC',
  };
  const client = { pass: () => expect.fail('no worker'), log, settings: () => settings };
  const passes = fleet.passesOf(client as unknown as FleetClient);
  let end = (): void => undefined;
  const closed = fleet.close(new Promise<void>((resolve) => (end = resolve)));
  await passes.close();
  const soon = setTimeout(300, 'it waits');
  expect(await Promise.race([closed, soon])).toBe('it waits');
  passes.trigger('file-change');
  end();
  await closed;
  const boss = await startBoss({ database: connected(url), supervises: false, onTrouble: () => undefined });
  onTestFinished(() => boss.stop({ graceful: false }));
  const jobs = await passQueueOf(() => Promise.resolve(boss), 1_000).take(1, []);
  expect(jobs).toMatchObject([{ client: 'a', trigger: 'file-change' }]);
});

it('removes what belongs to clients and receivers that no process has used for a month', async () => {
  const database = await newDatabase();
  const rows = async (table: string): Promise<number> =>
    (await database.query(`SELECT FROM dns_template_sync.${table}`)).length;
  for (const name of ['old', 'kept']) {
    await database.query(`INSERT INTO dns_template_sync.reports VALUES ('${name}', 1, 'any', '{}')`);
    await database.query(
      `INSERT INTO dns_template_sync.repeated_passes VALUES ('${name}', 2, 'any', 1, '[]')`,
    );
    await database.query(
      `INSERT INTO dns_template_sync.notified VALUES ('${name}', 'kept', '1', NULL, NULL, '{}')`,
    );
    const files = { digest: name, revision: null, uncommitted: [], files: [] };
    const snapshots = postgresSnapshots(
      () => database,
      () => Promise.resolve(true),
      1,
    );
    await snapshots.publish(name, 0, files, () => Promise.reject(new Error('none')));
  }
  const tables = ['reports', 'repeated_passes', 'notified', 'snapshots'];
  const all = { clients: ['old', 'kept'], files: ['old', 'kept'], receivers: ['old', 'kept'] };
  await forgetUnused(database, all);
  await database.query('UPDATE dns_template_sync.used SET used_on = current_date - 31');
  await forgetUnused(database, all);
  for (const table of tables) expect([table, await rows(table)]).toEqual([table, 2]);
  await database.query('UPDATE dns_template_sync.used SET used_on = current_date - 31');
  await forgetUnused(database, { clients: ['kept'], files: ['kept'], receivers: ['kept'] });
  for (const table of tables) expect([table, await rows(table)]).toEqual([table, 1]);
});
