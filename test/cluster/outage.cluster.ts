import { EventEmitter, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { startService } from '../service.ts';
import { json, type Answer, type SeenRequest } from '../wire/scripted-server.ts';
import { storeHandle } from '../../src/state/store-handle.ts';
import { newEntry, placeOf } from '../state/samples.ts';
import { openAddress } from './address.ts';
import { newDatabaseUrl, storeAt } from './databases.ts';
import { ask, startPostgres, type PostgresServer } from './postgres.ts';
import { mutatedProgram } from './mutated-program.ts';
import { newWorkers } from './workers.ts';

const settings = { DNS_SYNC_UNKNOWN_PAUSE: '3s', DNS_SYNC_WRITE_TIMEOUT: '60s' };

describe('PostgreSQL that stops during a pass', () => {
  it('and comes back prevents no write, and none is made twice', async () => {
    const server = await startPostgres();
    onTestFinished(server.remove);
    const service = await startService();
    const { want, daemon, counts } = newWorkers(service, server.url, settings);
    const names = Array.from({ length: 20 }, (_, at) => `added-${at}`);
    want(...names);
    const writer = daemon();
    for (const write of [3, 9]) {
      while (service.writes().length < write) await setTimeout(1);
      await server.stop('SIGQUIT');
      await server.start();
    }
    while ((await counts()).includes(0)) await setTimeout(20);
    writer.signal('SIGTERM');
    expect(await writer.ended).toContain('nothing is written to the service without it');
    expect(await counts()).toEqual(names.map(() => 1));
  });
});

describe('a network that is silent', () => {
  it('ends queries in time, and is used again when it works', async () => {
    const server = await startPostgres();
    onTestFinished(server.remove);
    const { url, cut } = await openAddress(server);
    const store = storeAt(url, 3_000);
    onTestFinished(() => store.close());
    const handle = storeHandle(store, () => undefined);
    const location = placeOf();
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
  const soon = { DNS_SYNC_UNKNOWN_PAUSE: '100ms' };
  const { want, apply, applyAll, counts } = newWorkers(service, database.href, soon);
  want('added');
  lose('INSERT INTO dns_sync.journal', 2);
  await applyAll();
  await apply();
  expect(await counts()).toEqual([1]);
});

/** Its standby hears of nothing any more. Gives what makes it the primary, in place of one that is gone. */
const leaveBehind = async (primary: PostgresServer, standby: PostgresServer) => {
  await ask(standby, "ALTER SYSTEM SET primary_conninfo = ''", 'SELECT pg_reload_conf()');
  while ((await ask(primary, 'SELECT FROM pg_stat_replication')).length > 0) await setTimeout(20);
  return async (): Promise<void> => {
    await primary.stop('SIGKILL');
    await ask(standby, 'SELECT pg_promote()');
  };
};

/** A primary, and addresses of it, with a service whose requests of a kind are held one by one, or until they are released. */
const newCluster = async (
  isHeld: (request: SeenRequest) => boolean,
  answer: () => Promise<Answer | null>,
) => {
  const primary = await startPostgres();
  onTestFinished(primary.remove);
  const follow = async (): Promise<PostgresServer> => {
    const standby = await primary.standby();
    onTestFinished(standby.remove);
    return standby;
  };
  const gate = new EventEmitter().setMaxListeners(0);
  const service = await startService(async (request) => {
    if (!isHeld(request)) return null;
    const given = await answer();
    const released = once(gate, 'released');
    gate.emit('held');
    await released;
    return given;
  });
  return { primary, follow, gate, service, address: () => openAddress(primary) };
};

/**
 * A write is on its way, and its sender dead, when a standby takes over that has never heard of its intent. Gives how
 * often its record is there in the end.
 */
const failOver = async (folder?: string): Promise<{ said: string; count: number }> => {
  let holds = false;
  const { primary, follow, gate, service, address } = await newCluster(
    ({ method }) => method !== 'GET' && holds,
    () => Promise.resolve(null),
  );
  const { url, lead } = await address();
  const { want, begin, apply, counts } = newWorkers(service, url, settings, folder);
  want('first');
  await apply();
  expect(await counts()).toEqual([1]);

  const standby = await follow();
  await apply();
  const promote = await leaveBehind(primary, standby);
  want('first', 'second');
  holds = true;
  const held = once(gate, 'held');
  const sender = begin();
  await held;
  sender.signal('SIGKILL');
  await sender.ended;
  await promote();
  lead(standby);
  const entries = "SELECT FROM dns_sync.journal entry WHERE entry::text LIKE '%second%'";
  expect(await ask(standby, entries)).toEqual([]);

  const successor = begin();
  const ended = successor.ended.then(() => 'ended');
  // It sends the write again, or comes to its end without.
  await Promise.race([ended, once(gate, 'held')]);
  holds = false;
  gate.emit('released');
  const said = await successor.ended;
  while ((await counts()).includes(0)) await setTimeout(20);
  await apply();
  return { said, count: (await counts())[1]! };
};

/**
 * A process holds a client and waits for a listing while PostgreSQL is silent for it; another one takes over and adds. Then
 * a standby takes over on which the first claim still stands. Gives how often the record is there in the end.
 */
const returnToAnOldClaim = async (folder?: string): Promise<{ said: string; count: number }> => {
  let holdsNext = false;
  const { primary, follow, gate, service, address } = await newCluster(
    ({ method }) => {
      const isNext = method === 'GET' && holdsNext;
      if (isNext) holdsNext = false;
      return isNext;
    },
    async () => json([await service.template(17)]),
  );
  const [slow, sound] = [await address(), await address()];
  const { want, begin, apply, applyAll, counts } = newWorkers(service, sound.url, settings, folder);
  want('first');
  await apply();
  const standby = await follow();

  want('first', 'second');
  holdsNext = true;
  const held = once(gate, 'held');
  const holder = begin({ DNS_SYNC_STORE: slow.url });
  await held;
  const claimed = 'SELECT owner, epoch FROM dns_sync.clients WHERE owner IS NOT NULL';
  while ((await ask(standby, claimed)).length === 0) await setTimeout(20);
  const claims = await ask(standby, claimed);
  const promote = await leaveBehind(primary, standby);
  slow.cut(true);
  await applyAll();

  await promote();
  expect(await ask(standby, claimed)).toEqual(claims);
  for (const one of [slow, sound]) one.lead(standby);
  slow.cut(false);
  const renewal =
    "SELECT FROM pg_stat_activity WHERE state = 'idle' AND query LIKE 'UPDATE dns_sync.processes%'";
  while ((await ask(standby, renewal)).length === 0) await setTimeout(20);
  gate.emit('released');
  const said = await holder.ended;
  await apply();
  return { said, count: (await counts())[1]! };
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
