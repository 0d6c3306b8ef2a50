import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { built } from '../built.ts';
import { newFolder } from '../state/samples.ts';

/** The built program with some things of it changed: each is the text that stands there once, and the one in its place. */
export const mutatedProgram = (...changes: readonly (readonly [from: string, to: string])[]): string => {
  const place = newFolder();
  const folder = path.join(place, 'dist');
  cpSync(built(''), folder, { recursive: true });
  for (const name of ['node_modules', 'package.json'])
    symlinkSync(path.resolve(name), path.join(place, name));
  const file = path.join(folder, 'program.cjs');
  let program = readFileSync(file, 'utf8');
  for (const [from, to] of changes) {
    const parts = program.split(from);
    if (parts.length !== 2) throw new Error(`${from} stands ${parts.length - 1} times in the program`);
    program = parts.join(to);
  }
  writeFileSync(file, program);
  // What V8 made of the other one.
  rmSync(path.join(folder, 'program.cache'));
  return folder;
};
