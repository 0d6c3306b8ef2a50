import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { built } from '../built.ts';
import { newFolder } from '../state/samples.ts';

export interface Worker {
  readonly signal: (name: NodeJS.Signals) => void;
  /** What it said, once it has ended. */
  readonly ended: Promise<string>;
  /** What it said so far. */
  readonly output: () => string;
}

/** The built program as a worker: of `folder`, with this environment. */
export const startWorker = (
  args: readonly string[],
  { cwd, env, folder = built('') }: { cwd: string; env: Readonly<Record<string, string>>; folder?: string },
): Worker => {
  const child = spawn(process.execPath, [path.join(folder, 'main.js'), ...args], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: cwd, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece: Buffer) => (said += String(piece)));
  const ended = once(child, 'close').then(() => said);
  // One that is stopped would not end by anything else.
  onTestFinished(() => void child.kill('SIGKILL'));
  return { signal: (name) => void child.kill(name), ended, output: () => said };
};

/** The built program with one thing of it changed. */
export const mutatedProgram = (from: string, to: string): string => {
  const place = newFolder();
  const folder = path.join(place, 'dist');
  cpSync(built(''), folder, { recursive: true });
  for (const name of ['node_modules', 'package.json'])
    symlinkSync(path.resolve(name), path.join(place, name));
  const file = path.join(folder, 'program.cjs');
  const parts = readFileSync(file, 'utf8').split(from);
  if (parts.length !== 2) throw new Error(`${from} stands ${parts.length - 1} times in the program`);
  writeFileSync(file, parts.join(to));
  // What V8 made of the other one.
  rmSync(path.join(folder, 'program.cache'));
  return folder;
};
