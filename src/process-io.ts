import { homedir } from 'node:os';
import { isatty } from 'node:tty';
import type { Io, Signals } from './io.ts';
import { systemClock } from './lib/clock.ts';

/** What this process has: the only place where the program asks it. Nothing is opened before it is used. */
export const processIo = (ownsProcess: boolean): Io => ({
  get stdout() {
    return process.stdout;
  },
  get stderr() {
    return process.stderr;
  },
  get stdin() {
    return process.stdin;
  },
  get env() {
    return withHome(process.env);
  },
  cwd: process.cwd(),
  signals: processSignals(),
  clock: systemClock,
  ownsProcess,
});

const withHome = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => {
  if (env['HOME']) return env;
  try {
    return { ...env, HOME: homedir() };
  } catch {
    // The system does not know this user.
    return env;
  }
};

const processSignals = (): Signals => ({
  untilStop: () =>
    new Promise((resolve) => {
      const end = endingAtSecond(resolve);
      process.on('SIGTERM', end);
      process.on('SIGINT', end);
    }),
  onHangup: endingWithTerminal,
  // By default it makes Node.js open its debugger, which shows all memory, tokens included.
  onDebugger: (call) => void process.on('SIGUSR1', call),
});

/**
 * A second signal ends the process at once with 130. On a terminal npm and the terminal both send the signal: a
 * repetition within a moment does not count.
 */
const endingAtSecond = (onFirst: (signal: NodeJS.Signals) => void) => {
  let first: { readonly signal: NodeJS.Signals; readonly at: number } | null = null;
  return (signal: NodeJS.Signals): void => {
    const now = performance.now();
    if (first === null) {
      first = { signal, at: now };
      // Keeps the process alive for the repeated signal, which would otherwise kill it.
      setTimeout(() => undefined, moment);
      onFirst(signal);
    } else if (signal !== first.signal || now - first.at > moment) {
      process.exit(130);
    }
  };
};

/** Milliseconds. */
const moment = 100;

/** If the terminal is gone, nobody reads the log any more, so the program ends instead. */
const endingWithTerminal = (call: () => void): void => {
  const hadTerminal = isatty(1);
  process.on('SIGHUP', () => {
    if (!hadTerminal || isatty(1)) return call();
    // Node.js itself would fail an assertion when it resets the missing terminal.
    process.on('exit', () => process.kill(process.pid, 'SIGKILL'));
    process.kill(process.pid, 'SIGTERM');
  });
};
