import { once } from 'node:events';
import path from 'node:path';
import { median } from '../statistics.mjs';
import { withDaemon } from '../daemon.mjs';
import { withWorld } from '../world.mjs';

export const about = "99th percentile of the daemon's event-loop delay while 100,000 records load";
export const target = 25;
export const unit = 'ms';

const nodeOptions = ['--import', path.join(import.meta.dirname, '../loop-delay.mjs')];

export const measure = async () => {
  const all = [];
  for (let round = 0; round < 5; round += 1) {
    all.push(
      await withWorld({ templates: 1_000, records: 100 }, ({ cwd, env }) =>
        withDaemon([], { cwd, env, nodeOptions, channel: true }, async ({ child, passed }) => {
          child.send('begin');
          await passed('startup');
          const told = once(child, 'message');
          child.send('end');
          return (await told)[0];
        }),
      ),
    );
  }
  return {
    value: median(all.map(({ p99 }) => p99)),
    longestMs: median(all.map(({ longest }) => longest)),
    all,
  };
};
