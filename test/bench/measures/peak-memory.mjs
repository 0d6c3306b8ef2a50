import { peakMemory } from '../commands.mjs';
import { median } from '../statistics.mjs';
import { withWorld } from '../world.mjs';

export const about = 'most resident memory of a cold plan of 1,000 templates × 100 records';
export const target = 400;
export const unit = 'MiB';

export const measure = () =>
  withWorld({ templates: 1_000, records: 100 }, async ({ cwd, env }) => {
    const peaks = [];
    for (let round = 0; round < 5; round += 1) peaks.push(await peakMemory(['plan'], { cwd, env }));
    return { value: median(peaks), peaks };
  });
