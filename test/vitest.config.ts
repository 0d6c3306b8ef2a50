import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { Order } from './order.ts';
import { slowest } from './slowest.ts';

/**
 * What `npm test` runs: with room for a slow machine, and the same properties each time. Many tests wait, for
 * timers and for processes, so there is one worker more than processors; and no file needs modules of its own, so each
 * worker loads the built program once.
 */
export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    setupFiles: ['test/seed.ts'],
    isolate: false,
    sequence: { sequencer: Order },
    reporters: ['default', slowest],
    maxWorkers: availableParallelism() + 1,
  },
});
