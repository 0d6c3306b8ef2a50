import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/**
 * What `npm test` runs: with room for a slow machine, and the same properties each time. Most tests wait for programs
 * that they start, so there is one worker more than processors; and no file needs modules of its own.
 */
export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    setupFiles: ['test/seed.ts'],
    isolate: false,
    maxWorkers: availableParallelism() + 1,
  },
});
