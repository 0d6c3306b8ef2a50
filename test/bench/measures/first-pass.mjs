import { withDaemon } from '../daemon.mjs';
import { median } from '../statistics.mjs';
import { withWorld } from '../world.mjs';

export const about =
  'first pass of a daemon, 1,000 templates × 100 records, without the wait between its readings';
export const target = 2.5;
export const unit = 's';
/** What a profile shows where the target is missed. */
export const why =
  'of some 5 s of processor three tenths save what was seen of 100,000 records, a quarter is garbage, three tenths read ' +
  'and understand the files, and a tenth plans';

export const measure = async () => {
  const all = [];
  for (let round = 0; round < 5; round += 1)
    all.push(
      await withWorld({ templates: 1_000, records: 100 }, ({ cwd, env }) =>
        withDaemon([], { cwd, env }, async ({ passed }) => (await passed('startup')).durationMs / 1_000),
      ),
    );
  return { value: median(all), all };
};
