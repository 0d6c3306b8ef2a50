import { requestedPasses } from '../requested-passes.mjs';
import { withWorld } from '../world.mjs';

export const about = 'the same where 700 of the templates have a difference that nobody writes';
export const target = 40;
export const unit = 'ms';

export const measure = () =>
  withWorld({ templates: 1_000, records: 100 }, async (world) => {
    const differing = world.wanted.with(50, { ...world.wanted[50], type: 'A', content: '198.51.100.1' });
    for (let index = 0; index < 700; index += 1) await world.write(index, differing);
    return requestedPasses({ ...world, env: { ...world.env, DNS_SYNC_MODE: 'report' } }, 'drifted');
  });
