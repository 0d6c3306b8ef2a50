import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startService } from '../service.ts';
import { reset } from '../wire/scripted-server.ts';
import { newDatabaseUrl, storeAt } from './databases.ts';
import { ask, startPostgres, type PostgresServer } from './postgres.ts';
import { newWorkers } from './workers.ts';

/** A service, and workers on this database whose first pass has added a record. */
const begunOn = async (url: string) => {
  const service = await startService();
  const workers = newWorkers(service, url, { DNS_SYNC_UNKNOWN_PAUSE: '100ms' });
  workers.want('first');
  expect(await workers.apply()).not.toContain('no synchronous one');
  expect(await workers.counts()).toEqual([1]);
  workers.want('first', 'second');
  return { service, ...workers };
};

const unusable = 'nothing is written to the service without it';

it('a synchronous standby that is lost keeps everything from being written until it is back, and then nothing is written twice', async () => {
  const primary = await startPostgres();
  onTestFinished(primary.remove);
  const standby = await primary.standby();
  onTestFinished(standby.remove);
  await ask(primary, "ALTER SYSTEM SET synchronous_standby_names = '*'", 'SELECT pg_reload_conf()');
  const followers = "SELECT FROM pg_stat_replication WHERE sync_state = 'sync'";
  while ((await ask(primary, followers)).length === 0) await setTimeout(20);
  const { apply, applyAll, counts } = await begunOn(primary.url);

  await standby.stop('SIGKILL');
  expect(await apply()).toContain(unusable);
  expect(await counts()).toEqual([1, 0]);

  await standby.start();
  await applyAll();
  for (let passes = 0; passes < 3; passes += 1) await apply();
  expect(await counts()).toEqual([1, 1]);
});

it('connections of a process are no more than it may have while commits wait for a standby', async () => {
  const server = await startPostgres();
  onTestFinished(server.remove);
  const store = storeAt(server.url, 2_000, true);
  onTestFinished(() => store.close());
  await store.lease.join();
  const standby = (name: string) =>
    ask(server, `ALTER SYSTEM SET synchronous_standby_names = '${name}'`, 'SELECT pg_reload_conf()');
  await standby('away');
  onTestFinished(() => standby('').then(() => undefined));
  const own = "SELECT FROM pg_stat_activity WHERE application_name = 'dns-template-sync'";
  // Each renewal is given up after two seconds.
  for (let seconds = 0; seconds < 16; seconds += 1) {
    await setTimeout(1_000);
    expect((await ask(server, own)).length).toBeLessThanOrEqual(3);
  }
});

const fileLimit = 3 * 1_024 * 1_024;

/** Until not even a short row finds a place in a table. */
const fill = async (server: PostgresServer, table: 'journal' | 'history'): Promise<void> => {
  const [column, value] = table === 'journal' ? ['', ''] : ['at,', '0,'];
  for (const [rows, length] of [
    [200, 60],
    [1, 60],
    [200, 1],
    [1, 1],
  ] as const) {
    const body = `(SELECT string_agg(md5(random()::text || row || i), '') FROM generate_series(1, ${length}) AS i)`;
    const insert = `INSERT INTO dns_sync.${table} (scope, ${column} body)
      SELECT 'filler', ${value} ${body} FROM generate_series(1, ${rows}) AS row`;
    let isFull = false;
    while (!isFull) isFull = await ask(server, insert).then(() => false, isTooLarge);
  }
};

const isTooLarge = (error: unknown): boolean => {
  if (!String(error).includes('could not extend file')) throw error;
  return true;
};

const empty = (server: PostgresServer, table: 'journal' | 'history'): Promise<unknown> =>
  ask(server, `DELETE FROM dns_sync.${table} WHERE scope = 'filler'`, `VACUUM dns_sync.${table}`);

describe('a disk of PostgreSQL that is full', () => {
  it('leaves a write open whose outcome it cannot take, and it is resolved once there is room', async () => {
    const server = await startPostgres(fileLimit);
    onTestFinished(server.remove);
    const { apply, counts } = await begunOn(server.url);
    await fill(server, 'history');
    expect(await apply()).toContain('could not extend file');
    expect(await counts()).toEqual([1, 1]);
    const open = "SELECT FROM dns_sync.journal WHERE scope <> 'filler' AND body::json->>'state' = 'sent'";
    expect(await ask(server, open)).toHaveLength(1);
    expect(await apply()).toContain('could not extend file');

    await empty(server, 'history');
    for (let passes = 0; passes < 3; passes += 1) await apply();
    expect(await ask(server, open)).toEqual([]);
    expect(await counts()).toEqual([1, 1]);
  });

  it('keeps from being sent what it cannot take an intent of', async () => {
    const server = await startPostgres(fileLimit);
    onTestFinished(server.remove);
    const { service, apply, applyAll, counts } = await begunOn(server.url);
    await fill(server, 'journal');
    expect(await apply()).toContain(unusable);
    expect(service.writes()).toHaveLength(1);

    await empty(server, 'journal');
    await applyAll();
    await apply();
    expect(await counts()).toEqual([1, 1]);
  });
});

const hour = 3_600_000;

/** The environment of a process whose clock is so many milliseconds ahead, or one on another machine. */
const clockAhead = (milliseconds: number, machine = ''): Readonly<Record<string, string>> => {
  const script = `import fs from 'node:fs'; const { now } = Date, read = fs.readFileSync;
    Date.now = () => now() + (${milliseconds});
    fs.readFileSync = (file, ...rest) => '${machine}' && String(file).endsWith('boot_id') ? '${machine}' : read(file, ...rest)`;
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(script)}` };
};

it('a clock that is an hour ahead on another machine does not end unknownPause', async () => {
  const service = await startService(({ method }) => (method === 'GET' ? null : reset));
  const { want, apply } = newWorkers(service, await newDatabaseUrl(), { DNS_SYNC_UNKNOWN_PAUSE: '5m' });
  want('added');
  expect(await apply()).toContain('outcome unknown');
  expect(await apply(clockAhead(hour, 'another'))).toContain('an earlier write has not settled');
  expect(service.writes()).toHaveLength(1);
});

it('what was begun may be sent as late as the lease of its process ends', async () => {
  const service = await startService(({ method }) => (method === 'GET' ? null : reset));
  const { want, apply } = newWorkers(service, await newDatabaseUrl(), {
    DNS_SYNC_UNKNOWN_PAUSE: '100ms',
    DNS_SYNC_SETTLE: '1ms',
    DNS_SYNC_LEASE_DURATION: '1h',
  });
  want('added');
  expect(await apply()).toContain('outcome unknown');
  expect(await apply()).toContain('an earlier write has not settled');
  expect(service.writes()).toHaveLength(1);
});

it.each([
  [hour, -hour],
  [-hour, hour],
])('a takeover where clocks are %i and %i ms ahead makes every record once', async (one, other) => {
  const service = await startService();
  const url = await newDatabaseUrl();
  const { want, begin, apply, applyAll, counts } = newWorkers(service, url, {
    DNS_SYNC_UNKNOWN_PAUSE: '100ms',
  });
  const names = Array.from({ length: 8 }, (_, at) => `added-${at}`);
  want(...names);
  const holder = begin(clockAhead(one));
  while (service.writes().length < 3) await setTimeout(1);
  holder.signal('SIGSTOP');
  await applyAll(clockAhead(other));
  holder.signal('SIGCONT');
  await holder.ended;
  await apply(clockAhead(one));
  expect(await counts()).toEqual(names.map(() => 1));
});
