import { createInterface } from 'node:readline/promises';
import type { Logger } from 'pino';
import type { Io, Output } from '../io.ts';
import { escapeControl } from '../lib/escape-control.ts';

export interface Progress {
  /** Prints a line that stays. */
  readonly print: (text: string) => void;
  /** Shows what the pass waits for. */
  readonly status: (text: string) => void;
  close(): void;
}

/** Shows on stderr what a pass does and waits for; on a terminal also that it is running. */
export const showProgress = (io: Errors, doing: string): Progress => {
  const { stderr } = io;
  const print = (text: string): void => printLine(io, text);
  if (stderr.isTTY !== true) return { print, status: print, close: () => undefined };
  const started = performance.now();
  let status = '';
  const show = (): void => {
    const seconds = Math.round((performance.now() - started) / 1_000);
    stderr.write(`${clearedLine}${status || `${doing} …`} ${seconds} s`);
    showing.add(stderr);
  };
  const timer = setInterval(show, interval).unref();
  return {
    print: (text) => {
      status = '';
      print(text);
    },
    status: (text) => {
      status = escapeControl(text);
      show();
    },
    close: () => {
      clearInterval(timer);
      clear(stderr);
    },
  };
};

/** Shows on a terminal that a task is running. */
export const whileShown = async <T>(io: Errors, doing: string, task: () => Promise<T>): Promise<T> => {
  const progress = showProgress(io, doing);
  try {
    return await task();
  } finally {
    progress.close();
  }
};

/** Prints a line to stderr, in place of the progress that may be shown there. */
export const printLine = ({ stderr }: Errors, text: string): void => {
  clear(stderr);
  stderr.write(`${escapeControl(text)}\n`);
};

type Errors = Pick<Io, 'stderr'>;

const clear = (stderr: Output): void => {
  if (showing.delete(stderr)) stderr.write(clearedLine);
};

/** The terminals that show progress at the moment. */
const showing = new WeakSet<Output>();

/** Milliseconds. */
const interval = 500;

const clearedLine = '\r\x1b[K';

/** Whether somebody can be asked, who also sees the plan. */
export const canAsk = ({ stdin, stdout }: Pick<Io, 'stdin' | 'stdout'>): boolean =>
  stdin.isTTY === true && stdout.isTTY === true;

/** Asks on the terminal; only yes means yes. */
export const confirm = async (
  { stdin, stderr }: Pick<Io, 'stdin' | 'stderr'>,
  question: string,
): Promise<boolean> => {
  const prompt = createInterface({ input: stdin, output: stderr });
  try {
    const answer = await prompt.question(`${question} [y/N] `);
    return /^y(es)?$/i.test(answer.trim());
  } catch (error) {
    // Ctrl-C and Ctrl-D mean no.
    if (error instanceof Error && error.name === 'AbortError') {
      stderr.write('\n');
      return false;
    }
    throw error;
  } finally {
    prompt.close();
  }
};

/** Tells people what is not part of a result. `client`: null if it is about the whole program. */
export type Warn = (message: string, client: string | null, level?: 'info' | 'warn' | 'error') => void;

/** For the person who runs the program, whatever becomes of its log. */
export const saidOn =
  (io: Pick<Io, 'stderr'>) =>
  (message: string): void =>
    printLine(io, `dns-template-sync: ${message}`);

export const loggedWarnings =
  (log: Logger): Warn =>
  (notice, client, level = 'warn') =>
    log[level]({ event: 'notice', ...(client === null ? {} : { client }), notice }, 'notice');

/** For the person who runs a command. What is true of several clients is said of the first of them. */
export const printedWarnings = (log: Logger, io: Pick<Io, 'stderr'>): Warn => {
  const said = new Set<string>();
  return (message, client, level = 'warn') => {
    if ((client !== null && !log.isLevelEnabled(level)) || said.has(message)) return;
    said.add(message);
    saidOn(io)(client === null || client === 'default' ? message : `${client}: ${message}`);
  };
};
