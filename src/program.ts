import type { Daemon } from './commands/run.ts';
import type { Options } from './app/options.ts';
import type { Io } from './io.ts';

export { connect, render } from './index.ts';

/* What is built is one program, which is both the commands and the library. These are its doors. */

/** Runs what this process was started for. */
export const runProcess = async (): Promise<void> => (await import('./own-process.ts')).runProcess();

/** Runs one command, and returns its exit code. */
export const main = async (argv: readonly string[], io: Io): Promise<number> =>
  (await import('./cli.ts')).main(argv, io);

/** The daemon, once it has started. */
export const startDaemon = async (options: Options, io: Io): Promise<Daemon> =>
  (await import('./commands/run.ts')).startDaemon(options, io);
