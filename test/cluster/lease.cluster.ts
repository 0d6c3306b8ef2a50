import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { PostgresDatabase } from '../../src/cluster/database.ts';
import { ProcessLease } from '../../src/cluster/lease.ts';
import { schemaVersion } from '../../src/cluster/schema.ts';
import { newTables, storeAt } from './databases.ts';

const duration = 30_000;
/** What a request may take from the check to the wire. */
const margin = 2_000;

/** A process that has just taken part, at a database that takes a while for each answer, and no renewal while it is away. */
const joined = async (delay = 0) => {
  let isAway = false;
  const answer = async (sql: string) => {
    if (sql.startsWith('UPDATE')) await new Promise((resolve) => void setTimeout(resolve, delay));
    if (isAway) throw new Error('away');
    return [{ schema: schemaVersion, isFirst: true, nextExpiry: null }];
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a lease uses of it
  const database = { query: answer, place: 'PostgreSQL' } as unknown as PostgresDatabase;
  const options = { duration, isDaemon: true, version: '1', address: null };
  const lease = new ProcessLease({ ...options, database: () => Promise.resolve(database) });
  const id = await lease.join();
  return { lease, id, deadline: lease.deadline(id), goAway: (is: boolean) => void (isAway = is) };
};

const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

describe('a write', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is sent as long as the lease certainly holds, and what a request takes to its wire before that ends', async () => {
    const { deadline, goAway } = await joined();
    goAway(true);
    deadline.begun('one');
    await pass(duration - margin);
    expect(deadline.check).not.toThrow();
    await pass(1);
    expect(deadline.check).toThrow('was not renewed in time');
  });

  it('is not sent when the machine has slept meanwhile, which its monotonic clock does not show', async () => {
    const { lease, deadline } = await joined();
    deadline.begun('one');
    vi.setSystemTime(Date.now() + duration);
    expect(deadline.check).toThrow('was not renewed in time');
    expect(lease.id).toBe(null);
  });

  it('is not sent later because a clock was set back', async () => {
    const { deadline, goAway } = await joined();
    goAway(true);
    deadline.begun('one');
    vi.setSystemTime(Date.now() - 3_600_000);
    await pass(duration);
    expect(deadline.check).toThrow('was not renewed in time');
  });

  it('has the time that was known when it was begun, whatever is renewed since; the next one has more', async () => {
    const { lease, id, deadline } = await joined();
    deadline.begun('body of one');
    await pass(duration / 2);
    deadline.begun('one', 'body of one');
    deadline.ended('body of one');
    await pass(duration / 2);
    expect(lease.id).toBe(id);
    expect(deadline.check).toThrow('was not renewed in time');
    deadline.ended('one');
    deadline.begun('two');
    expect(deadline.check).not.toThrow();
  });

  it('has the time from when a renewal was asked for, not from when its answer came', async () => {
    const { lease, goAway } = await joined(1_500);
    // The first renewal, a second after the start.
    await pass(1_000 + 1_500);
    goAway(true);
    await pass(duration - margin - 1_500);
    expect(lease.id).not.toBe(null);
    await pass(1);
    expect(lease.id).toBe(null);
  });

  it('is not sent under the claim of an earlier lease', async () => {
    const { lease } = await joined();
    expect(lease.deadline('an earlier one').check).toThrow('another process has taken over');
  });
});

it.each([
  ['has run out', "alive_until = clock_timestamp() - interval '1 ms'"],
  ['is of another timeline', "timeline = 'another'"],
])('a lease that %s is not renewed: the process has another one', async (_, change) => {
  const { url, database } = await newTables();
  const store = storeAt(url, duration, true);
  onTestFinished(() => store.close());
  const id = await store.lease.join();
  await database.query(`UPDATE dns_sync.processes SET ${change}`);
  await expect.poll(() => store.lease.id, { timeout: 20_000 }).not.toBe(id);
  await expect.poll(() => store.lease.id, { timeout: 20_000 }).not.toBe(null);
});
