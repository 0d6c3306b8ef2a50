import { isatty } from 'node:tty';

/**
 * Resolves at the first SIGTERM or SIGINT; a second one ends the process at once with 130. On a terminal npm
 * and the terminal both send the signal: a repetition within a moment does not count.
 */
export const untilSignal = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    let first: { readonly signal: NodeJS.Signals; readonly at: number } | null = null;
    const end = (signal: NodeJS.Signals): void => {
      const now = performance.now();
      if (first === null) {
        first = { signal, at: now };
        // Keeps the process alive for the repeated signal, which would otherwise kill it.
        setTimeout(() => undefined, moment);
        resolve(signal);
      } else if (signal !== first.signal || now - first.at > moment) {
        process.exit(130);
      }
    };
    process.on('SIGTERM', end);
    process.on('SIGINT', end);
  });

/** By default SIGUSR1 makes Node.js open its debugger, which shows all memory, tokens included. */
export const onDebuggerSignal = (call: () => void): void => void process.on('SIGUSR1', call);

/** Calls at each SIGHUP. If the terminal is gone, nobody reads the log any more, so the program ends instead. */
export const onHangup = (call: () => void): void => {
  const hadTerminal = isatty(1);
  process.on('SIGHUP', () => {
    if (!hadTerminal || isatty(1)) return call();
    process.on('exit', dieOfHangup);
    process.kill(process.pid, 'SIGTERM');
  });
};

/** Node.js itself would fail an assertion when it resets the missing terminal. */
const dieOfHangup = (): void => {
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
};

/** Milliseconds. */
const moment = 100;
