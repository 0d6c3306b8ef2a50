import { defineConfig } from 'vitest/config';

/** The alert rules, by promtool of Prometheus, which `npm test` does not ask for. */
export default defineConfig({
  test: { include: ['test/daemon/alerts/*.alerts.ts'], testTimeout: 120_000 },
});
