#!/usr/bin/env node
import { runCli } from './cli.ts';
import { messageOf, UserError } from './errors.ts';
import { visible } from './report/visible.ts';

/** A reader that has seen enough, as in `| head -1`, is no error. */
const endQuietly = (error: NodeJS.ErrnoException): void => {
  if (error.code === 'EPIPE') process.exit();
  throw error;
};
process.stdout.on('error', endQuietly);
process.stderr.on('error', endQuietly);

const visibleLine = (line: string): string => (/^ */.exec(line)?.[0] ?? '') + visible(line.trimStart());

try {
  process.exitCode = await runCli(process.argv.slice(2));
} catch (error) {
  const message = error instanceof UserError ? messageOf(error) : `defect: ${messageOf(error)}`;
  const lines = message.split('\n').map(visibleLine).join('\n');
  process.stderr.write(`dns-template-sync: ${lines}\n`);
  process.exitCode = 1;
}
