import { createRequire } from 'node:module';
import { setImmediate } from 'node:timers/promises';
import { isArrayBuffer } from 'node:util/types';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type Libsql from 'libsql';

/** One connection to a SQLite file. Each SQL text is prepared once. Throws the errors of libsql. */
export interface SqliteConnection {
  /** Several statements, without values. */
  exec(sql: string): void;
  /** The rows of one, with values `$1`, `$2`, … What is text is asked for as bytes: libsql ends the process where it is not UTF-8. */
  all<Row>(sql: string, values?: readonly unknown[]): Row[];
  /** With `now`, no file is open and no lock is held once it resolves; with `later` that may take a while. */
  close(when?: Closing): Promise<void>;
}

/** Closing at once blocks the event loop: some 5 ms, or 150 ms with a heap of 150 MB. */
export type Closing = 'now' | 'later';

/** How a connection is closed where nothing says it: a guest in another process must not hold that up. */
let usual: Closing = 'later';

/** For a process that is there for this program alone. Gives what ends it. */
export const closeAtOnce = (): (() => void) => {
  usual = 'now';
  return () => void (usual = 'later');
};

/** Opens a SQLite file, and creates it if it is missing. `timeout`: milliseconds to wait for another connection's lock; they block. */
export const connect = (file: string, options: { readonly timeout: number }): SqliteConnection => {
  const database = new (libsql())(file, options);
  const statements = new Map<string, Libsql.Statement>();
  const prepared = (sql: string): Libsql.Statement => {
    const statement = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  let isOpen = true;
  return {
    exec: (sql) => void database.exec(sql),
    all: <Row>(sql: string, values: readonly unknown[] = []) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns that were asked for
      const rows = prepared(sql.replaceAll('$', '?')).all(...values) as Record<string, unknown>[];
      for (const row of rows) decode(row);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same
      return rows as Row[];
    },
    close: async (when = usual) => {
      // libsql ends the process that asks a closed one.
      if (!isOpen) return;
      isOpen = false;
      // What is left of it may live on for a while.
      if (database.inTransaction) database.exec('ROLLBACK');
      database.close();
      if (statements.size === 0) return;
      statements.clear();
      unfreed += 1;
      if (when === 'now' || unfreed >= mostUnfreed) await freeStatements();
    },
  };
};

/** Another connection has the file locked. */
export const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY');

/** Puts texts in place of bytes. */
const decode = (row: Record<string, unknown>): void => {
  for (const key in row) {
    const value = row[key];
    if (typeof value === 'object' && isArrayBuffer(value)) row[key] = utf8.decode(value);
  }
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * A file stays open and locked while a prepared statement of its connection exists, and libsql has no call that
 * frees one: only the garbage collector does, so it is run.
 */
const freeStatements = async (): Promise<void> => {
  collectGarbage ??= exposedCollector();
  collectGarbage();
  unfreed = 0;
  // Native objects are freed after the collection.
  await setImmediate();
};

/** Connections that are closed and may still hold their files open. */
let unfreed = 0;
const mostUnfreed = 20;

let collectGarbage: (() => void) | null = null;

const exposedCollector = (): (() => void) => {
  setFlagsFromString('--expose-gc');
  const collector: () => void = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  return collector;
};

let loaded: typeof Libsql | null = null;

/** Loading SQLite takes longer than planning without it, so it waits until there is something to open. */
const libsql = (): typeof Libsql => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the package exports
  loaded ??= createRequire(import.meta.url)('libsql') as typeof Libsql;
  return loaded;
};
