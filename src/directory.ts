import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a directory, and those above it, where there is none. The `recursive` of Node.js never returns where a
 * file system such as `/proc` has no place for one. Throws the error of the operating system.
 */
export const makeDirectory = (directory: string, mode = 0o777): void => {
  if (existsSync(directory) && statSync(directory).isDirectory()) return;
  const parent = dirname(directory);
  if (parent !== directory && !existsSync(parent)) makeDirectory(parent, mode);
  try {
    mkdirSync(directory, { mode });
  } catch (error) {
    // Somebody else made it meanwhile.
    if (!existsSync(directory) || !statSync(directory).isDirectory()) throw error;
  }
};
