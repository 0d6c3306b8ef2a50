import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { built } from '../built.ts';

export interface ProgramOptions {
  readonly args: readonly string[];
  /** Besides a few that every program needs; undefined to unset one. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
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

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Program {
  readonly ended: Promise<Ended>;
  kill(signal: NodeJS.Signals): void;
  /** Resolves to the first line of JSON on stdout that matches from now on; to null when the program has ended. */
  line(
    matches: (line: Readonly<Record<string, unknown>>) => boolean,
  ): Promise<Record<string, unknown> | null>;
  /** Calls for each line of JSON on stdout. */
  onLine(call: (line: Readonly<Record<string, unknown>>) => void): void;
}

/** A module that sets the two clocks of a process ahead, in milliseconds. */
const clocksAhead = (wall: number, monotonic: number): string => {
  const script = `
    const now = Date.now;
    Date.now = () => now() + ${wall};
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

/** Starts the built program as a process of its own. */
export const startProgram = ({
  args,
  env,
  cwd,
  clockAhead = 0,
  later = 0,
  isElsewhere = false,
  uid,
  fileLimit,
}: ProgramOptions): Program => {
  const ahead = clockAhead === 0 && later === 0 ? [] : ['--import', clocksAhead(clockAhead + later, later)];
  const away = isElsewhere ? ['--import', elsewhere()] : [];
  const node = [process.execPath, ...ahead, ...away, built('main.js'), ...args];
  const limited = [
    'bash',
    '-c',
    `trap '' XFSZ; ulimit -f ${(fileLimit ?? 0) / 1_024}; exec "$@"`,
    'limited',
    ...node,
  ];
  const [command = '', ...rest] = fileLimit === undefined ? node : limited;
  const child = spawn(command, rest, {
    cwd,
    env: { PATH: process.env['PATH'], HOME: cwd, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  const lines = createInterface({ input: child.stdout });
  const ended = once(child, 'close').then(([code, signal]): Ended => ({ code, signal, stdout, stderr }));
  return {
    ended,
    kill: (signal) => void child.kill(signal),
    line: (matches) =>
      new Promise((resolve) => {
        const look = (text: string): void => {
          const line = parseLine(text);
          if (line === null || !matches(line)) return;
          lines.off('line', look);
          resolve(line);
        };
        lines.on('line', look);
        void ended.then(() => resolve(null));
      }),
    onLine: (call) =>
      void lines.on('line', (text) => {
        const line = parseLine(text);
        if (line) call(line);
      }),
  };
};

const parseLine = (text: string): Record<string, unknown> | null => {
  try {
    const value: unknown = JSON.parse(text);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
};
