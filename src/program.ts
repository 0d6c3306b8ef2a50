import type { Daemon } from './commands/run.ts';
import type { Options } from './app/options.ts';
import type { Io } from './io.ts';

export { connect, render } from './index.ts';

/* What is built is one program, which is both the commands and the library. These are its doors. */

/** Runs the command that this process was started for; its exit code is that of the process. */
export const runProcess = async (): Promise<void> => {
  watchOutputs();
  (await import('./state/connection.ts')).closeAtOnce();
  const io = (await import('./process-io.ts')).processIo(true);
  const exitCode = await main(process.argv.slice(2), io);
  process.exitCode ??= exitCode;
};

/**
 * A reader that closes early, as in `| head -1`, is not an error, and the command keeps its own exit code.
 * Any other failed write is an error.
 */
const watchOutputs = (): void => {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    process.exitCode = 1;
    process.stderr.write(`dns-template-sync: cannot write to stdout: ${error.message}\n`);
  });
  process.stderr.on('error', () => undefined);
};

/** Runs one command, and returns its exit code. */
export const main = async (argv: readonly string[], io: Io): Promise<number> =>
  (await import('./cli.ts')).main(argv, io);

/** The daemon, once it has started. */
export const startDaemon = async (options: Options, io: Io): Promise<Daemon> =>
  (await import('./commands/run.ts')).startDaemon(options, io);
