import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

export const about = 'planning alone, 1,000,000 records against 100,000, in templates of 25,000';
export const target = 11;
export const unit = '×';
/** What a profile shows where the target is missed. */
export const why =
  'planning itself grows tenfold or less; collecting garbage takes two fifths of the time at 100,000 records, and ' +
  'more than half at 1,000,000, where all plans are held at once';

export const measure = async () => {
  const child = fork(path.join(import.meta.dirname, '../plan-only.mjs'), {
    execArgv: ['--max-old-space-size=8192'],
  });
  const [{ few, many }] = await once(child, 'message');
  child.disconnect();
  return { value: many / few, fewMs: few, manyMs: many };
};
