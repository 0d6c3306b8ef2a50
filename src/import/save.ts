import { lstat, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UserError } from '../errors.ts';
import { makeDirectory, writeAtomically } from '../lib/files.ts';
import { readBeginning } from '../regular-file.ts';
import { maxFileSize } from '../desired/parse-file.ts';

/** The content of a template file; null if there is none. Throws if it is not a regular file. */
export const readIfThere = async (file: string): Promise<Buffer | null> => {
  const found = await lstat(file).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  });
  if (found === null) return null;
  if (!found.isFile()) throw new UserError('it is not a regular file');
  return readBeginning(file, maxFileSize + 1);
};

/**
 * Throws if the file exists by now. On a full disk, or cut short, it leaves none, or an empty one, which is an error: a file
 * that ends earlier would drop the other records.
 */
export const createFile = async (file: string, text: string): Promise<void> => {
  makeDirectory(dirname(file));
  await writeFile(file, '', { flag: 'wx' });
  try {
    writeAtomically(file, text, 0o666);
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
};

/** Readers see the old file or the new one, never a part. */
export const replaceFile = async (file: string, text: string): Promise<void> => {
  const { mode } = await lstat(file);
  writeAtomically(file, text, mode);
};
