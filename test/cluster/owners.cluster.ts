import { describe, expect, it } from 'vitest';
import { currentTimeline, type PostgresDatabase } from '../../src/cluster/database.ts';
import { claimedTables } from '../../src/cluster/memory.ts';
import {
  addClients,
  claimClients,
  claimForCommand,
  findLeaving,
  noteFiles,
  ownersIn,
  releaseClients,
} from '../../src/cluster/owners.ts';
import { newEntry, placeOf } from '../state/samples.ts';
import { connected, newTables } from './databases.ts';
import { addProcess, endless } from './process-rows.ts';

const duration = 30_000;

const die = async ({ query }: PostgresDatabase, id: string): Promise<void> =>
  void (await query(
    "UPDATE dns_sync.processes SET alive_until = clock_timestamp() - interval '1 ms' WHERE id = $1",
    [id],
  ));

const named = (count: number): string[] => Array.from({ length: count }, (_, at) => `client-${at}`);

const add = (database: PostgresDatabase, scopes: readonly string[]): Promise<void> =>
  addClients(
    database,
    scopes.map((scope) => ({ scope, name: scope, baseUrl: 'https://panel.example.net' })),
  );

const have = async (
  database: PostgresDatabase,
  process: string,
  scopes: readonly string[],
  version: string | null,
  commit: string | null = null,
): Promise<void> => {
  const files = scopes.map((scope) => ({ scope, version, commit }));
  await noteFiles(database, process, files, commit === null ? [] : [commit]);
};

const claim = async (database: PostgresDatabase, process: string): Promise<readonly string[]> =>
  (await claimClients(database, process, duration)).claimed.map(({ scope }) => scope).toSorted();

const headOf = async ({ query }: PostgresDatabase, scope: string): Promise<string | null> =>
  (await query<{ head: string | null }>('SELECT head FROM dns_sync.clients WHERE scope = $1', [scope]))[0]!
    .head;

const spareOf = async (database: PostgresDatabase, process: string): Promise<readonly string[]> => {
  const { leaving, excess } = await findLeaving(database, process);
  return leaving
    .filter(({ why }) => why === 'spare')
    .slice(0, excess)
    .map(({ scope }) => scope);
};

describe('a claim', () => {
  it('takes all that nobody owns where there is nobody else', async () => {
    const { database } = await newTables();
    await add(database, named(5));
    const one = await addProcess(database, { isSettled: false });
    await have(database, one, named(5), 'a');
    expect(await claim(database, one)).toEqual(named(5));
    expect(await claim(database, one)).toEqual([]);
  });

  it('of a newcomer is its share, once others have given theirs up; one that has not stayed yet gets none', async () => {
    const { database } = await newTables();
    await add(database, named(10));
    const [one, other] = [await addProcess(database), await addProcess(database, { isSettled: false })];
    await have(database, one, named(10), 'a');
    await claim(database, one);
    await have(database, other, named(10), 'a');
    expect(await spareOf(database, one)).toEqual([]);
    await database.query('UPDATE dns_sync.processes SET renewals = 1');
    const spare = await spareOf(database, one);
    expect(spare).toHaveLength(5);
    await releaseClients(database, one, spare);
    expect(await claim(database, one)).toEqual([]);
    expect(await claim(database, other)).toEqual(spare.toSorted());
    expect(await spareOf(database, one)).toEqual([]);
  });

  it('takes over what a dead process had, divided among those that live', async () => {
    const { database } = await newTables();
    await add(database, named(9));
    const processes = [await addProcess(database), await addProcess(database), await addProcess(database)];
    const [dead, ...alive] = processes as [string, string, string];
    for (const one of processes) await have(database, one, named(9), 'a');
    await claim(database, dead);
    await die(database, dead);
    const taken = await Promise.all(alive.map((one) => claim(database, one)));
    // What both chose at the same moment one of them takes at its next look.
    const more = await Promise.all(alive.map((one) => claim(database, one)));
    expect([...taken, ...more].flat().toSorted()).toEqual(named(9));
    const owners = (await ownersIn(database)).clients;
    expect(owners.every(({ owner, epoch }) => owner !== null && epoch >= 1)).toBe(true);
  });

  it('goes beyond the share for what nobody has taken for a third of a lease', async () => {
    const { database } = await newTables();
    await add(database, named(4));
    const [one, idle] = [await addProcess(database), await addProcess(database)];
    for (const process of [one, idle]) await have(database, process, named(4), 'a');
    await database.query('UPDATE dns_sync.clients SET free_since = clock_timestamp()');
    expect(await claim(database, one)).toHaveLength(2);
    await database.query("UPDATE dns_sync.clients SET free_since = clock_timestamp() - interval '11 s'");
    expect(await claim(database, one)).toHaveLength(2);
  });

  it('of a command comes before those of daemons, and is not taken from it', async () => {
    const { database } = await newTables();
    await add(database, named(1));
    const [daemon, command] = [await addProcess(database), await addProcess(database, { isDaemon: false })];
    await have(database, daemon, named(1), 'a');
    await claim(database, daemon);
    expect(await claimForCommand(database, command, 'client-0')).toEqual({ holder: 'a process' });
    expect((await findLeaving(database, daemon)).leaving).toMatchObject([
      { scope: 'client-0', why: 'wanted' },
    ]);
    await releaseClients(database, daemon, ['client-0']);
    expect(await claim(database, daemon)).toEqual([]);
    expect(await claimForCommand(database, command, 'client-0')).toMatchObject({ epoch: 2 });
    expect(await claim(database, daemon)).toEqual([]);
    await releaseClients(database, command, ['client-0']);
    expect(await claim(database, daemon)).toEqual(named(1));
  });
});

