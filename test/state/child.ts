import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import { built } from '../built.ts';

export interface Child {
  readonly pid: number;
  /** The next line that it printed; null when it has ended. */
  readonly line: () => Promise<string | null>;
  /** Resolves when it is dead. */
  readonly kill: (signal: NodeJS.Signals) => Promise<void>;
  readonly ended: Promise<unknown>;
}

/**
 * Another process that runs a script against the built program: `load(file)` imports one of its modules, `opened(file,
 * name)` is as in samples.ts.
 */
export const startChild = (script: string, ...args: readonly string[]): Child => {
  const load = `const load = (file) => import(${JSON.stringify(pathToFileURL(built('tests')).href)} + '/' + file);
    const opened = async (file, name = 'client') => {
      const { systemClock } = await load('lib/clock.mjs');
      const { StateFile } = await load('state/state-file.mjs');
      const { storeLocation } = await load('state/store-location.mjs');
      const { clientMemory } = await load('state/client-memory.mjs');
      const owner = { stateDir: '.', baseUrl: 'https://panel.example.net/api/v1', name };
      const state = new StateFile(file, systemClock);
      const memory = clientMemory(await state.begin(), storeLocation(owner, '', false));
      return { ...memory, close: () => state.close('now') };
    };`;
  // Few enough that a script can open all that it may.
  const limited = ['-c', 'ulimit -n 256; exec "$@"', 'limited', process.execPath];
  const child = spawn('sh', [...limited, '--input-type=module', '-e', load + script, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = once(child, 'exit');
  return {
    pid: child.pid ?? 0,
    line: async () => {
      const { value, done } = await lines.next();
      return done ? null : value;
    },
    kill: async (signal) => {
      child.kill(signal);
      await ended;
    },
    ended,
  };
};
