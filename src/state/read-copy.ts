import { accessSync, constants, copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { memoryError } from './database.ts';
import type { StateFile } from './state-file.ts';

/** SQLite writes a file, and beside it, even for reading. */
export const isWritable = (file: string): boolean =>
  [path.dirname(file), file].every((one) => {
    try {
      accessSync(one, constants.W_OK);
      return true;
    } catch {
      return false;
    }
  });

/** Runs a task with a copy of a state that may only be read. */
export const withCopy = async <T>(
  file: string,
  open: (copy: string) => StateFile,
  task: (state: StateFile) => Promise<T>,
): Promise<T> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'dns-template-sync-'));
  const copy = path.join(folder, path.basename(file));
  const state = open(copy);
  try {
    copyInto(copy, file);
    return await task(state);
  } finally {
    await state.close('now');
    rmSync(folder, { recursive: true, force: true });
  }
};

const copyInto = (copy: string, file: string): void => {
  try {
    copyFileSync(file, copy);
    // The shared memory file has nothing that the journal does not have.
    if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copy}-wal`);
  } catch (error) {
    throw memoryError(file, error);
  }
};
