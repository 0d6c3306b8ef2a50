import { setTimeout } from 'node:timers/promises';
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
import { addProcess, endless, type ProcessRow } from './process-rows.ts';

const duration = 30_000;

/** So many clients, and processes that share them; all of them have the same files. */
const newFleet = async (clients: number, ...processes: readonly ProcessRow[]) => {
  const { database } = await newTables();
  const { query } = database;
  const scopes = Array.from({ length: clients }, (_, at) => `client-${at}`);
  await add(database, scopes);
  const ids = await Promise.all(processes.map((row) => addProcess(database, row)));
  const have = (process: string, version: string | null, commit: string | null = null) =>
    noteFiles(
      database,
      process,
      scopes.map((scope) => ({ scope, version, commit })),
      commit === null ? [] : [commit],
    );
  const claim = async (process: string): Promise<readonly string[]> =>
    (await claimClients(database, process, duration)).claimed.map(({ scope }) => scope).toSorted();
  const spare = async (process: string): Promise<readonly string[]> => {
    const { leaving, excess } = await findLeaving(database, process);
    const found = leaving.filter(({ why }) => why === 'spare');
    return found.slice(0, excess).map(({ scope }) => scope);
  };
  const die = (process: string) =>
    query("UPDATE dns_sync.processes SET alive_until = clock_timestamp() - interval '1 ms' WHERE id = $1", [
      process,
    ]);
  const head = async (): Promise<string | null> =>
    (await query<{ head: string | null }>('SELECT head FROM dns_sync.clients'))[0]!.head;
  const release = (process: string, given = scopes) => releaseClients(database, process, given);
  return { database, scopes, ids, have, claim, spare, die, head, release };
};

const add = (database: PostgresDatabase, scopes: readonly string[]): Promise<void> =>
  addClients(
    database,
    scopes.map((scope) => ({ scope, name: scope, baseUrl: 'https://panel.example.net' })),
  );

const isNew: ProcessRow = { isSettled: false };

