import { escapeControl } from '../lib/escape-control.ts';

export interface Progress {
  /** Something that has happened, in a line that stays. */
  readonly tell: (text: string) => void;
  /** What is waited for. */
  readonly note: (text: string) => void;
  close(): void;
}

/** Says on stderr what a pass does and waits for. On a terminal, one line besides tells that it is at work. */
export const showProgress = (verb: string): Progress => {
  const { stderr } = process;
  if (!stderr.isTTY) {
    const say = (text: string): void => void stderr.write(`${escapeControl(text)}\n`);
    return { tell: say, note: say, close: () => undefined };
  }
  const started = performance.now();
  let note = '';
  let isShown = false;
  const clear = (): void => {
    if (isShown) stderr.write('\r\x1b[K');
    isShown = false;
  };
  const show = (): void => {
    const seconds = Math.round((performance.now() - started) / 1_000);
    stderr.write(`\r\x1b[K${note || `${verb} …`} ${seconds} s`);
    isShown = true;
  };
  const timer = setInterval(show, 1_000).unref();
  return {
    tell: (text) => {
      clear();
      note = '';
      stderr.write(`${escapeControl(text)}\n`);
    },
    note: (text) => {
      note = escapeControl(text);
      show();
    },
    close: () => {
      clearInterval(timer);
      clear();
    },
  };
};
