import { defineConfig } from 'vitest/config';

/** The program behind a proxy as people run it, which `npm test` does not ask for. */
export default defineConfig({
  test: { include: ['test/wire/real/*.real.ts'], testTimeout: 60_000, hookTimeout: 60_000 },
});
