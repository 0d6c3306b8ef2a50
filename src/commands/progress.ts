import { escapeControl } from '../lib/escape-control.ts';

export interface Progress {
  /** Prints a line that stays. */
  readonly print: (text: string) => void;
  /** Shows what the pass waits for. */
  readonly status: (text: string) => void;
  close(): void;
}

/** Shows on stderr what a pass does and waits for; on a terminal also that it is running. */
export const showProgress = (verb: string): Progress => {
  const { stderr } = process;
  if (!stderr.isTTY) {
    const say = (text: string): void => void stderr.write(`${escapeControl(text)}\n`);
    return { print: say, status: say, close: () => undefined };
  }
  const started = performance.now();
  let status = '';
  let isShown = false;
  const clear = (): void => {
    if (isShown) stderr.write('\r\x1b[K');
    isShown = false;
  };
  const show = (): void => {
    const seconds = Math.round((performance.now() - started) / 1_000);
    stderr.write(`\r\x1b[K${status || `${verb} …`} ${seconds} s`);
    isShown = true;
  };
  const timer = setInterval(show, 1_000).unref();
  return {
    print: (text) => {
      clear();
      status = '';
      stderr.write(`${escapeControl(text)}\n`);
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
