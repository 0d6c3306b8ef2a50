import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { median } from '../statistics.mjs';

export const about = 'planning alone, 1,000,000 records against 100,000, in templates of 25,000';
export const target = 11;
export const unit = '×';
/** What a profile shows where the target is missed. */
export const why =
  'planning itself grows tenfold; collecting garbage takes a twelfth of the time at 100,000 records, and a sixth at ' +
  '1,000,000, where all plans are held at once';

/** In turns, each in a process of its own, so that both see the same machine and neither the other's garbage. */
export const measure = async () => {
  const few = await planner(100_000);
  const many = await planner(1_000_000);
  const [growths, fewTimes, manyTimes] = [[], [], []];
  for (let round = -warmUp; round < rounds; round += 1) {
    const before = await few.plan();
    const between = await many.plan();
    const after = await few.plan();
    if (round < 0) continue;
    growths.push(between / ((before + after) / 2));
    fewTimes.push(before, after);
    manyTimes.push(between);
  }
  few.close();
  many.close();
  return { value: median(growths), fewMs: median(fewTimes), manyMs: median(manyTimes), growths };
};

const warmUp = 2;
const rounds = 9;

const planner = async (records) => {
  const child = fork(path.join(import.meta.dirname, '../plan-only.mjs'), {
    execArgv: ['--max-old-space-size=8192'],
    env: { ...process.env, RECORDS: String(records) },
  });
  const answer = async () => (await once(child, 'message'))[0];
  await answer();
  return {
    plan: () => {
      child.send('plan');
      return answer();
    },
    close: () => child.disconnect(),
  };
};
