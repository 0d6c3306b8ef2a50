import { defineConfig } from 'vitest/config';

/** What rests on a real PostgreSQL, which `npm test` does not ask for. One server serves all of it. */
export default defineConfig({
  test: {
    include: ['test/cluster/*.cluster.ts'],
    globalSetup: 'test/cluster/server.ts',
    setupFiles: ['test/seed.ts'],
    // They wait for leases and pauses more than they compute.
    maxWorkers: 2,
    // They wait for events, however long those take on a busy machine.
    testTimeout: 300_000,
    hookTimeout: 60_000,
  },
});
