import type { TestProject } from 'vitest/node';
import { startPostgres } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where tests find PostgreSQL, as its superuser. */
    postgres: string;
  }
}

/** Starts a PostgreSQL of its own for the tests, whoever runs them; it is gone afterwards. */
export default async ({ provide }: TestProject): Promise<() => Promise<void>> => {
  const server = await startPostgres();
  provide('postgres', server.url);
  return server.remove;
};
