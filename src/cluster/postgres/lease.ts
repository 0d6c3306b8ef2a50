import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { LockedError } from '../../errors.ts';
import { sleep } from '../../lib/sleep.ts';
import { leaseKinds, type LeaseChange, type LeaseKind } from '../../model/lease.ts';
import type { Waiting } from '../../state/client-locks.ts';
import type { Lock } from '../../state/lock.ts';
import { MemoryError } from '../../state/memory.ts';
import { planned, type PostgresDatabase } from '../database.ts';
import { takenOver, currentTimeline, onTimeline } from './fence.ts';

/** A lock that is free again some time after its holder was last heard of, so that nobody waits for a dead machine. */
export interface Lease extends Lock {
  readonly name: string;
  /** Given for this taking alone: no other, not even one that a failover made forget it, has the same. */
  readonly token: string;
}

export interface LeaseOptions extends Waiting {
  readonly name: string;
  /** Milliseconds from the last renewal on. */
  readonly duration: number;
  readonly onChange?: OnLeaseChange;
}

export type OnLeaseChange = (lease: LeaseKind, change: LeaseChange) => void;

/** Throws `LockedError` after `timeout`, and `MemoryError`. */
export const acquireLease = async (
  database: PostgresDatabase,
  { name, duration, timeout, signal, onWait, onChange = () => undefined }: LeaseOptions,
): Promise<Lease> => {
  const kind = leaseKinds.find((one) => one === name) ?? 'client';
  const end = performance.now() + timeout;
  let isTold = false;
  for (;;) {
    const token = randomUUID();
    const asked = moment();
    const claimed = await claim(database, name, token, duration);
    if ('isTakenOver' in claimed) {
      onChange(kind, claimed.isTakenOver ? 'taken-over' : 'taken');
      const options = { name, token, duration, onChange: (change: LeaseChange) => onChange(kind, change) };
      const lease = keepLease(database, { ...options, asked });
      // It counts from when it was asked for, and somebody's transaction kept it waiting.
      if (isOutrun(asked, duration)) await lease.renew().catch((error: unknown) => endWith(lease, error));
      return lease;
    }
    if (!isTold) onWait(claimed.holder);
    isTold = true;
    if (signal.aborted || performance.now() >= end)
      throw new LockedError(`another pass for this client is running: ${claimed.holder}`);
    await sleep(Math.min(interval, duration / 5), signal);
  }
};

const endWith = async (lease: Lease, error: unknown): Promise<never> => {
  await lease.release();
  throw error;
};

/** Milliseconds. */
const interval = 250;

const claim = async (
  { query }: PostgresDatabase,
  name: string,
  token: string,
  duration: number,
): Promise<{ readonly isTakenOver: boolean } | { readonly holder: string }> => {
  const holder = `process ${process.pid} on ${hostname()}, since ${new Date().toISOString()}`;
  const [claimed] = await query<{ isTakenOver: boolean }>(
    claimFree,
    [name, token, holder, duration],
    claimPatience,
  );
  if (claimed) return claimed;
  const [other] = await query<{ holder: string }>(holderOf, [name], patience);
  return { holder: other?.holder ?? 'holder unknown' };
};

/** A statement about a lease is worth nothing once it takes longer. */
const patience = 2_000;
/** A process that is stopped in the middle of a transaction may keep its lease for five seconds. */
const claimPatience = 8_000;

/**
 * Until when it is ours is known on this machine too, by the earlier of two clocks: one runs on steadily and stands
 * still while the machine sleeps, the other may be set. What they say begins before the database was asked.
 */
const keepLease = (
  { query }: PostgresDatabase,
  { name, token, duration, asked, onChange }: OwnLease,
): KeptLease => {
  let renewed = asked;
  let isLost = false;
  let isSaid = false;
  const sayLost = (): void => {
    if (!isSaid) onChange('lost');
    isSaid = true;
  };
  let isReleased = false;
  let renewal = Promise.resolve();
  const renew = async (): Promise<void> => {
    const before = moment();
    const [ours] = await query(renewOurs, [name, token, duration], patience);
    if (ours) renewed = before;
    else {
      isLost = true;
      sayLost();
    }
  };
  const later = (delay: number): NodeJS.Timeout =>
    setTimeout(() => {
      renewal = renew().then(
        () => rearm(duration / 3),
        // Until it has run out, it may still be renewed.
        () => rearm(duration / 10),
      );
    }, delay).unref();
  let timer = later(duration / 3);
  const rearm = (delay: number): void => {
    if (!isReleased && !isLost) timer = later(delay);
  };
  return {
    name,
    token,
    renew,
    check: () => {
      if (isLost) throw takenOver();
      if (!isOutrun(renewed, duration)) return;
      sayLost();
      throw runOut();
    },
    release: async () => {
      isReleased = true;
      clearTimeout(timer);
      await renewal;
      // One that cannot be given back runs out by itself.
      await query(giveBack, [name, token], patience).catch(() => undefined);
      onChange('given-back');
    },
  };
};

interface KeptLease extends Lease {
  readonly renew: () => Promise<void>;
}

interface OwnLease extends Pick<Lease, 'name' | 'token'>, Pick<LeaseOptions, 'duration'> {
  readonly asked: LeaseTime;
  readonly onChange: (change: LeaseChange) => void;
}

/** By the monotonic and by the wall clock, in milliseconds. */
interface LeaseTime {
  readonly steady: number;
  readonly wall: number;
}

const moment = (): LeaseTime => ({ steady: performance.now(), wall: Date.now() });

const elapsedSince = ({ steady, wall }: LeaseTime): number =>
  Math.max(performance.now() - steady, Date.now() - wall);

const isOutrun = (renewed: LeaseTime, duration: number): boolean =>
  elapsedSince(renewed) > duration - marginOf(duration);

/** What a request may take from the check to the wire. */
const marginOf = (duration: number): number => Math.min(2_000, duration / 5);

const runOut = (): MemoryError =>
  new MemoryError(
    'the lease on this client was not renewed in time, so another process may have taken it over: nothing more is sent',
  );

/** A lease that was given back has no token. */
const claimFree = planned(`WITH before AS (SELECT token FROM dns_template_sync.leases WHERE name = $1)
  INSERT INTO dns_template_sync.leases AS lease (name, epoch, token, holder, lease_until, timeline)
  VALUES ($1, 1, ${onTimeline('$2::text')}, $3, clock_timestamp() + $4 * interval '1 millisecond', ${currentTimeline})
  ON CONFLICT (name) DO UPDATE SET epoch = lease.epoch + 1, token = excluded.token, holder = excluded.holder,
    lease_until = clock_timestamp() + $4 * interval '1 millisecond'
  WHERE lease.lease_until < clock_timestamp()
  RETURNING coalesce((SELECT token <> '' FROM before), false) AS "isTakenOver"`);

const holderOf = 'SELECT holder FROM dns_template_sync.leases WHERE name = $1';

const renewOurs = `UPDATE dns_template_sync.leases SET lease_until = clock_timestamp() + $3 * interval '1 millisecond'
  WHERE name = $1 AND token = ${onTimeline('$2::text')} RETURNING name`;

const giveBack =
  planned(`UPDATE dns_template_sync.leases SET lease_until = '-infinity', token = '', holder = ''
  WHERE name = $1 AND token = ${onTimeline('$2::text')}`);