describe('the head of files', () => {
  it('moves where a process leaves it for other files, and only those that have it own clients', async () => {
    const { database } = await newTables();
    await add(database, named(1));
    const [one, other] = [await addProcess(database), await addProcess(database)];
    await have(database, one, named(1), 'old');
    await have(database, other, named(1), 'old');
    await claim(database, other);
    await have(database, one, named(1), 'new');
    expect(await headOf(database, 'client-0')).toBe('new');
    expect((await findLeaving(database, other)).leaving).toMatchObject([{ why: 'moved' }]);
    await releaseClients(database, other, named(1));
    expect(await claim(database, other)).toEqual([]);
    expect(await claim(database, one)).toEqual(named(1));
    await have(database, other, named(1), 'new');
    expect(await headOf(database, 'client-0')).toBe('new');
  });

  it('is led by all that come to have it at the same time', async () => {
    const { database } = await newTables();
    for (let round = 0; round < 20; round += 1) {
      const scope = `round-${round}`;
      await add(database, [scope]);
      const processes = await Promise.all([addProcess(database), addProcess(database), addProcess(database)]);
      const files = [{ scope, version: 'a', commit: null }];
      await Promise.all(processes.map((process) => noteFiles(database, process, files, [])));
    }
    expect(await database.query('SELECT scope FROM dns_sync.files WHERE NOT leads')).toEqual([]);
  });

  it('does not go back for one that is late, nor for one that starts late', async () => {
    const { database } = await newTables();
    await add(database, named(1));
    const [one, late] = [await addProcess(database), await addProcess(database)];
    for (const process of [one, late]) await have(database, process, named(1), 'first');
    await have(database, one, named(1), 'second');
    await have(database, one, named(1), 'third');
    await have(database, late, named(1), 'second');
    expect(await headOf(database, 'client-0')).toBe('third');
    const started = await addProcess(database);
    await have(database, started, named(1), 'first');
    expect(await headOf(database, 'client-0')).toBe('third');
    await have(database, started, named(1), null);
    expect(await headOf(database, 'client-0')).toBe('third');
  });

  it('goes back where somebody goes back, and one that never left the old files does not lead until it has come along', async () => {
    const { database } = await newTables();
    await add(database, named(1));
    const [one, late] = [await addProcess(database), await addProcess(database)];
    for (const process of [one, late]) await have(database, process, named(1), 'good', 'c1');
    await have(database, one, named(1), 'bad', 'c2');
    await have(database, one, named(1), 'good', 'c3');
    expect(await headOf(database, 'client-0')).toBe('good');
    // It has the head already, and comes by the bad files on its way.
    await have(database, late, named(1), 'bad', 'c2');
    expect(await headOf(database, 'client-0')).toBe('good');
    await have(database, late, named(1), 'good', 'c3');
    await have(database, late, named(1), 'better', 'c4');
    expect(await headOf(database, 'client-0')).toBe('better');
  });

  it('is led by one that skips the bad files too, by the commit that it has in common', async () => {
    const { database } = await newTables();
    await add(database, named(1));
    const [one, late] = [await addProcess(database), await addProcess(database)];
    for (const process of [one, late]) await have(database, process, named(1), 'good', 'c1');
    await have(database, one, named(1), 'bad', 'c2');
    await have(database, one, named(1), 'good', 'c3');
    await have(database, late, named(1), 'good', 'c3');
    await have(database, late, named(1), 'better', 'c4');
    expect(await headOf(database, 'client-0')).toBe('better');
  });

  it('becomes that of the living where nobody has it any more', async () => {
    const { database } = await newTables();
    await add(database, named(1));
    const [dead, alive] = [await addProcess(database), await addProcess(database)];
    await have(database, dead, named(1), 'new');
    await have(database, alive, named(1), 'old');
    expect(await headOf(database, 'client-0')).toBe('new');
    await die(database, dead);
    await findLeaving(database, alive);
    expect(await headOf(database, 'client-0')).toBe('old');
    expect(await claim(database, alive)).toEqual(named(1));
  });
});

