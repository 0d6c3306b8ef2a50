import { createInterface } from 'node:readline/promises';
import { escapeControl } from '../lib/escape-control.ts';

export interface Progress {
  /** Prints a line that stays. */
  readonly print: (text: string) => void;
  /** Shows what the pass waits for. */
  readonly status: (text: string) => void;
  close(): void;
}

/** Shows on stderr what a pass does and waits for; on a terminal also that it is running. */
export const showProgress = (doing: string): Progress => {
  const { stderr } = process;
  if (!stderr.isTTY) return { print: printLine, status: printLine, close: () => undefined };
  const started = performance.now();
  let status = '';
  const show = (): void => {
    const seconds = Math.round((performance.now() - started) / 1_000);
    stderr.write(`${clearedLine}${status || `${doing} …`} ${seconds} s`);
    isShown = true;
  };
  const timer = setInterval(show, interval).unref();
  return {
    print: (text) => {
      status = '';
      printLine(text);
    },
    status: (text) => {
      status = escapeControl(text);
      show();
    },
    close: () => {
      clearInterval(timer);
      clear();
    },
  };
};

/** Shows on a terminal that a task is running. */
export const whileShown = async <T>(doing: string, task: () => Promise<T>): Promise<T> => {
  const progress = showProgress(doing);
  try {
    return await task();
  } finally {
    progress.close();
  }
};

/** Prints a line to stderr, in place of the progress that may be shown there. */
export const printLine = (text: string): void => {
  clear();
  process.stderr.write(`${escapeControl(text)}\n`);
};

const clear = (): void => {
  if (isShown) process.stderr.write(clearedLine);
  isShown = false;
};

let isShown = false;

/** Milliseconds. */
const interval = 500;

const clearedLine = '\r\x1b[K';

/** Asks on the terminal; only yes means yes. */
export const confirm = async (question: string): Promise<boolean> => {
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await prompt.question(`${question} [y/N] `);
    return /^y(es)?$/i.test(answer.trim());
  } catch (error) {
    // Ctrl-C and Ctrl-D mean no.
    if (error instanceof Error && error.name === 'AbortError') {
      process.stderr.write('\n');
      return false;
    }
    throw error;
  } finally {
    prompt.close();
  }
};
