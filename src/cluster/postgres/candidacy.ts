import { LockedError } from '../../errors.ts';
import { sleep } from '../../lib/sleep.ts';
import type { LeaseKind } from '../../model/lease.ts';
import type { PostgresDatabase } from '../database.ts';
import { acquireLease, type Lease, type LeaseOptions } from './lease.ts';
import { MemoryError } from '../../state/memory.ts';

/** For a task that one process at a time has. */
export interface Candidacy {
  /** Whether this process has it, once it has tried to. */
  isElected(): Promise<boolean>;
  /** Whether it certainly still has it. */
  isHeld(): boolean;
  close(): Promise<void>;
}

/** From now on tries to get the task, and to keep it. A process that is not heard of any more is replaced. */
export const runFor = (
  task: Exclude<LeaseKind, 'client'>,
  database: PostgresDatabase,
  leases: Pick<LeaseOptions, 'duration' | 'onChange'>,
): Candidacy => {
  const { duration } = leases;
  const closing = new AbortController();
  const { signal } = closing;
  let held: Lease | null = null;
  const isHeld = (): boolean => {
    try {
      held?.check();
      return held !== null;
    } catch {
      return false;
    }
  };
  const tryOnce = async (): Promise<void> => {
    if (isHeld()) return;
    await held?.release();
    held = await elected(task, database, leases, signal);
  };
  const first = tryOnce();
  const campaign = async (): Promise<void> => {
    await first;
    while (await sleep(duration / 3, signal)) await tryOnce();
    await held?.release();
  };
  const ended = campaign();
  return {
    isElected: async () => {
      await first;
      return isHeld();
    },
    isHeld,
    close: () => {
      closing.abort();
      return ended;
    },
  };
};

const elected = async (
  name: string,
  database: PostgresDatabase,
  leases: Pick<LeaseOptions, 'duration' | 'onChange'>,
  signal: AbortSignal,
): Promise<Lease | null> => {
  try {
    return await acquireLease(database, {
      ...leases,
      name,
      timeout: 0,
      signal,
      onWait: () => undefined,
    });
  } catch (error) {
    // Another one is, or the database cannot be reached: it is asked again.
    if (error instanceof LockedError || error instanceof MemoryError) return null;
    throw error;
  }
};