/**
 * How many intents were begun by an owner, and how many of them its successor does not see: at each client the lease of the
 * owner has run out, and it does not know.
 */
const race = async (owners: PostgresDatabase, successors: PostgresDatabase, rounds: number) => {
  const successor = await addProcess(owners, { isDaemon: false, aliveFor: 600_000 });
  const owner = await addProcess(owners, { aliveFor: -1 });
  const scopes = Array.from({ length: rounds }, (_, at) => `race-${at}-${owner}`);
  await add(owners, scopes);
  await owners.query(
    `UPDATE dns_sync.clients SET owner = $1, epoch = 1, timeline = ${currentTimeline} WHERE owner IS NULL`,
    [owner],
  );
  let begun = 0;
  let unseen = 0;
  const lane = async (): Promise<void> => {
    for (let scope = scopes.pop(); scope !== undefined; scope = scopes.pop()) {
      const held = { scope, process: owner, epoch: 1, deadline: endless };
      const [intent, seen] = await Promise.all([
        claimedTables(owners, placeOf(), held)
          .begin(scope, JSON.stringify(newEntry()))
          .catch(() => null),
        takeOver(successors, successor, scope),
      ]);
      if (intent === null) continue;
      begun += 1;
      if (!seen.includes(intent)) unseen += 1;
    }
  };
  await Promise.all(Array.from({ length: 8 }, lane));
  return { begun, unseen };
};

/** Gives the ids of the entries that the successor sees. */
const takeOver = async (successors: PostgresDatabase, process: string, scope: string): Promise<number[]> => {
  expect(await claimForCommand(successors, process, scope)).toHaveProperty('epoch');
  const sql = 'SELECT id FROM dns_sync.journal WHERE scope = $1';
  return (await successors.query<{ id: string }>(sql, [scope])).map(({ id }) => Number(id));
};

/** In which an intent takes a while between its lock and its commit: that is when a takeover may miss it. */
const newSlowTables = async () => {
  const tables = await newTables();
  await tables.database.query(`CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_sleep(0.004 * random()); RETURN NULL; END $$`);
  await tables.database.query(
    'CREATE TRIGGER wait AFTER INSERT ON dns_sync.journal FOR EACH ROW EXECUTE FUNCTION wait()',
  );
  return tables;
};

/** The same database to which each statement is said with another lock of the row. */
const withLock = (database: PostgresDatabase, lock: string): PostgresDatabase => ({
  ...database,
  query: (sql, ...rest) => database.query(sql.replace('FOR SHARE', lock), ...rest),
});

describe('after a takeover of a client', () => {
  it('no intent begins that the successor does not see', async () => {
    const { url, database } = await newSlowTables();
    const { begun, unseen } = await race(database, connected(url), 2_000);
    process.stdout.write(`2,000 races: ${begun} intents begun, ${2_000 - begun} refused, ${unseen} unseen\n`);
    expect(unseen).toBe(0);
    // Either comes first often enough.
    expect(begun).toBeGreaterThan(50);
    expect(begun).toBeLessThan(1_950);
  });

  it('a weaker lock would allow that, and the test finds it', async () => {
    const { url, database } = await newSlowTables();
    const { unseen } = await race(withLock(database, 'FOR KEY SHARE'), connected(url), 2_000);
    process.stdout.write(`with FOR KEY SHARE: ${unseen} unseen in 2,000 races\n`);
    expect(unseen).toBeGreaterThan(0);
  });
});
