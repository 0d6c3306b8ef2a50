import { defineConfig } from 'vitest/config';

/** The long runs, which `npm test` leaves out. */
export default defineConfig({
  test: {
    include: ['test/desired/*.fuzz.ts', 'test/desired/mutated-files.test.ts'],
    testTimeout: 30 * 60_000,
  },
});
