import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/**
 * What operators rely on, by the tools that they use, and each command of the documents in a shell: `npm test` does not
 * ask for that. Tests wait much: a worker for each processor.
 */
export default defineConfig({
  test: {
    include: ['test/{documents,daemon/operators}/*.operators.ts'],
    testTimeout: 120_000,
    maxWorkers: availableParallelism(),
  },
});
