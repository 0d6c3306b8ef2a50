import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Makes a directory and its parents if they are missing. Node's own `recursive` never returns on a file
 * system such as `/proc` that cannot have one. Throws the error of the operating system.
 */
export const makeDirectory = (directory: string, mode = 0o777): void => {
  if (existsSync(directory) && statSync(directory).isDirectory()) return;
  const parent = path.dirname(directory);
  if (parent !== directory && !existsSync(parent)) makeDirectory(parent, mode);
  try {
    mkdirSync(directory, { mode });
  } catch (error) {
    // Another process made it meanwhile.
    if (!existsSync(directory) || !statSync(directory).isDirectory()) throw error;
  }
};

/** Readers see the old file or the new one, never a part. Throws the error of the operating system. */
export const writeAtomically = (file: string, text: string, mode: number): void => {
  const draft = path.join(path.dirname(file), `.${randomUUID()}`);
  try {
    writeFileSync(draft, text, { flag: 'wx', mode });
    renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
};
