import { access, constants, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Options } from './options.ts';
import { codeOf, UserError } from '../errors.ts';
import { hasColors, type Io } from '../io.ts';
import { renderReport } from '../report/text.ts';
import type { Report } from '../result.ts';

/** Writes a report in the chosen format, to stdout or a file. */
export const showReport = async (
  report: Report,
  { format, out, all, withoutApplied }: Options,
  { stdout, cwd }: Pick<Io, 'stdout' | 'cwd'>,
): Promise<void> => {
  const isFile = typeof out === 'string';
  const text = await renderReport(report, typeof format === 'string' ? format : 'text', {
    all: all === true,
    withoutApplied: withoutApplied === true && !isFile,
    color: !isFile && hasColors(stdout),
    // Some terminals report a width of 0.
    width: isFile ? 100 : stdout.columns || 100,
  });
  if (!isFile) {
    stdout.write(text);
    return;
  }
  try {
    await writeFile(path.resolve(cwd, out), text);
  } catch (error) {
    throw cannotWrite(out, error);
  }
};

/** Checked before anything is written to the service, so that the report is not lost. */
export const checkOut = async ({ out }: Options, { cwd }: Pick<Io, 'cwd'>): Promise<void> => {
  if (typeof out !== 'string') return;
  const place = path.resolve(cwd, out);
  const there = await stat(place).catch(() => null);
  if (there?.isDirectory()) throw cannotWrite(out, 'it is a directory');
  try {
    await access(there ? place : path.dirname(place), constants.W_OK);
  } catch (error) {
    throw cannotWrite(out, error);
  }
};

const cannotWrite = (out: string, error: unknown): UserError =>
  new UserError(`--out: cannot write ${out} (${whyNot(error)})`, { cause: error });

/** A missing file is created, so if something is missing it is its directory. */
const whyNot = (error: unknown): string => codeOf(error).replace(/^it does not/, 'its directory does not');
