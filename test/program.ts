import { EventEmitter, once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { reportSchema } from '../src/report-schema.ts';
import type { Report } from '../src/result.ts';
import type { Options } from '../src/app/options.ts';
import type { Io, Signals } from '../src/io.ts';
import { systemClock, type Clock } from '../src/lib/clock.ts';
import { loadProgram } from '../src/load-program.ts';
import { built } from './built.ts';

const examples = fileURLToPath(new URL('../templates', import.meta.url));

/** A directory of its own, gone after the test. With the example templates it is what `npm start` would see. */
export const workplace = async ({ withExamples = true } = {}): Promise<string> => {
  const directory = await mkdtemp(path.join(tmpdir(), 'dns-template-sync-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  if (withExamples)
    await cp(examples, path.join(directory, 'templates'), { recursive: true, preserveTimestamps: true });
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
  /** By which it decides; default: that of the machine. */
  readonly clock?: Clock;
  /** Whether it takes what it is given for a terminal, 100 columns wide: its output is all in `stdout`. */
  readonly isTerminal?: boolean;
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
  /** The next line from now on that matches; null if it ends without. */
  readonly line: (matches: (line: LogLine) => boolean) => Promise<LogLine | null>;
  /** Resolves when stdout or stderr holds the text, after the first characters where a number is given. */
  readonly says: (text: string, after?: number) => Promise<void>;
  /** What stdout and stderr hold so far. */
  readonly output: () => string;
  readonly signal: (name: NodeJS.Signals) => void;
  readonly type: (text: string) => void;
}

/**
 * The built program as a user runs it, in an environment of nothing but what is given; but in this process, and loaded
 * once for all tests of a worker. Where a process is the matter, there is process.ts. `folder`: of another build.
 */
export const start = (args: readonly string[], launch: Launch, folder?: string): Program => {
  const { io, end, fail, program } = guest(launch);
  programIn(folder).main(args, io).then(end, fail);
  return program;
};

/** Runs it to its end. */
export const run = (args: readonly string[], launch: Launch, folder?: string): Promise<Ended> =>
  start(args, launch, folder).ended;

/** The environment that a program is given. */
export const environmentOf = ({ cwd, env = {} }: Launch): Record<string, string> => {
  const { PATH = '' } = process.env;
  return { PATH, HOME: cwd, DNS_SYNC_STATE_DIR: path.join(cwd, 'state'), DNS_SYNC_SETTLE: '0s', ...env };
};

/** The daemon of the built program as an object, once it has started. */
export const openDaemon = async (options: Options, launch: Launch) => {
  const { io, end, fail, program } = guest(launch);
  const daemon = await programIn().startDaemon(options, io);
  daemon.ended.then(() => end(0), fail);
  return { ...daemon, output: program.output };
};

/** What a program in this process is given, and what follows it. */
const guest = (launch: Launch) => {
  const { hear, end, fail, program } = following();
  const { isTerminal = false, clock = systemClock, cwd } = launch;
  const env = environmentOf(launch);
  const listeners = new EventEmitter();
  const stdin = new PassThrough();
  const hasColors = (): boolean => env['TERM'] !== undefined && env['NO_COLOR'] === undefined;
  const terminal = isTerminal ? { isTTY: true, columns: 100, hasColors } : {};
  const outputTo = (name: 'stdout' | 'stderr'): Writable =>
    Object.assign(
      heardBy((text) => hear(name, text)),
      terminal,
    );
  const io: Io = {
    stdout: outputTo('stdout'),
    stderr: outputTo(isTerminal ? 'stdout' : 'stderr'),
    stdin: Object.assign(stdin, isTerminal ? { isTTY: true } : {}),
    env,
    cwd,
    signals: signalsFrom(listeners),
    clock,
    ownsProcess: false,
  };
  const signal = (name: NodeJS.Signals): void => {
    if (!listeners.emit(name)) throw new Error(`nobody waits for ${name}: it would end a process`);
  };
  onTestFinished(async () => {
    if (listeners.emit('SIGTERM')) await program.ended;
  });
  return { io, end, fail, program: { ...program, signal, type: (text: string) => void stdin.write(text) } };
};

const programs = new Map<string, ReturnType<typeof loadProgram>>();

const programIn = (folder = built('')): ReturnType<typeof loadProgram> => {
  const program = programs.get(folder) ?? loadProgram(folder);
  programs.set(folder, program);
  return program;
};

const heardBy = (hear: (text: string) => void): Writable =>
  new Writable({
    decodeStrings: false,
    write: (text: string | Buffer, _, done) => {
      hear(String(text));
      done();
    },
  });

const signalsFrom = (listeners: EventEmitter): Signals => ({
  untilStop: () =>
    new Promise((resolve) => {
      for (const name of ['SIGTERM', 'SIGINT'] as const) listeners.once(name, () => resolve(name));
    }),
  onHangup: (call) => void listeners.on('SIGHUP', call),
  onDebugger: (call) => void listeners.on('SIGUSR1', call),
});

/** What is needed to follow a program: each text that it writes, and once how it ended. */
export const following = () => {
  const said = { stdout: '', stderr: '' };
  let isOver = false;
  const emitter = new EventEmitter().setMaxListeners(0);
  let [resolve, fail]: [(ended: Ended) => void, (error: unknown) => void] = [
    () => undefined,
    () => undefined,
  ];
  const ended = new Promise<Ended>((...settle) => ([resolve, fail] = settle));
  const until = async <T>(find: () => T | null, what: string): Promise<T> => {
    for (;;) {
      const found = find();
      if (found !== null) return found;
      if (isOver) throw new Error(`the program ended before ${what}; it said:\n${said.stdout}${said.stderr}`);
      await once(emitter, 'news');
    }
  };
  const parsed: LogLine[] = [];
  let parsedTo = 0;
  const lines = (): readonly LogLine[] => {
    for (let at = said.stdout.indexOf('\n', parsedTo); at >= 0; at = said.stdout.indexOf('\n', parsedTo)) {
      parsed.push(parseLine(said.stdout.slice(parsedTo, at)));
      parsedTo = at + 1;
    }
    return parsed;
  };
  const output = (): string => said.stdout + said.stderr;
  let read = 0;
  return {
    hear: (name: 'stdout' | 'stderr', text: string): void => {
      said[name] += text;
      emitter.emit('news');
    },
    end: (code: number | null): void => {
      isOver = true;
      resolve({ code, ...said });
      emitter.emit('news');
    },
    fail,
    program: {
      ended,
      event: (name, matches = () => true) =>
        until(() => {
          const all = lines();
          const at = all.findIndex((line, index) => index >= read && line['event'] === name && matches(line));
          if (at >= 0) read = at + 1;
          return all[at] ?? null;
        }, `the event ${name}`),
      line: async (matches) => {
        const from = lines().length;
        for (;;) {
          const found = lines().slice(from).find(matches);
          if (found !== undefined) return found;
          if (isOver) return null;
          await once(emitter, 'news');
        }
      },
      says: async (text, after = 0) =>
        void (await until(() => (output().includes(text, after) ? true : null), text)),
      output,
    } satisfies Omit<Program, 'signal' | 'type'>,
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

/** Every file below a directory, byte by byte as characters: what a secret could have got into. Files of SQLite may go. */
export const textsBelow = async (directory: string): Promise<Record<string, string>> => {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
  const texts = files.map(async (file) => [file, await readFile(file, 'latin1').catch(ignoreGone)] as const);
  return Object.fromEntries(await Promise.all(texts));
};

const ignoreGone = (error: unknown): string => {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
  throw error;
};
