import { EventEmitter, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { startService, type Service } from '../service.ts';
import { json } from '../wire/scripted-server.ts';
import { postgresStore } from '../../src/cluster/store.ts';
import { storeHandle } from '../../src/state/store-handle.ts';
import { storeLocation } from '../../src/state/store-location.ts';
import { newEntry } from '../state/samples.ts';
import { openAddress } from './address.ts';
import { newDatabaseUrl } from './databases.ts';
import { ask, startPostgres } from './postgres.ts';
import { mutatedProgram } from './mutated-program.ts';
import { countsOf, newWorkers, type Worker } from './workers.ts';

/** Workers, with what is asked of them here. */
const openWorkers = (service: Service, url: string) => {
  const { want, start } = newWorkers(service, url, {
    DNS_SYNC_UNKNOWN_PAUSE: '3s',
    DNS_SYNC_WRITE_TIMEOUT: '60s',
  });
  const apply = (folder?: string, more = {}): Worker =>
    start(['apply', '--yes', '--lock-timeout', '20s'], folder, more);
  const countOf = async (name: string): Promise<number> => (await countsOf(service, [name]))[0]!;
  return { want, start, apply, countOf };
};

describe('PostgreSQL that stops during a pass', () => {
  it('and comes back prevents no write, and none is made twice', async () => {
    const server = await startPostgres();
    onTestFinished(server.remove);
    const service = await startService();
    const { want, start, countOf } = openWorkers(service, server.url);
    const names = Array.from({ length: 20 }, (_, at) => `added-${at}`);
    want(names);
    const daemon = start(['run', '--listen', 'off', '--schedule', '*/10 * * * * *']);
    for (const write of [3, 9]) {
      while (service.writes().length < write) await setTimeout(1);
      await server.stop('SIGQUIT');
      await server.start();
    }
    for (const name of names) while ((await countOf(name)) === 0) await setTimeout(20);
    daemon.signal('SIGTERM');
    const said = await daemon.ended;
    expect(said).toContain('nothing is written to the service without it');
    for (const name of names) expect([name, await countOf(name)]).toEqual([name, 1]);
  });
});

describe('a network that is silent', () => {
  it('ends queries in time, and is used again when it works', async () => {
    const server = await startPostgres();
    onTestFinished(server.remove);
    const { url, cut } = await openAddress(server);
    const store = postgresStore({
      url: () => url,
      connections: 4,
      leaseDuration: 3_000,
      isDaemon: false,
      version: '1',
      address: null,
    });
    onTestFinished(() => store.close());
    const handle = storeHandle(store, () => undefined);
    const owner = { stateDir: '/nowhere', baseUrl: 'https://panel.example.net', name: 'default' };
    const location = storeLocation(owner, 'token', false);
    const { signal } = new AbortController();
    const use = { timeout: 20_000, signal, onWait: () => undefined, lostPause: 0 };
    const refused = await handle.write(location, use, async ({ memory, check }) => {
      cut(true);
      const asked = [memory.begin(newEntry()), memory.templates()];
      for (const one of await Promise.allSettled(asked))
        expect(one).toMatchObject({ reason: { name: 'MemoryError' } });
      const refusal = (): string => {
        try {
          check();
          return '';
        } catch (error) {
          return String(error);
        }
      };
      await expect.poll(refusal, { timeout: 20_000 }).toContain('was not renewed in time');
      cut(false);
      await expect.poll(() => memory.templates(), { timeout: 20_000 }).toEqual([]);
      // It was renewed too late, so that what was claimed before is lost for good.
      return memory.begin(newEntry()).catch(String);
    });
    expect(refused).toContain('not renewed');
    await handle.write(location, use, ({ memory }) => memory.begin(newEntry()));
  });
});

it('does not count intents whose answers were lost, since nothing was sent', async () => {
  const { url, lose } = await openAddress({ port: Number(new URL(inject('postgres')).port) });
  const database = new URL(await newDatabaseUrl());
  database.port = new URL(url).port;
  const service = await startService();
  const { want, start } = newWorkers(service, database.href, { DNS_SYNC_UNKNOWN_PAUSE: '100ms' });
  want(['added']);
  const apply = (): Promise<string> => start(['apply', '--yes']).ended;
  lose('INSERT INTO dns_sync.journal', 2);
  while ((await countsOf(service, ['added']))[0] === 0) await apply();
  await apply();
  expect(await countsOf(service, ['added'])).toEqual([1]);
});

/**
 * A write is on its way, and its sender dead, when a standby takes over that has never heard of its intent. Gives how
 * often its record is there in the end.
 */
const failOver = async (folder?: string): Promise<{ said: string; count: number }> => {
  const primary = await startPostgres();
  onTestFinished(primary.remove);
  const gate = new EventEmitter().setMaxListeners(0);
  let isHeld = false;
  const service = await startService(async ({ method }) => {
    if (method !== 'GET' && isHeld) {
      const released = once(gate, 'released');
      gate.emit('held');
      await released;
    }
    return null;
  });
  const { url, lead } = await openAddress(primary);
  const { want, apply, countOf } = openWorkers(service, url);
  want(['first']);
  await apply(folder).ended;
  expect(await countOf('first')).toBe(1);

  const standby = await primary.standby();
  onTestFinished(standby.remove);
  await apply(folder).ended;
  await ask(standby, "ALTER SYSTEM SET primary_conninfo = ''", 'SELECT pg_reload_conf()');
  const followers = 'SELECT FROM pg_stat_replication';
  while ((await ask(primary, followers)).length > 0) await setTimeout(20);
  want(['first', 'second']);
  isHeld = true;
  const held = once(gate, 'held');
  const sender = apply(folder);
  await held;
  sender.signal('SIGKILL');
  await sender.ended;
  await primary.stop('SIGKILL');
  await ask(standby, 'SELECT pg_promote()');
  lead(standby);
  const entries = "SELECT FROM dns_sync.journal entry WHERE entry::text LIKE '%second%'";
  expect(await ask(standby, entries)).toEqual([]);

  const successor = apply(folder);
  const ended = successor.ended.then(() => 'ended');
  // It sends the write again, or comes to its end without.
  await Promise.race([ended, once(gate, 'held')]);
  isHeld = false;
  gate.emit('released');
  const said = await successor.ended;
  while ((await countOf('second')) === 0) await setTimeout(20);
  await apply(folder).ended;
  return { said, count: await countOf('second') };
};

/**
 * A process holds a client and waits for a listing while PostgreSQL is silent for it; another one takes over and adds. Then
 * a standby takes over on which the first claim still stands. Gives how often the record is there in the end.
 */
const returnToAnOldClaim = async (folder?: string): Promise<{ said: string; count: number }> => {
  const primary = await startPostgres();
  onTestFinished(primary.remove);
  const gate = new EventEmitter();
  let holdsNext = false;
  const service: Service = await startService(async ({ method }) => {
    if (method !== 'GET' || !holdsNext) return null;
    holdsNext = false;
    const listing = [await service.template(17)];
    const released = once(gate, 'released');
    gate.emit('held');
    await released;
    return json(listing);
  });
  const [slow, sound] = [await openAddress(primary), await openAddress(primary)];
  const { want, apply, countOf } = openWorkers(service, sound.url);
  want(['first']);
  await apply(folder).ended;
  const standby = await primary.standby();
  onTestFinished(standby.remove);

  want(['first', 'second']);
  holdsNext = true;
  const held = once(gate, 'held');
  const holder = apply(folder, { DNS_SYNC_STORE: slow.url });
  await held;
  const claimed = 'SELECT owner, epoch FROM dns_sync.clients WHERE owner IS NOT NULL';
  while ((await ask(standby, claimed)).length === 0) await setTimeout(20);
  const claims = await ask(standby, claimed);
  await ask(standby, "ALTER SYSTEM SET primary_conninfo = ''", 'SELECT pg_reload_conf()');
  while ((await ask(primary, 'SELECT FROM pg_stat_replication')).length > 0) await setTimeout(20);
  slow.cut(true);
  while ((await countOf('second')) === 0) await apply(folder).ended;

  await primary.stop('SIGKILL');
  await ask(standby, 'SELECT pg_promote()');
  expect(await ask(standby, claimed)).toEqual(claims);
  for (const one of [slow, sound]) one.lead(standby);
  slow.cut(false);
  const renewal =
    "SELECT FROM pg_stat_activity WHERE state = 'idle' AND query LIKE 'UPDATE dns_sync.processes%'";
  while ((await ask(standby, renewal)).length === 0) await setTimeout(20);
  gate.emit('released');
  const said = await holder.ended;
  await apply(folder).ended;
  return { said, count: await countOf('second') };
};

describe('a standby that takes over without the last claim', () => {
  it('gives the one before no lease, and its add is not sent', async () => {
    const { said, count } = await returnToAnOldClaim();
    expect(said).toContain('another process has taken over this client');
    expect(count).toBe(1);
  });

  it('would cause a second add if a claim outlived its timeline, and the test finds it', async () => {
    // Nor would a lease that has run out be renewed there.
    const folder = mutatedProgram(
      ['substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)', "'any'"],
      ['WHERE id = $1 AND ${isUnexpired} AND timeline', 'WHERE id = $1 AND timeline'],
    );
    expect((await returnToAnOldClaim(folder)).count).toBe(2);
  });
});

describe('a standby that takes over without the last intent', () => {
  it('is noticed, and no add is sent while the lost one may take effect', async () => {
    const { said, count } = await failOver();
    expect(said).toContain('PostgreSQL failed over to another server');
    expect(count).toBe(1);
  });

  it('would cause a second add without that, and the test finds it', async () => {
    const folder = mutatedProgram(['until>now()?', '!1?']);
    expect((await failOver(folder)).count).toBe(2);
  });
});
