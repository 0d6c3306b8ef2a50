import { defineConfig } from 'vitest/config';

/** The rules against name servers and their tools as people run them, which `npm test` does not ask for. */
export default defineConfig({
  test: {
    include: ['test/answers/real/*.real.ts', 'test/import/zone/*.real.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
