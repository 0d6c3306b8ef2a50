import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/**
 * The rules against name servers and their tools as people run them, which `npm test` does not ask for. Tests wait much: a
 * worker for each processor.
 */
export default defineConfig({
  test: {
    include: ['test/answers/real/*.real.ts', 'test/import/zone/*.real.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: availableParallelism(),
  },
});
