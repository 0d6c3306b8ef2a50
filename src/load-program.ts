import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Script } from 'node:vm';
import type * as Program from './program.ts';

/**
 * Loads the built program, a single file, with its V8 code cache. Another version of V8 rejects the cache and compiles,
 * which only takes longer.
 */
export const loadProgram = (): typeof Program => {
  const cachedData = compiled();
  const script = new Script(readFileSync(file, 'latin1'), {
    filename: file,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  const module = { exports: {} };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the form that the build gives it
  const program = script.runInThisContext() as (...scope: unknown[]) => void;
  program(module.exports, createRequire(file), module, file, import.meta.dirname);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what that program exports
  return module.exports as typeof Program;
};

const file = path.join(import.meta.dirname, 'program.cjs');

const compiled = (): Buffer | undefined => {
  try {
    return readFileSync(path.join(import.meta.dirname, 'program.cache'));
  } catch {
    return undefined;
  }
};
