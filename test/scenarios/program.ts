import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { Script } from 'node:vm';
import { built } from '../built.ts';

/** The built program by its door, which is all that scenarios know of it; loaded once. */
const program = (): { readonly main: (words: readonly string[], io: unknown) => Promise<number> } => {
  const file = built('program.cjs');
  const module = { exports: {} };
  const load = new Script(readFileSync(file, 'utf8'), { filename: file }).runInThisContext() as Function;
  load(module.exports, createRequire(file), module, file, path.dirname(file));
  return module.exports as ReturnType<typeof program>;
};
const { main } = program();

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A clock that stands still, but for who moves it: whoever sleeps finds that the time has gone by. */
export interface Clock {
  readonly now: () => number;
  readonly uptime: () => { readonly boot: string; readonly at: number };
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Lets time go by. */
  readonly wait: (milliseconds: number) => void;
  /** Sets the wall clock alone. */
  readonly jump: (milliseconds: number) => void;
}

export const createClock = (): Clock => {
  let [wall, monotonic] = [Date.UTC(2026, 10, 20, 20), 1_000_000];
  const jump = (milliseconds: number): void => void (wall += milliseconds);
  const wait = (milliseconds: number): void => {
    jump(milliseconds);
    monotonic += milliseconds;
  };
  return {
    now: () => wall,
    uptime: () => ({ boot: 'one', at: monotonic }),
    sleep: async (milliseconds) => wait(milliseconds),
    wait,
    jump,
  };
};

export interface Launch {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
}

/** Runs a command to its end. */
export const run = async (words: readonly string[], { cwd, env, clock }: Launch): Promise<Ended> => {
  const [stdout, stderr] = [collector(), collector()];
  const code = await main(words, {
    stdout: stdout.stream,
    stderr: stderr.stream,
    stdin: new PassThrough().end(),
    env: { HOME: cwd, ...env },
    cwd,
    signals: {
      untilStop: () => new Promise(() => undefined),
      onHangup: () => undefined,
      onDebugger: () => undefined,
    },
    clock,
    ownsProcess: false,
  });
  return { code, stdout: stdout.text(), stderr: stderr.text() };
};

const collector = () => {
  const chunks: string[] = [];
  const stream = new PassThrough({ encoding: 'utf8' }).on('data', (chunk: string) => chunks.push(chunk));
  return { stream, text: () => chunks.join('') };
};
