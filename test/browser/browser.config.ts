import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** The status page in a real browser, which `npm test` does not ask for. Tests wait much: a worker for each processor. */
export default defineConfig({
  test: {
    include: ['test/browser/*.browser.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: availableParallelism(),
  },
});
