import { randomUUID } from 'node:crypto';
import { built } from '../built.ts';
import { startCommand } from '../process.ts';
import type { Launch, Program } from '../program.ts';

export interface ProgramOptions extends Omit<Launch, 'clock'> {
  readonly args: readonly string[];
  /** Milliseconds that its wall clock is ahead of ours: it was set. */
  readonly clockAhead?: number;
  /** Milliseconds by which both of its clocks are ahead of ours: it is started so much later. */
  readonly later?: number;
  /** Whether it is on a machine of its own. */
  readonly isElsewhere?: boolean;
}

/**
 * A module that sets the two clocks of a process ahead, in milliseconds: all of the wall's, or a schedule would be due
 * for ever.
 */
const clocksAre = (wall: number, monotonic: number): string => {
  const script = `
    const { now } = Date;
    globalThis.Date = class extends Date {
      constructor(...given) {
        super(...(given.length === 0 ? [now() + ${wall}] : given));
      }
      static now = () => now() + ${wall};
    };
    const uptime = process.hrtime.bigint;
    process.hrtime.bigint = () => uptime() + ${monotonic}n * 1000000n;`;
  return `data:text/javascript,${encodeURIComponent(script)}`;
};

/** A module by which a process takes its machine for another one. */
const elsewhere = (): string => {
  const script = `
    import fs from 'node:fs';
    const read = fs.readFileSync;
    fs.readFileSync = (file, ...rest) => String(file).endsWith('boot_id') ? '${randomUUID()}' : read(file, ...rest);`;
  return `data:text/javascript,${encodeURIComponent(script)}`;
};

/** Starts the built program as a process that may be killed. */
export const startProgram = ({
  args,
  clockAhead = 0,
  later = 0,
  isElsewhere = false,
  ...launch
}: ProgramOptions): Program => {
  const ahead = clockAhead === 0 && later === 0 ? [] : ['--import', clocksAre(clockAhead + later, later)];
  const away = isElsewhere ? ['--import', elsewhere()] : [];
  return startCommand([process.execPath, ...ahead, ...away, built('main.js'), ...args], launch);
};
