import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

export const about = 'planning alone, 1,000,000 records against 100,000, in templates of 25,000';
export const target = 11;
export const unit = '×';
/** What a profile shows where the target is missed. */
export const why =
  'planning is linear; a heap ten times as large is collected less cheaply, and caches hold less of it';

export const measure = async () => {
  const child = fork(path.join(import.meta.dirname, '../plan-only.mjs'), {
    execArgv: ['--max-old-space-size=8192'],
  });
  const [{ few, many }] = await once(child, 'message');
  child.disconnect();
  return { value: many / few, fewMs: few, manyMs: many };
};
