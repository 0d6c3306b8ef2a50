import { LockedError } from '../../errors.ts';
import { sleep } from '../../lib/sleep.ts';
import type { PostgresDatabase } from './database.ts';
import { acquireLease, type Lease } from './lease.ts';
import { MemoryError } from '../memory.ts';

/** Whether this process is the source, of which there is one at a time. */
export interface SourceLease {
  /** Once it has tried to be. */
  isSource(): Promise<boolean>;
  close(): Promise<void>;
}

/** From now on tries to be the source, and to stay it. A source that is not heard of any more is replaced. */
export const runForSource = (database: PostgresDatabase, duration: number): SourceLease => {
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
    held = await elected(database, duration, signal);
  };
  const first = tryOnce();
  const campaign = async (): Promise<void> => {
    await first;
    while (await sleep(duration / 3, signal)) await tryOnce();
    await held?.release();
  };
  const ended = campaign();
  return {
    isSource: async () => {
      await first;
      return isHeld();
    },
    close: () => {
      closing.abort();
      return ended;
    },
  };
};

const elected = async (
  database: PostgresDatabase,
  duration: number,
  signal: AbortSignal,
): Promise<Lease | null> => {
  try {
    return await acquireLease(database, {
      name: 'source',
      duration,
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
