export interface Progress {
  readonly count: () => void;
  readonly note: (text: string) => void;
  close(): void;
}

/** On a terminal, a pass that takes longer than a second says on stderr that it is at work. */
export const showProgress = (verb: string): Progress => {
  const { stderr } = process;
  if (!stderr.isTTY)
    return { count: () => undefined, note: (text) => void stderr.write(`${text}\n`), close: () => undefined };
  const started = performance.now();
  let written = 0;
  let note = '';
  const show = (): void => {
    const seconds = Math.round((performance.now() - started) / 1_000);
    const writes = written > 0 ? `, ${written} written` : '';
    stderr.write(`\r\x1b[K${note || `${verb} …`} ${seconds} s${writes}`);
  };
  const timer = setInterval(show, 1_000).unref();
  return {
    count: () => void (written += 1),
    note: (text) => void (note = text),
    close: () => {
      clearInterval(timer);
      if (performance.now() - started >= 1_000) stderr.write('\r\x1b[K');
    },
  };
};
