import { isatty } from 'node:tty';

/**
 * Resolves at the first SIGTERM or SIGINT; a second one ends the process at once with 130. What npm passes on
 * from a terminal comes twice, from both of them: within a moment, the same signal is no second one.
 */
export const untilSignal = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    let first: { readonly signal: NodeJS.Signals; readonly at: number } | null = null;
    const end = (signal: NodeJS.Signals): void => {
      const now = performance.now();
      if (first === null) {
        first = { signal, at: now };
        // The twin must find this process still listening, or it would count as killed by it.
        setTimeout(() => undefined, moment);
        resolve(signal);
      } else if (signal !== first.signal || now - first.at > moment) {
        process.exit(130);
      }
    };
    process.on('SIGTERM', end);
    process.on('SIGINT', end);
  });

/** SIGUSR1 would have Node.js open its debugger, and with it all that is in memory, tokens too. */
export const onDebuggerSignal = (call: () => void): void => void process.on('SIGUSR1', call);

/**
 * Calls at each SIGHUP. One that comes because the terminal has gone asks for nothing: nobody reads the log any more,
 * and the program is to end.
 */
export const onHangup = (call: () => void): void => {
  const hadTerminal = isatty(1);
  process.on('SIGHUP', () => {
    if (!hadTerminal || isatty(1)) return call();
    process.on('exit', dieOfHangup);
    process.kill(process.pid, 'SIGTERM');
  });
};

/** Node.js itself would end by an assertion, since it cannot set a terminal back that is not there. */
const dieOfHangup = (): void => {
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
};

/** Milliseconds. */
const moment = 100;
