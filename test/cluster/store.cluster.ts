import { describe, expect, it, onTestFinished } from 'vitest';
import { postgresStore, type PostgresStore } from '../../src/cluster/postgres/store.ts';
import { acquireLease } from '../../src/cluster/postgres/lease.ts';
import { openPostgresMemory } from '../../src/cluster/postgres/memory.ts';
import { migrate, versionIn } from '../../src/cluster/postgres/schema.ts';
import { identityContract, processesOn } from '../state/identity-contract.ts';
import { lockContract } from '../state/lock-contract.ts';
import { memoryContract } from '../state/memory-contract.ts';
import { changesOf, newEntry, placeOf, rememberedRecord, rowOf } from '../state/samples.ts';
import { connected, newDatabase, newDatabaseUrl } from './databases.ts';

memoryContract(async () => {
  const database = await newDatabase();
  const close = (): Promise<void> => Promise.resolve();
  return (name) => Promise.resolve({ ...openPostgresMemory(database, placeOf(name)), close });
});

const storeAt = (url: string): PostgresStore =>
  postgresStore({ url: () => url, connections: 3, leaseDuration: 30_000 });

identityContract(async () => {
  const url = await newDatabaseUrl();
  return processesOn(() => storeAt(url));
});

lockContract(async () => {
  const database = await newDatabase();
  return (name, waiting) => acquireLease(database, { ...waiting, name, duration: 30_000 });
});

describe('the tables', () => {
  it('are created once, by the first of many', async () => {
    const url = await newDatabaseUrl();
    const databases = Array.from({ length: 8 }, () => connected(url));
    const made = await Promise.all(databases.map(migrate));
    expect(made.filter(({ from }) => from === 0)).toHaveLength(1);
    const [database] = databases;
    expect(await versionIn(database!.query)).toBe(made[0]!.to);
  });

  it.each([true, false])('of version 0.1 are left alone while it runs: %s', async (isRunning) => {
    const database = await newDatabase();
    const { query } = database;
    const until = `clock_timestamp() + interval '${isRunning ? '' : '-'}30 seconds'`;
    const tables = ['clients', 'compared'].map((table) => `dns_template_sync.${table}`);
    await query(`DROP TABLE ${tables.join()}`);
    await query(`CREATE TABLE dns_template_sync.clients (scope text PRIMARY KEY, body text NOT NULL);
      CREATE TABLE dns_template_sync.tokens (digest text PRIMARY KEY, scope text NOT NULL);
      CREATE TABLE dns_template_sync.client_templates (scope text, template_id bigint);
      CREATE VIEW dns_template_sync.known_templates AS SELECT scope FROM dns_template_sync.templates;
      UPDATE dns_template_sync.schema_version SET version = 8, oldest = 6;
      INSERT INTO dns_template_sync.leases VALUES ('lock-of-a-token', 1, 'token', 'process 7', ${until}, '')`);
    const { baseUrl, name } = placeOf();
    const known = JSON.stringify({ scope: 'of-a-token', baseUrl, name });
    await query('INSERT INTO dns_template_sync.clients VALUES ($1, $2)', ['of-a-token', known]);
    const suspension = {
      template: null,
      templateId: null,
      by: 'ann',
      reason: 'moving',
      since: 1,
      until: null,
    };
    const values = ['of-a-token', JSON.stringify([null, 'ann']), JSON.stringify(suspension)];
    await query('INSERT INTO dns_template_sync.suspensions VALUES ($1, $2, $3)', values);
    if (isRunning) {
      await expect(migrate(database)).rejects.toThrow('is used by version 0.1 of this program (process 7)');
      expect(await versionIn(query)).toBe(8);
      return;
    }
    await migrate(database);
    expect(await openPostgresMemory(database, placeOf()).suspensions()).toEqual([suspension]);
  });

  it('of a newer version are left alone', async () => {
    const database = await newDatabase();
    await database.query('UPDATE dns_template_sync.schema_version SET version = 999, oldest = 999');
    await expect(migrate(database)).rejects.toThrow('newer version of this program (schema 999');
  });

  it('are not created in a database that cannot store all names and texts', async () => {
    const database = connected(await newDatabaseUrl("ENCODING 'LATIN1' TEMPLATE template0"));
    await expect(migrate(database)).rejects.toThrow("create a database with ENCODING 'UTF8'");
    expect(await versionIn(database.query)).toBe(0);
  });

  it('that are missing are reported, with what to do', async () => {
    const database = connected(await newDatabaseUrl());
    await expect(openPostgresMemory(database, placeOf()).templates()).rejects.toThrow(
      'run or apply creates its tables',
    );
  });
});

