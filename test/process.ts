import { spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { built } from './built.ts';
import { environmentOf, following, type Ended, type Launch, type Program } from './program.ts';

/*
 * The built program in a process of its own: for what is a matter of the process, as signals, a terminal, a lock between
 * two, a reader that goes away, or how it starts.
 */

const main = built('main.js');

/** How a process is another one than we. */
export interface Rights {
  /** Of another build. */
  readonly script?: string;
  /** For a root without special rights. */
  readonly uid?: number;
  /** Bytes that each of its files can have at most, as on a full disk; a multiple of 1024. */
  readonly fileLimit?: number;
}

export const startProcess = (args: readonly string[], launch: Launch, rights: Rights = {}): Program =>
  startCommand([process.execPath, rights.script ?? main, ...args], launch, rights);

/** Runs it to its end. */
export const runProcess = (args: readonly string[], launch: Launch, rights: Rights = {}): Promise<Ended> =>
  startProcess(args, launch, rights).ended;

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
  words: readonly string[],
  launch: Launch,
  { uid, fileLimit }: Rights = {},
): Program => {
  const { hear, end, fail, program } = following();
  const limited = `trap '' XFSZ; ulimit -f ${(fileLimit ?? 0) / 1_024}; exec "$@"`;
  const [command = '', ...args] =
    fileLimit === undefined ? words : ['bash', '-c', limited, 'limited', ...words];
  const as = uid === undefined ? {} : { uid, gid: uid };
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
