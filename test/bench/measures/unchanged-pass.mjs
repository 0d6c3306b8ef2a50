import { requestedPasses } from '../requested-passes.mjs';
import { withWorld } from '../world.mjs';

export const about = 'unchanged pass, 1,000 templates × 100 records, beyond the same HTTP calls';
export const target = 10;
export const unit = 'ms';
/** What a profile shows where the target is missed. */
export const why =
  'of some 16 ms, 4 write a thousand drift reports to the log, 4 look whether a thousand files have changed, 3 take in ' +
  'and compare the listing, 2 are garbage; the rest is a request that asks for the pass, and the lock and memory';

export const measure = () =>
  withWorld({ templates: 1_000, records: 100 }, (world) => requestedPasses(world, 'in-sync'));