describe('a claim', () => {
  it('takes all that nobody owns where there is nobody else', async () => {
    const { ids, scopes, have, claim } = await newFleet(5, isNew);
    const [one = ''] = ids;
    await have(one, 'a');
    expect(await claim(one)).toEqual(scopes);
    expect(await claim(one)).toEqual([]);
  });

  it('of a newcomer is its share, once others have given theirs up; one that has not stayed yet gets none', async () => {
    const { database, ids, have, claim, spare, release } = await newFleet(10, {}, isNew);
    const [one = '', other = ''] = ids;
    await have(one, 'a');
    await claim(one);
    await have(other, 'a');
    expect(await spare(one)).toEqual([]);
    await database.query('UPDATE dns_sync.processes SET renewals = 1');
    const given = await spare(one);
    expect(given).toHaveLength(5);
    await release(one, [...given]);
    expect(await claim(one)).toEqual([]);
    expect(await claim(other)).toEqual(given.toSorted());
    expect(await spare(one)).toEqual([]);
  });

  it('takes over what a dead process had, divided among those that live', async () => {
    const { database, scopes, ids, have, claim, die } = await newFleet(9, {}, {}, {});
    const [dead = '', ...alive] = ids;
    for (const one of ids) await have(one, 'a');
    await claim(dead);
    await die(dead);
    const taken = await Promise.all(alive.map(claim));
    // What both chose at the same moment one of them takes at its next look.
    const more = await Promise.all(alive.map(claim));
    expect([...taken, ...more].flat().toSorted()).toEqual(scopes);
    const owners = (await ownersIn(database)).clients;
    expect(owners.every(({ owner, epoch }) => owner !== null && epoch >= 1)).toBe(true);
  });

  it('goes beyond the share for what nobody has taken for a third of a lease', async () => {
    const { database, ids, have, claim } = await newFleet(4, {}, {});
    for (const process of ids) await have(process, 'a');
    for (const seconds of [0, 11]) {
      await database.query(
        `UPDATE dns_sync.clients SET free_since = clock_timestamp() - ${seconds} * interval '1 s'`,
      );
      expect(await claim(ids[0]!)).toHaveLength(2);
    }
  });

  it('of a command comes before those of daemons, and is not taken from it', async () => {
    const { database, scopes, ids, have, claim, release } = await newFleet(1, {}, { isDaemon: false });
    const [daemon = '', command = ''] = ids;
    const claimWanted = () => claimForCommand(database, command, 'client-0');
    await have(daemon, 'a');
    await claim(daemon);
    expect(await claimWanted()).toEqual({ holder: 'a process' });
    const { leaving } = await findLeaving(database, daemon);
    expect(leaving).toMatchObject([{ scope: 'client-0', why: 'wanted' }]);
    await release(daemon);
    expect(await claim(daemon)).toEqual([]);
    expect(await claimWanted()).toMatchObject({ epoch: 2 });
    expect(await claim(daemon)).toEqual([]);
    await release(command);
    expect(await claim(daemon)).toEqual(scopes);
  });

  it.each([
    ['has run out', "alive_until = clock_timestamp() - interval '1 ms'"],
    ['is of another timeline', "timeline = 'another'"],
  ])('is made by no process whose lease %s', async (_, change) => {
    const { database, ids, have, claim } = await newFleet(1, {}, { isDaemon: false });
    const [daemon = '', command = ''] = ids;
    await have(daemon, 'a');
    await database.query(`UPDATE dns_sync.processes SET ${change}`);
    expect(await claim(daemon)).toEqual([]);
    expect(await claimForCommand(database, command, 'client-0')).toEqual({ holder: 'holder unknown' });
  });

  it('is not given up by a command that has waited for it in vain', async () => {
    const { database, ids, have, claim, release } = await newFleet(1, {}, { isDaemon: false });
    const [daemon = '', command = ''] = ids;
    await have(daemon, 'a');
    await claim(daemon);
    await claimForCommand(database, command, 'client-0');
    await release(command);
    expect((await ownersIn(database)).clients).toMatchObject([{ owner: 'a process', epoch: 1 }]);
    expect((await findLeaving(database, daemon)).leaving).toEqual([]);
  });

  it('takes nothing that somebody else has taken since it began to look', async () => {
    const { database, scopes, ids, have, claim } = await newFleet(4, {}, {});
    const [slow = '', fast = ''] = ids;
    for (const process of ids) await have(process, 'a');
    await database.query(`CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF NEW.owner = '${slow}' THEN PERFORM pg_sleep(1); END IF; RETURN NEW; END $$`);
    await database.query(
      'CREATE TRIGGER wait BEFORE UPDATE ON dns_sync.clients FOR EACH ROW EXECUTE FUNCTION wait()',
    );
    const slowly = claim(slow);
    const sleeps =
      "SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()";
    while ((await database.query(sleeps)).length === 0) await setTimeout(10);
    // Of those that it has not come to yet.
    const taken = await claim(fast);
    expect(taken.length).toBeGreaterThan(0);
    expect([...taken, ...(await slowly)].toSorted()).toEqual(scopes);
  });
});

describe('what is done under a claim', () => {
  const claimed = async (database: Awaited<ReturnType<typeof newTables>>['database']) => {
    const place = placeOf();
    const { scope } = place;
    await add(database, [scope]);
    const process = await addProcess(database, { isDaemon: false });
    const claim = await claimForCommand(database, process, scope);
    if (!('epoch' in claim)) throw new Error(claim.holder);
    const tables = claimedTables(database, place, { ...claim, deadline: endless });
    return { tables, scope, process };
  };

  it.each([
    ['owner', "owner = 'another'"],
    ['epoch', 'epoch = epoch + 1'],
    ['timeline', "timeline = 'another'"],
  ])('is refused once the %s is another one', async (_, change) => {
    const { database } = await newTables();
    const { tables, scope } = await claimed(database);
    const all = () =>
      Promise.allSettled([
        tables.opening(scope, () => 'done'),
        tables.begin(scope, '{}').then(() => 'done'),
        tables.transaction(() => Promise.resolve('done')),
      ]);
    const done = { value: 'done' };
    expect(await all()).toMatchObject([done, done, done]);
    await database.query(`UPDATE dns_sync.clients SET ${change}`);
    const refused = { reason: { message: expect.stringContaining('another process has taken over') } };
    expect(await all()).toMatchObject([refused, refused, refused]);
    expect(await database.query('SELECT FROM dns_sync.journal')).toHaveLength(1);
  });

  it('begins nothing once the lease has run out by the clock of the database, although nobody has taken over', async () => {
    const { database, die } = await newFleet(0);
    const { tables, scope, process } = await claimed(database);
    await die(process);
    await expect(tables.begin(scope, '{}')).rejects.toThrow('or this one did not renew its lease in time');
    expect(await database.query('SELECT FROM dns_sync.journal')).toEqual([]);
    // What became of a write is saved until somebody takes over.
    expect(await tables.transaction(() => Promise.resolve('done'))).toBe('done');
  });
});

