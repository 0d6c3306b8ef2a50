import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { sleep } from './sleep.ts';

/** What decides by time asks this. */
export interface Clock {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The monotonic clock: milliseconds within one boot of the machine. */
  readonly uptime: () => { readonly boot: string; readonly at: number };
  /** Ends early, without an error, when the signal is aborted. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  uptime: () => ({ boot: (boot ??= bootId()), at: Math.round(Number(process.hrtime.bigint()) / 1e6) }),
  sleep,
};

let boot: string | null = null;

/**
 * Identifies a boot of the machine, whose processes share a monotonic clock; if that is unknown, identifies
 * this process.
 */
const bootId = (): string => {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return randomUUID();
  }
};
