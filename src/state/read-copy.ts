import { accessSync, constants, copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { memoryError } from './database.ts';
import { openMemory, type FileMemory } from './sqlite.ts';

/** Opens a state for reading. SQLite writes beside the file even then: if it may not, it opens a copy. */
export const openForReading = (file: string, digest: string): Promise<FileMemory> =>
  [path.dirname(file), file].every(isWritable) ? openMemory(file, digest) : openCopy(file, digest);

const openCopy = async (file: string, digest: string): Promise<FileMemory> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'dns-template-sync-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const copy = path.join(folder, path.basename(file));
    copyFileSync(file, copy);
    // The shared memory file has nothing that the journal does not have.
    if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copy}-wal`);
    const memory = await openMemory(copy, digest);
    return {
      ...memory,
      // The copy would not see the next change.
      isInPlace: () => false,
      close: (when) => memory.close(when).finally(remove),
    };
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
