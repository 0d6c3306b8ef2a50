import { createRequire } from 'node:module';
import type Pg from 'pg';

/** Whoever keeps memory in a file does without it. The build puts it beside the program. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the package exports
export const loadPg = (): typeof Pg => createRequire(import.meta.url)('pg') as typeof Pg;
