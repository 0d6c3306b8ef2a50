#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Script } from 'node:vm';
import { readVersion } from './version.ts';

/*
 * Starts the built program, a single file, with its V8 code cache. Another version of V8 rejects the cache
 * and compiles, which only takes longer.
 */

const file = path.join(import.meta.dirname, 'program.cjs');

const compiled = (): Buffer | undefined => {
  try {
    return readFileSync(path.join(import.meta.dirname, 'program.cache'));
  } catch {
    return undefined;
  }
};

const run = (): void => {
  const cachedData = compiled();
  const script = new Script(readFileSync(file, 'latin1'), {
    filename: file,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  const module = { exports: {} };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the form that the build gives it
  const program = script.runInThisContext() as (...scope: unknown[]) => void;
  program(module.exports, createRequire(file), module, file, import.meta.dirname);
};

const [word, ...others] = process.argv.slice(2);
// Needs no program.
if (word === '--version' && others.length === 0)
  process.stdout.on('error', () => undefined).write(`${readVersion()}\n`);
else run();
