import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { currentTimeline } from '../../src/cluster/database.ts';
import { claimedTables } from '../../src/cluster/memory.ts';
import { hasTables, makeTables } from '../../src/cluster/schema.ts';
import { clientMemory } from '../../src/state/client-memory.ts';
import { storeHandle } from '../../src/state/store-handle.ts';
import { processesOn, storeContract } from '../state/contract.ts';
import { changesOf, newEntry, placeOf, rowOf } from '../state/samples.ts';
import { connected, newDatabaseUrl, newTables, storeAt } from './databases.ts';
import { ask, startPostgres } from './postgres.ts';

storeContract(async () => {
  const url = await newDatabaseUrl();
  return () => storeAt(url);
});

describe('the tables', () => {
  it('are created once, by the first of many', async () => {
    const url = await newDatabaseUrl();
    const databases = Array.from({ length: 8 }, () => connected(url));
    expect(await hasTables(databases[0]!)).toBe(false);
    await Promise.all(databases.map(makeTables));
    expect(await hasTables(databases[0]!)).toBe(true);
  });

  it.each([
    [999, 'newer version of this program (schema 999'],
    [2, 'remove them with DROP SCHEMA dns_sync CASCADE'],
  ])('of version %i are left alone', async (version, said) => {
    const { database } = await newTables();
    await database.query('UPDATE dns_sync.schema_version SET version = $1', [version]);
    await expect(makeTables(database)).rejects.toThrow(said);
    await expect(hasTables(database)).rejects.toThrow(said);
  });

  it('are not created in a database that cannot store all names and texts', async () => {
    const database = connected(await newDatabaseUrl("ENCODING 'LATIN1' TEMPLATE template0"));
    await expect(makeTables(database)).rejects.toThrow("create a database with ENCODING 'UTF8'");
    expect(await hasTables(database)).toBe(false);
  });

  it('are not created in a schema that somebody else made, or is restoring', async () => {
    const database = connected(await newDatabaseUrl());
    await database.query('CREATE SCHEMA dns_sync');
    await expect(makeTables(database)).rejects.toThrow('remove it with DROP SCHEMA dns_sync');
    expect(await hasTables(database)).toBe(false);
  });

  it('that are missing are reported, with what to do', async () => {
    const database = connected(await newDatabaseUrl());
    const read = () => clientMemory(claimedTables(database, placeOf(), null), placeOf()).templates();
    const said = 'run or apply creates the schema dns_sync as it starts if there is none';
    await expect(read()).rejects.toThrow(said);
    // Those that run on make none.
    await makeTables(database);
    await database.query('DROP SCHEMA dns_sync CASCADE');
    await expect(read()).rejects.toThrow(`${said} (if there was one, restore its dump`);
    await makeTables(database);
    await database.query('DROP TABLE dns_sync.templates');
    await expect(read()).rejects.toThrow('one that lacks tables needs the rest of its dump');
  });
});

it('says of a standby that it is one, also to those who only read', async () => {
  const primary = await startPostgres();
  onTestFinished(primary.remove);
  await makeTables(connected(primary.url));
  const standby = await primary.standby();
  onTestFinished(standby.remove);
  const database = connected(standby.url);
  const said = 'set store to the primary';
  await expect(database.query("INSERT INTO dns_sync.failovers VALUES ('', now())")).rejects.toThrow(said);
  const { opening } = claimedTables(database, placeOf(), null);
  await expect(opening('scope', () => 'done')).rejects.toThrow(said);
});

it('names the settings that may have ended a statement, rather than the address', async () => {
  const url = await newDatabaseUrl();
  await ask({ url }, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET statement_timeout = '50ms'`);
  await expect(connected(url).query('SELECT pg_sleep(60)')).rejects.toThrow('check statement_timeout');
});

it.each([
  ['53300', 'storeConnections of all processes'],
  ['53100', 'mend that in PostgreSQL'],
  ['40P01', 'the next pass tries it again'],
  ['25006', 'or default_transaction_read_only is on'],
  ['3D000', 'check that PostgreSQL runs, and the address in store'],
])('says of an error %s what is to be done about it', async (code, advice) => {
  const raised = connected(await newDatabaseUrl()).query(
    `DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${code}'; END $$`,
  );
  await expect(raised).rejects.toThrow(advice);
});

