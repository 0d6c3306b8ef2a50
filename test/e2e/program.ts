import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { reportSchema, type Report } from '../../src/report/report.ts';
import { built } from '../built.ts';

const main = built('main.js');
const examples = fileURLToPath(new URL('../../templates', import.meta.url));

/** A directory of its own, gone after the test. With the example templates it is what `npm start` would see. */
export const workplace = async ({ withExamples = true } = {}): Promise<string> => {
  const directory = await mkdtemp(path.join(tmpdir(), 'dns-template-sync-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  if (withExamples) await cp(examples, path.join(directory, 'templates'), { recursive: true });
  return directory;
};

/** Saves an example template as most editors do: another file takes the place of the first one. */
export const edit = async (cwd: string, name: string, from: string, to: string): Promise<void> => {
  const file = path.join(cwd, 'templates', name);
  const text = (await readFile(file, 'utf8')).replace(from, to);
  await writeFile(`${file}~`, text);
  await rename(`${file}~`, file);
};

export interface Launch {
  /** The working directory; the program's memory is in `state` below it. */
  readonly cwd: string;
  /** Beside the little that a program cannot do without. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface Ended {
  /** Null where a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** One line of the daemon's log. */
export type LogLine = Readonly<Record<string, unknown>>;

export interface Program {
  readonly ended: Promise<Ended>;
  /** The next line with this event that was not asked for before. */
  readonly event: (name: string, matches?: (line: LogLine) => boolean) => Promise<LogLine>;
  /** Resolves when stdout or stderr holds the text, after the first characters where a number is given. */
  readonly says: (text: string, after?: number) => Promise<void>;
  /** What stdout and stderr hold so far. */
  readonly output: () => string;
  readonly signal: (name: NodeJS.Signals) => void;
  readonly type: (text: string) => void;
}

/** The built program as a user runs it, in an environment of nothing but what is given. */
export const start = (args: readonly string[], launch: Launch, script = main): Program =>
  startCommand([process.execPath, script, ...args], launch);

/** Runs it to its end. */
export const run = (args: readonly string[], launch: Launch): Promise<Ended> => start(args, launch).ended;

/** The same, or another script, under a terminal of its own, 100 columns wide, whose output is all in `stdout`. */
export const startOnTerminal = (args: readonly string[], launch: Launch, script = main): Program =>
  startCommandOnTerminal([process.execPath, script, ...args], launch);

export const startCommandOnTerminal = (words: readonly string[], launch: Launch): Program => {
  const command = `stty cols 100 && exec ${words.map((word) => `'${word}'`).join(' ')}`;
  return process.platform === 'darwin'
    ? startCommand(['script', '-q', '/dev/null', '/bin/sh', '-c', command], launch)
    : startCommand(['script', '-qec', command, '/dev/null'], launch);
};

const startCommand = ([command = '', ...args]: readonly string[], { cwd, env = {} }: Launch): Program => {
  const { PATH = '' } = process.env;
  const state = path.join(cwd, 'state');
  const child = spawn(command, args, {
    cwd,
    env: { PATH, HOME: cwd, DNS_SYNC_STATE_DIR: state, DNS_SYNC_SETTLE: '0s', ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let stdout = '';
  let stderr = '';
  let isOver = false;
  const emitter = new EventEmitter().setMaxListeners(0);
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    emitter.emit('news');
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    emitter.emit('news');
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      isOver = true;
      emitter.emit('news');
      resolve({ code, stdout, stderr });
    });
  });
  const until = async <T>(find: () => T | null, what: string): Promise<T> => {
    for (;;) {
      const found = find();
      if (found !== null) return found;
      if (isOver) throw new Error(`the program ended before ${what}; it said:\n${stdout}${stderr}`);
      await once(emitter, 'news');
    }
  };
  const output = (): string => stdout + stderr;
  let read = 0;
  return {
    ended,
    event: (name, matches = () => true) =>
      until(() => {
        const lines = stdout.split('\n').slice(0, -1).map(parseLine);
        const at = lines.findIndex((line, index) => index >= read && line['event'] === name && matches(line));
        if (at >= 0) read = at + 1;
        return lines[at] ?? null;
      }, `the event ${name}`),
    says: async (text, after = 0) =>
      void (await until(() => (output().includes(text, after) ? true : null), text)),
    output,
    signal: (name) => void child.kill(name),
    type: (text) => void child.stdin.write(text),
  };
};

/** Every line of the daemon says what it is about. */
export const parseLine = (text: string): LogLine => {
  const line: LogLine = JSON.parse(text);
  if (typeof line['event'] !== 'string') throw new Error(`a log line without an event: ${text}`);
  return line;
};

/** Its whole log so far. */
export const linesOf = (program: Program): LogLine[] => program.output().trimEnd().split('\n').map(parseLine);

/** A report as another program reads it. Throws where it is not in the form that was promised. */
export const reportOf = (text: string): Report => reportSchema.parse(JSON.parse(text));

/** Every file below a directory, byte by byte as characters: what a secret could have got into. */
export const textsBelow = async (directory: string): Promise<Record<string, string>> => {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
  const texts = files.map(async (file) => [file, await readFile(file, 'latin1')] as const);
  return Object.fromEntries(await Promise.all(texts));
};
