import { runCli } from './cli.ts';
import { messageOf, UserError } from './errors.ts';
import type { Io } from './io.ts';
import { escapeControl } from './lib/escape-control.ts';

/** Runs one command, and returns its exit code. */
export const main = async (argv: readonly string[], io: Io): Promise<number> => {
  try {
    return await runCli(argv, io);
  } catch (error) {
    const message = error instanceof UserError ? messageOf(error) : `defect: ${messageOf(error)}`;
    const lines = message.split('\n').map(escapedLine).join('\n');
    io.stderr.write(`dns-template-sync: ${lines}\n`);
    return 1;
  }
};

const escapedLine = (line: string): string => (/^ */.exec(line)?.[0] ?? '') + escapeControl(line.trimStart());
