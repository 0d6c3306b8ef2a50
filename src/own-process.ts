import { main } from './cli.ts';
import { processIo } from './process-io.ts';
import { closeAtOnce } from './state/connection.ts';

/** Runs the command that this process was started for; its exit code is that of the process. */
export const runProcess = async (): Promise<void> => {
  watchOutputs();
  closeAtOnce();
  const exitCode = await main(process.argv.slice(2), processIo(true));
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
