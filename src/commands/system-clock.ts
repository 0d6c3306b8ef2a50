import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../apply/context.ts';

export const systemClock: Clock = {
  now: () => Date.now(),
  uptime: () => ({ boot: (boot ??= bootId()), at: Math.round(Number(process.hrtime.bigint()) / 1e6) }),
  sleep: async (milliseconds, signal) => {
    await setTimeout(milliseconds, undefined, { signal }).catch(() => undefined);
  },
};

let boot: string | null = null;

/** All processes since the machine has started share it, and its steady clock; elsewhere only this process does. */
const bootId = (): string => {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return randomUUID();
  }
};
