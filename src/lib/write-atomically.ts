import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export interface AtomicWrite {
  readonly mode: number;
  /** Whether it must survive a power cut, which is slower. */
  readonly isDurable?: boolean;
}

/** Readers see the old file or the new one, never a part. Throws the error of the operating system. */
export const writeAtomically = (
  file: string,
  text: string,
  { mode, isDurable = false }: AtomicWrite,
): void => {
  const directory = path.dirname(file);
  const draft = path.join(directory, `.${randomUUID()}`);
  try {
    writeFileSync(draft, text, { flag: 'wx', mode });
    if (isDurable) syncToDisk(draft);
    renameSync(draft, file);
    if (isDurable) syncToDisk(directory);
  } finally {
    rmSync(draft, { force: true });
  }
};

const syncToDisk = (entry: string): void => {
  const descriptor = openSync(entry, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
};
