import { LockedError } from '../errors.ts';
import { sleep } from '../lib/sleep.ts';
import type { Waiting } from '../state/client-locks.ts';
import type { PostgresDatabase } from './database.ts';
import { addClients, claimForCommand, releaseClients, type Claim, type KnownClient } from './owners.ts';
import { runOut, type LeaseTime, type ProcessLease } from './process-lease.ts';
import { tell } from './news.ts';
import { takenOver } from './timeline.ts';

/** That one client is ours for the time of a pass. */
export interface Hold {
  readonly claim: Claim;
  release(): Promise<void>;
}

/** How a process comes to write for a client. Throws `LockedError` where it is another process's. */
export type TakeClient = (client: KnownClient, waiting: Waiting) => Promise<Hold>;

/** What a daemon owns it has until it gives it up. */
export const heldByDaemon =
  (claims: ReadonlyMap<string, Claim>): TakeClient =>
  ({ scope }) => {
    const claim = claims.get(scope);
    return claim
      ? Promise.resolve({ claim, release: () => Promise.resolve() })
      : Promise.reject(new LockedError('another process makes the passes of this client'));
  };

/** A command asks the daemon that owns it to give the client up for a while. */
export const heldByCommand =
  (database: () => Promise<PostgresDatabase>, lease: ProcessLease): TakeClient =>
  async (client, { timeout, signal, onWait }) => {
    const opened = await database();
    const { scope } = client;
    await addClients(opened, [client]);
    const release = async (): Promise<void> => {
      const process = await lease.join();
      const given = releaseClients(opened, process, [scope]).then(() => tell(opened, 'clients'));
      // What cannot be given back runs out by itself.
      await given.catch(() => undefined);
    };
    const end = performance.now() + timeout;
    for (let isTold = false; ; isTold = true) {
      // Its lease may have run out while it waited.
      const claimed = await claimForCommand(opened, await lease.join(), scope);
      if ('epoch' in claimed) return { claim: claimed, release };
      if (!isTold) {
        onWait(claimed.holder);
        await tell(opened, 'clients');
      }
      if (signal.aborted || performance.now() >= end) {
        await release();
        throw new LockedError(`another pass for this client is running: ${claimed.holder}`);
      }
      await sleep(interval, signal);
    }
  };

/** Milliseconds. */
const interval = 100;

export interface WriteDeadline {
  /** A write begins; or one that had begun as `before` has another name now. */
  readonly begun: (write: string, before?: string) => void;
  readonly ended: (write: string) => void;
  /** Throws `MemoryError`. */
  readonly check: () => void;
}

/**
 * Until when writes may be sent: for the time of a lease after the last renewal that was known when the first of those that
 * are under way was begun. A later renewal does not extend that.
 */
export const deadlines = (
  lease: Pick<ProcessLease, 'id' | 'renewed' | 'isOver'>,
  { process }: Claim,
): WriteDeadline => {
  const open = new Map<string, LeaseTime>();
  return {
    begun: (write, before) => void open.set(write, open.get(before ?? '') ?? lease.renewed),
    ended: (write) => void open.delete(write),
    check: () => {
      if (lease.id !== process) throw lease.id === null ? runOut() : takenOver();
      for (const renewed of open.values()) if (lease.isOver(renewed)) throw runOut();
    },
  };
};
