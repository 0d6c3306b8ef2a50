import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { withDaemon } from '../daemon.mjs';
import { median } from '../statistics.mjs';

export const about = 'resident memory of the idle daemon on the examples';
export const target = 90;
export const unit = 'MiB';
/** What a profile shows where the target is missed. */
export const why =
  'bare node takes 40 MiB and SQLite 10; 14 are live objects, most of them code and schemas, and 16 a young ' +
  'generation that V8 keeps as large as the start needed it';

export const measure = async () => {
  const all = [];
  for (let round = 0; round < 5; round += 1) all.push(await idle());
  return { value: median(all), all };
};

const idle = async () => {
  const cwd = await mkdtemp(path.join(tmpdir(), 'bench-'));
  try {
    await cp(path.join(import.meta.dirname, '../../../templates'), path.join(cwd, 'templates'), {
      recursive: true,
    });
    return await withDaemon(['--sandbox', '--state-dir', '.state'], { cwd }, async ({ listen, passed }) => {
      await passed('startup');
      // V8 gives back what the start needed when nothing has happened for some eight seconds.
      await setTimeout(12_000);
      const metrics = await (await fetch(`${listen}/metrics`)).text();
      return Number(/^process_resident_memory_bytes (\S+)$/m.exec(metrics)[1]) / 2 ** 20;
    });
  } finally {
    await rm(cwd, { recursive: true });
  }
};
