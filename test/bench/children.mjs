import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';

/** Of another build where BUILT_PROGRAM names its folder. */
export const built = path.resolve(
  process.env.BUILT_PROGRAM ?? path.join(import.meta.dirname, '../../dist'),
  'main.js',
);

/** The built program in a process of its own. `line` resolves with what `look` makes of the first line it likes. */
export const startProgram = (
  args,
  { env = {}, cwd = process.cwd(), nodeOptions = [], channel = false } = {},
) => {
  const child = spawn(process.execPath, [...nodeOptions, built, ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, ...env },
    stdio: ['ignore', 'pipe', 'ignore', ...(channel ? ['ipc'] : [])],
  });
  const ended = once(child, 'exit').then(([code]) => code);
  const lines = createInterface({ input: child.stdout });
  return {
    child,
    ended,
    end: () => void child.kill('SIGTERM'),
    line: (look) =>
      new Promise((resolve, reject) => {
        const read = (text) => {
          const found = look(text);
          if (found === null) return;
          lines.off('line', read);
          resolve(found);
        };
        lines.on('line', read);
        void ended.then((code) => reject(new Error(`the program ended early, with ${code}`)));
      }),
  };
};

/** The next line of the daemon's log with this event. */
export const eventLine =
  (event, matches = () => true) =>
  (text) => {
    const line = JSON.parse(text);
    return line.event === event && matches(line) ? line : null;
  };