it('stores texts that PostgreSQL cannot store as they are', async () => {
  const memory = openPostgresMemory(await newDatabase(), placeOf());
  const keys = ['TXT  a\u0000b', 'TXT  \ud800', 'TXT  "quoted"'];
  await memory.save(changesOf({ records: keys.map((key) => rememberedRecord(key)) }));
  expect((await memory.template(17))?.records.map(({ key }) => key).toSorted()).toEqual(keys.toSorted());
  await memory.save(changesOf({ forgotten: keys }));
  expect((await memory.template(17))?.records).toEqual([]);
});

it('says what is wrong with a database, without its password', async () => {
  const database = connected('postgres://tester:hidden-password@127.0.0.1:1/none');
  const failed = database.query('SELECT 1').catch((error: unknown) => error);
  expect(await failed).toMatchObject({ name: 'MemoryError' });
  expect(String(await failed)).toContain('PostgreSQL at 127.0.0.1:1/none');
  expect(String(await failed)).not.toContain('hidden-password');
});

it('does not count an intent if the wait for a standby was cancelled', async () => {
  const url = await newDatabaseUrl();
  const database = connected(url);
  await migrate(database);
  await database.query(
    `CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       RAISE WARNING 'canceling wait for synchronous replication due to user request' USING ERRCODE = '57014';
       RETURN NULL; END $$`,
  );
  await database.query(
    'CREATE TRIGGER warn AFTER INSERT ON dns_template_sync.journal FOR EACH ROW EXECUTE FUNCTION warn()',
  );
  const memory = openPostgresMemory(database, placeOf());
  await expect(memory.begin(newEntry())).rejects.toThrow('canceling wait for synchronous replication');
});

it('sends no adds for a while, and compares with no earlier reading, once a standby has taken over', async () => {
  const store = storeAt(await newDatabaseUrl());
  onTestFinished(() => store.close());
  const database = store.database();
  const said: string[] = [];
  const handle = store.handle((message) => said.push(message));
  const lastReading = { digest: 'any', since: { now: 1, uptime: { boot: 'b', at: 1 } } };
  const pass = (lostPause: number) => {
    const use = { timeout: 0, signal: new AbortController().signal, onWait: () => undefined, lostPause };
    return handle.write(placeOf(), use, async (memory, _, { holdsAdds }) => {
      const found = (await memory.template(17))?.row.lastReading;
      await memory.save(changesOf({ row: rowOf({ lastReading }) }));
      return { holdsAdds, found };
    });
  };
  expect(await pass(1)).toEqual({ holdsAdds: null, found: undefined });
  expect(await pass(1)).toEqual({ holdsAdds: null, found: lastReading });
  await database.query("UPDATE dns_template_sync.leases SET timeline = 'another'");
  await database.query("UPDATE dns_template_sync.failovers SET timeline = 'another'");
  expect(await pass(600_000)).toMatchObject({
    holdsAdds: expect.stringContaining('failed over'),
    found: null,
  });
  expect(await pass(600_000)).toMatchObject({ holdsAdds: expect.stringContaining('failed over') });
  // Whoever held it before may send an add until the lease ends, and that may take effect for as long after it.
  const [failover] = await database.query<{ since: number }>(
    'SELECT (extract(epoch FROM since) * 1000)::float8 AS since FROM dns_template_sync.failovers',
  );
  const until = new Date(failover!.since + 600_000 + 30_000).toISOString();
  expect(said.join()).toContain(`no adds before ${until}`);
  // Also for a client that the other server had never heard of.
  await database.query('DELETE FROM dns_template_sync.leases');
  expect(await pass(600_000)).toMatchObject({ holdsAdds: expect.stringContaining('failed over') });
  await database.query("UPDATE dns_template_sync.failovers SET since = '-infinity'");
  expect(await pass(600_000)).toMatchObject({ holdsAdds: null });
});
