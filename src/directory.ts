import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a directory and its parents if they are missing. Node's own `recursive` never returns on a file
 * system such as `/proc` that cannot have one. Throws the error of the operating system.
 */
export const makeDirectory = (directory: string, mode = 0o777): void => {
  if (existsSync(directory) && statSync(directory).isDirectory()) return;
  const parent = dirname(directory);
  if (parent !== directory && !existsSync(parent)) makeDirectory(parent, mode);
  try {
    mkdirSync(directory, { mode });
  } catch (error) {
    // Another process made it meanwhile.
    if (!existsSync(directory) || !statSync(directory).isDirectory()) throw error;
  }
};
