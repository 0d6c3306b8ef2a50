import { accessSync, constants, copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { memoryError } from './database.ts';
import { borrowState, openState, type StateFile } from './state-file.ts';

/** Borrows a state for reading. SQLite writes beside the file even then: if it may not, it opens a copy. */
export const borrowForReading = (file: string): Promise<StateFile> =>
  [path.dirname(file), file].every(isWritable) ? borrowState(file, openState) : openCopy(file);

const openCopy = async (file: string): Promise<StateFile> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'dns-template-sync-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const copy = path.join(folder, path.basename(file));
    copyFileSync(file, copy);
    // The shared memory file has nothing that the journal does not have.
    if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copy}-wal`);
    const state = await openState(copy);
    state.onClosed = remove;
    state.borrow();
    // The copy would not see the next change.
    state.distrust();
    return state;
  } catch (error) {
    remove();
    throw memoryError(file, error);
  }
};

const isWritable = (file: string): boolean => {
  try {
    accessSync(file, constants.W_OK);
    return true;
  } catch {
    return false;
  }
};
