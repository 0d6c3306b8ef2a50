import { runCli } from './cli.ts';
import { messageOf, UserError } from './errors.ts';
import { escapeControl } from './lib/escape-control.ts';

/** Runs the command of the process. */
export const main = async (): Promise<void> => {
  watchOutputs();
  try {
    const exitCode = await runCli(process.argv.slice(2));
    process.exitCode ??= exitCode;
  } catch (error) {
    const message = error instanceof UserError ? messageOf(error) : `defect: ${messageOf(error)}`;
    const lines = message.split('\n').map(escapedLine).join('\n');
    process.stderr.write(`dns-template-sync: ${lines}\n`);
    process.exitCode = 1;
  }
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

const escapedLine = (line: string): string => (/^ */.exec(line)?.[0] ?? '') + escapeControl(line.trimStart());
