import { spawn, type SpawnOptions } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { built } from '../built.ts';
import { environmentOf, following, type Ended, type Launch, type Program } from './program.ts';

/*
 * The built program in a process of its own: for what is a matter of the process, as signals, a terminal, a lock between
 * two, a reader that goes away, or how it starts.
 */

const main = built('main.js');

export const startProcess = (args: readonly string[], launch: Launch, script = main): Program =>
  startCommand([process.execPath, script, ...args], launch);

/** Runs it to its end. */
export const runProcess = (args: readonly string[], launch: Launch, script = main): Promise<Ended> =>
  startProcess(args, launch, script).ended;

/** The same, or another script, under a terminal of its own, 100 columns wide, whose output is all in `stdout`. */
export const startOnTerminal = (args: readonly string[], launch: Launch, script = main): Program =>
  startCommandOnTerminal([process.execPath, script, ...args], launch);

export const startCommandOnTerminal = (words: readonly string[], launch: Launch): Program => {
  const command = `stty cols 100 && exec ${words.map((word) => `'${word}'`).join(' ')}`;
  return process.platform === 'darwin'
    ? startCommand(['script', '-q', '/dev/null', '/bin/sh', '-c', command], launch)
    : startCommand(['script', '-qec', command, '/dev/null'], launch);
};

export const startCommand = (
  [command = '', ...args]: readonly string[],
  launch: Launch,
  as: Pick<SpawnOptions, 'uid' | 'gid'> = {},
): Program => {
  const { hear, end, fail, program } = following();
  const child = spawn(command, args, { ...as, cwd: launch.cwd, env: environmentOf(launch) });
  onTestFinished(() => void child.kill('SIGKILL'));
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => hear(name, text));
  child.on('error', fail).on('close', end);
  return {
    ...program,
    signal: (name) => void child.kill(name),
    type: (text) => void child.stdin.write(text),
  };
};
