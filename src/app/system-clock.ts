import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Clock } from '../reconcile/ports.ts';
import { sleep } from '../lib/sleep.ts';

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
