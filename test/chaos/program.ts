import { randomUUID } from 'node:crypto';
import { built } from '../built.ts';
import { startCommand } from '../e2e/process.ts';
import type { Launch, Program } from '../e2e/program.ts';

export interface ProgramOptions extends Omit<Launch, 'clock'> {
  readonly args: readonly string[];
  /** Milliseconds that its wall clock is ahead of ours: it was set. */
  readonly clockAhead?: number;
  /** Milliseconds by which both of its clocks are ahead of ours: it is started so much later. */
  readonly later?: number;
  /** Whether it is on a machine of its own. */
  readonly isElsewhere?: boolean;
  /** For a root without special rights. */
  readonly uid?: number;
  /** Bytes that each of its files can have at most, as on a full disk; a multiple of 1024. */
  readonly fileLimit?: number;
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

/** Starts the built program as a process that may be killed, or may not do what we may. */
export const startProgram = ({
  args,
  clockAhead = 0,
  later = 0,
  isElsewhere = false,
  uid,
  fileLimit,
  ...launch
}: ProgramOptions): Program => {
  const ahead = clockAhead === 0 && later === 0 ? [] : ['--import', clocksAre(clockAhead + later, later)];
  const away = isElsewhere ? ['--import', elsewhere()] : [];
  const node = [process.execPath, ...ahead, ...away, built('main.js'), ...args];
  const limited = [
    'bash',
    '-c',
    `trap '' XFSZ; ulimit -f ${(fileLimit ?? 0) / 1_024}; exec "$@"`,
    'limited',
    ...node,
  ];
  return startCommand(
    fileLimit === undefined ? node : limited,
    launch,
    uid === undefined ? {} : { uid, gid: uid },
  );
};
