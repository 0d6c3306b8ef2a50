import { defineConfig } from 'vitest/config';

/** What `npm test` runs: with room for a slow machine, and the same properties each time. */
export default defineConfig({
  test: { testTimeout: 60_000, hookTimeout: 60_000, setupFiles: ['test/seed.ts'] },
});
