import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { openFleet } from '../../src/cluster/fleet.ts';
import { storeHandle } from '../../src/state/store-handle.ts';
import { placeOf } from '../state/samples.ts';
import { newTables, storeAt } from './databases.ts';
import { addProcess } from './process-rows.ts';

const nothing = (): void => undefined;
const leaseDuration = 3_000;

/** A daemon with one client, and whether it makes its passes. */
const newDaemon = async (url: string) => {
  const store = storeAt(url, leaseDuration, true);
  const place = placeOf();
  let isOwner = false;
  const fleet = openFleet({
    store,
    leaseDuration,
    redact: (value) => value,
    log: pino({ level: 'silent' }),
    onOwned: nothing,
    onDatabase: nothing,
    onOutdated: nothing,
  });
  fleet.join({
    name: place.name,
    scope: () => place.scope,
    baseUrl: () => place.baseUrl ?? '',
    files: () => Promise.resolve({ version: 'any', commit: null }),
    token: () => '',
    listTemplateIds: () => Promise.resolve([]),
    own: () => void (isOwner = true),
    disown: () => Promise.resolve(void (isOwner = false)),
    isBusy: () => false,
    request: () => true,
  });
  await fleet.start({ onReport: nothing, onChange: nothing });
  onTestFinished(async () => {
    await fleet.close();
    await store.close();
  });
  const { signal } = new AbortController();
  const use = { timeout: 0, signal, onWait: nothing, lostPause: 0 };
  return {
    id: () => store.lease.id,
    isOwner: () => isOwner,
    trouble: () => fleet.trouble,
    pass: () => storeHandle(store, nothing).write(place, use, () => Promise.resolve('made')),
  };
};

it.each([
  ['belongs to another process', "owner = 'ANOTHER', epoch = epoch + 1"],
  ['has no row any more', null],
])(
  'a client that %s, although the lease holds, is given up, and taken again when it is free',
  async (_, change) => {
    const { url, database } = await newTables();
    const daemon = await newDaemon(url);
    await expect.poll(daemon.isOwner, { timeout: 20_000 }).toBe(true);
    const another = await addProcess(database);
    const id = daemon.id();
    await database.query(
      change === null
        ? 'DELETE FROM dns_sync.clients'
        : `UPDATE dns_sync.clients SET ${change.replace('ANOTHER', another)}`,
    );
    await expect(daemon.pass()).rejects.toThrow('another process has taken over');
    await expect.poll(daemon.isOwner, { timeout: 20_000, interval: 1 }).toBe(false);
    await database.query('UPDATE dns_sync.clients SET owner = NULL');
    await expect.poll(daemon.isOwner, { timeout: 20_000 }).toBe(true);
    expect(await daemon.pass()).toBe('made');
    expect(daemon.id()).toBe(id);
  },
);

it('a client that all but its owner know to be owned is given up', async () => {
  const { url, database } = await newTables();
  const daemon = await newDaemon(url);
  await expect.poll(daemon.isOwner, { timeout: 20_000 }).toBe(true);
  // As where the answer to a claim is lost.
  await database.query(
    `INSERT INTO dns_sync.clients (scope, name, base_url, owner) VALUES ('stray', 'stray', '', '${daemon.id()}')`,
  );
  const owner = async () =>
    (
      await database.query<{ owner: string | null }>(
        "SELECT owner FROM dns_sync.clients WHERE scope = 'stray'",
      )
    )[0]!.owner;
  await expect.poll(owner, { timeout: 20_000 }).toBe(null);
  expect(daemon.isOwner()).toBe(true);
});

it('a process says that it takes no clients where PostgreSQL refuses that, although it renews its lease', async () => {
  const { url, database } = await newTables();
  await database.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE 'refused'; END $$`);
  await database.query(
    'CREATE TRIGGER refuse BEFORE UPDATE OF owner ON dns_sync.clients FOR EACH ROW EXECUTE FUNCTION refuse()',
  );
  const daemon = await newDaemon(url);
  await expect.poll(() => String(daemon.trouble()), { timeout: 20_000 }).toContain('refused');
  const renewals = async () =>
    (await database.query<{ renewals: number }>('SELECT renewals FROM dns_sync.processes'))[0]!.renewals;
  await expect.poll(renewals, { timeout: 20_000 }).toBeGreaterThan(3);
  expect(String(daemon.trouble())).toContain('refused');
  await database.query('DROP TRIGGER refuse ON dns_sync.clients');
  await expect.poll(daemon.trouble, { timeout: 20_000 }).toBe(null);
});