describe('the head of files', () => {
  /** Steps, one after the other: a process has these files, of a commit if it is named, which makes this the head. */
  it.each<[string, string]>([
    ['moves where a process leaves it for other files', 'a old > old; b old > old; a new > new; b new > new'],
    [
      'does not go back for one that is late, nor for one that starts late',
      'a 1 > 1; b 1 > 1; a 2 > 2; a 3 > 3; b 2 > 3; c 1 > 3; c - > 3',
    ],
    [
      'goes back where somebody does, and one that comes by the bad files on its way does not lead until it has come along',
      'a good 1 > good; b good 1 > good; a bad 2 > bad; a good 3 > good; b bad 2 > good; b good 3 > good; b new 4 > new',
    ],
    [
      'is led by one that skips the bad files too, by the commit that it has in common',
      'a good 1 > good; b good 1 > good; a bad 2 > bad; a good 3 > good; b good 3 > good; b new 4 > new',
    ],
    [
      'is not led without one',
      'a good 1 > good; b good 1 > good; a bad 2 > bad; a good 3 > good; b new 4 > good',
    ],
  ])('%s: %s', async (_, steps) => {
    const { ids, have, head } = await newFleet(1, {}, {}, {});
    for (const step of steps.split('; ')) {
      const [, process = '', version = '', commit = null, now] =
        /^(\w) (\S+)(?: (\d))? > (\w+)$/.exec(step) ?? [];
      await have(ids['abc'.indexOf(process)]!, version === '-' ? null : version, commit);
      expect([step, await head()]).toEqual([step, now]);
    }
  });

  it('is what a process needs to own clients, and becomes that of the living where nobody has it any more', async () => {
    const { database, scopes, ids, have, claim, die, head, release } = await newFleet(1, {}, {});
    const [one = '', other = ''] = ids;
    for (const process of ids) await have(process, 'old');
    await claim(other);
    await have(one, 'new');
    expect((await findLeaving(database, other)).leaving).toMatchObject([{ why: 'moved' }]);
    await release(other);
    expect(await claim(other)).toEqual([]);
    expect(await claim(one)).toEqual(scopes);
    await die(one);
    await findLeaving(database, other);
    expect(await head()).toBe('old');
    expect(await claim(other)).toEqual(scopes);
  });

  it('is led by all that come to have it at the same time', async () => {
    const { database, ids } = await newFleet(0, {}, {}, {});
    for (let round = 0; round < 20; round += 1) {
      const scope = `round-${round}`;
      await add(database, [scope]);
      const files = [{ scope, version: 'a', commit: null }];
      await Promise.all(ids.map((process) => noteFiles(database, process, files, [])));
    }
    expect(await database.query('SELECT scope FROM dns_sync.files WHERE NOT leads')).toEqual([]);
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

/** The same database to which each statement is said with this lock of the row alone, whatever has run out. */
const withLock = (database: PostgresDatabase, lock: string): PostgresDatabase => ({
  ...database,
  query: (sql, ...rest) =>
    database.query(
      sql.replace('FOR SHARE', lock).replace('id = $2 AND alive_until', 'id = $2 OR alive_until'),
      ...rest,
    ),
});

describe('after a takeover of a client', () => {
  it('no intent begins that the successor does not see', async () => {
    const { url, database } = await newSlowTables();
    const { begun, unseen } = await race(withLock(database, 'FOR SHARE'), connected(url), 2_000);
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
