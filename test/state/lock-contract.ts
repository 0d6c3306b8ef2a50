import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { LockedError } from '../../src/errors.ts';
import type { TakeLock, Waiting } from '../../src/state/client-locks.ts';
import type { Lock } from '../../src/state/lock.ts';

const once = (changes: Partial<Waiting> = {}): Waiting => ({
  timeout: 0,
  signal: new AbortController().signal,
  onWait: () => undefined,
  ...changes,
});

/** How every store keeps two from writing for one client. */
export const lockContract = (newLocks: () => Promise<TakeLock>): void => {
  describe('a lock', () => {
    it('has one holder at a time, and an error names the holder', async () => {
      const take = await newLocks();
      const lock = await take('one', once());
      const told: string[] = [];
      const refused = take('one', once({ timeout: 120, onWait: (who) => told.push(who) }));
      await expect(refused).rejects.toThrow(LockedError);
      await expect(refused).rejects.toThrow(`process ${process.pid} on ${hostname()}, since 20`);
      expect(told).toEqual([expect.stringContaining(`process ${process.pid} on ${hostname()}`)]);
      lock.check();
      await lock.release();
      await (await take('one', once())).release();
    });

    it('goes to the process that waits for it', async () => {
      const take = await newLocks();
      const first = await take('one', once());
      const second = await take('one', once({ timeout: 60_000, onWait: () => void first.release() }));
      await expect(take('one', once())).rejects.toThrow(LockedError);
      await second.release();
    });

    it('of another name is independent', async () => {
      const take = await newLocks();
      const locks = [await take('one', once()), await take('two', once())];
      for (const lock of locks) await lock.release();
    });

    it('is acquired by one of many at once', async () => {
      const take = await newLocks();
      const tries = await Promise.allSettled(Array.from({ length: 20 }, () => take('one', once())));
      const taken = tries.flatMap((one): Lock[] => (one.status === 'fulfilled' ? [one.value] : []));
      expect(taken).toHaveLength(1);
      await taken[0]?.release();
    });

    it('is not waited for during a shutdown', async () => {
      const take = await newLocks();
      const lock = await take('one', once());
      const ending = new AbortController();
      const waiting = { timeout: 600_000, signal: ending.signal, onWait: () => ending.abort() };
      await expect(take('one', waiting)).rejects.toThrow(LockedError);
      await lock.release();
    });
  });
};