it('does not count an intent if the wait for a standby was cancelled', async () => {
  const { url, database } = await newTables();
  await database.query(
    `CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       RAISE WARNING 'canceling wait for synchronous replication due to user request' USING ERRCODE = '57014';
       RETURN NULL; END $$`,
  );
  await database.query(
    'CREATE TRIGGER warn AFTER INSERT ON dns_sync.journal FOR EACH ROW EXECUTE FUNCTION warn()',
  );
  const begun = processesOn(() => storeAt(url)).write({}, (memory) => memory.begin(newEntry()));
  await expect(begun).rejects.toThrow('canceling wait for synchronous replication');
});

it('sends no adds for a while, and compares with no earlier reading, once a standby has taken over', async () => {
  const store = storeAt(await newDatabaseUrl());
  onTestFinished(() => store.close());
  const database = store.database();
  const said: string[] = [];
  const handle = storeHandle(store, (message) => said.push(message));
  const lastReading = { digest: 'any', since: { now: 1, uptime: { boot: 'b', at: 1 } } };
  const pass = (lostPause: number) => {
    const use = { timeout: 0, signal: new AbortController().signal, onWait: () => undefined, lostPause };
    return handle.write(placeOf(), use, async ({ memory, holdsAdds }) => {
      const found = (await memory.template(17))?.row.lastReading;
      await memory.save(changesOf({ row: rowOf({ lastReading }) }));
      return { holdsAdds, found };
    });
  };
  expect(await pass(1)).toEqual({ holdsAdds: null, found: undefined });
  expect(await pass(1)).toEqual({ holdsAdds: null, found: lastReading });
  await database.query("UPDATE dns_sync.clients SET remembered_on = 'another'");
  await database.query("UPDATE dns_sync.failovers SET timeline = 'another'");
  expect(await pass(600_000)).toMatchObject({
    holdsAdds: expect.stringContaining('failed over'),
    found: null,
  });
  expect(await pass(600_000)).toMatchObject({ holdsAdds: expect.stringContaining('failed over') });
  // Whoever held it before may send an add until the lease ends, and that may take effect for as long after it.
  const [failover] = await database.query<{ since: number }>(
    'SELECT (extract(epoch FROM since) * 1000)::float8 AS since FROM dns_sync.failovers',
  );
  const until = new Date(failover!.since + 600_000 + 30_000).toISOString();
  expect(said.join()).toContain(`suspend again what is to stay suspended; no adds before ${until}`);
  // Also for a client that the other server had never heard of.
  await database.query('UPDATE dns_sync.clients SET remembered_on = NULL');
  expect(await pass(600_000)).toMatchObject({ holdsAdds: expect.stringContaining('failed over') });
  await database.query("UPDATE dns_sync.failovers SET since = '-infinity'");
  expect(await pass(600_000)).toMatchObject({ holdsAdds: null });
});

it('is another database for those that run on once a copy of it is in its place', async () => {
  const url = await newDatabaseUrl();
  const name = new URL(url).pathname.slice(1);
  const store = storeAt(url);
  await store.opened();
  await store.close();
  const timeline = () => ask({ url }, `SELECT ${currentTimeline} AS timeline`);
  const before = await timeline();
  const server = { url: inject('postgres') };
  const lost = `${name}_lost`;
  await ask(server, `ALTER DATABASE ${name} RENAME TO ${lost}`, `CREATE DATABASE ${name} TEMPLATE ${lost}`);
  expect(await timeline()).not.toEqual(before);
});

it('has what fences and intents rest on, whatever the database has as its default', async () => {
  const url = await newDatabaseUrl();
  const name = new URL(url).pathname.slice(1);
  const expected = {
    default_transaction_isolation: 'read committed',
    synchronous_commit: 'on',
    idle_in_transaction_session_timeout: '5s',
  };
  for (const [setting, value] of [
    ['default_transaction_isolation', 'serializable'],
    ['synchronous_commit', 'off'],
    ['idle_in_transaction_session_timeout', '0'],
  ] as const)
    await ask({ url: inject('postgres') }, `ALTER DATABASE ${name} SET ${setting} = '${value}'`);
  const database = connected(url);
  for (const [setting, value] of Object.entries(expected))
    expect(await database.query(`SHOW ${setting}`)).toEqual([{ [setting]: value }]);
});
