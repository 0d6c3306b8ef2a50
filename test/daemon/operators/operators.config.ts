import { defineConfig } from 'vitest/config';

/** What operators rely on, by the tools that they use, which `npm test` does not ask for. */
export default defineConfig({
  test: { include: ['test/daemon/operators/*.operators.ts'], testTimeout: 120_000 },
});
