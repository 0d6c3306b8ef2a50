import { defineConfig } from 'vitest/config';

/** The rules against name servers as people run them, which `npm test` does not ask for. */
export default defineConfig({
  test: { include: ['test/answers/real/*.real.ts'], testTimeout: 60_000, hookTimeout: 60_000 },
});
