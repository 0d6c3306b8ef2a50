import { createRequire } from 'node:module';
import type Libsql from 'libsql';

let loaded: typeof Libsql | null = null;

/** SQLite. Loading it takes longer than planning without it, so that waits until there is something to open. */
export const libsql = (): typeof Libsql => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the package exports
  loaded ??= createRequire(import.meta.url)('libsql') as typeof Libsql;
  return loaded;
};
