import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { triggerToken } from './world.mjs';

/** Of another build where BUILT_PROGRAM names its folder. */
export const built = path.resolve(
  process.env.BUILT_PROGRAM ?? path.join(import.meta.dirname, '../../dist'),
  'main.js',
);

/**
 * The daemon, for the time of `task`, which begins when it has started. Its log goes to a file: a pipe would take
 * as long as somebody takes to read it.
 */
export const withDaemon = async (args, { cwd, env = {} }, task) => {
  const file = path.join(cwd, '.log');
  const log = await open(file, 'w+');
  const child = spawn(
    process.execPath,
    [built, 'run', '--listen', '127.0.0.1:0', '--schedule', '0 0 29 2 *', ...args],
    {
      cwd,
      env: { PATH: process.env.PATH, HOME: cwd, ...env },
      stdio: ['ignore', log.fd, 'ignore'],
    },
  );
  const ended = once(child, 'exit');
  const line = lineReader(log, child);
  try {
    const { listen } = await line('daemon.started', () => true);
    return await task({
      listen,
      child,
      /** Resolves with the log line when a pass with this trigger has begun. */
      begun: (trigger) => line('pass.started', (found) => found.trigger === trigger),
      /** Resolves with the log line when a pass with this trigger has ended. */
      passed: (trigger) => line('pass.finished', (found) => found.trigger === trigger),
      metric: async (name) => {
        const text = await (await fetch(`${listen}/metrics`)).text();
        return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)[1]);
      },
      request: () =>
        fetch(`${listen}/api/reconcile`, {
          method: 'POST',
          headers: { authorization: `Bearer ${triggerToken}` },
        }),
    });
  } finally {
    child.kill('SIGTERM');
    await ended;
    await log.close();
    await rm(file);
  }
};

/** Gives the next line of an event, from where the last one was found; most lines are not even looked at. */
const lineReader = (log, child) => {
  let lines = [].values();
  let rest = '';
  let position = 0;
  const buffer = Buffer.alloc(1 << 20);
  const more = async () => {
    const { bytesRead } = await log.read(buffer, 0, buffer.length, position);
    position += bytesRead;
    const parts = (rest + buffer.toString('utf8', 0, bytesRead)).split('\n');
    rest = parts.pop();
    lines = parts.values();
    if (bytesRead === 0 && child.exitCode !== null) throw new Error('the daemon ended early');
    if (bytesRead === 0) await setTimeout(1);
  };
  return async (event, matches) => {
    const mark = `"event":"${event}"`;
    for (;;) {
      for (let next = lines.next(); !next.done; next = lines.next()) {
        const found = next.value.includes(mark) ? JSON.parse(next.value) : null;
        if (found !== null && matches(found)) return { ...found, at: Date.parse(found.time) };
      }
      await more();
    }
  };
};
