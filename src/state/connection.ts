import { createRequire } from 'node:module';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type Libsql from 'libsql';

/** One connection to a SQLite file. Each SQL text is prepared once. */
export interface SqliteConnection {
  /** Several statements, without values. */
  exec(sql: string): void;
  run(sql: string, ...values: readonly Value[]): { readonly lastInsertRowid: number | bigint };
  get(sql: string, ...values: readonly Value[]): unknown;
  all(sql: string, ...values: readonly Value[]): unknown[];
  /** All or nothing. A failure has the error of the task or of the commit. */
  transaction<T>(task: () => T): T;
  /** The same in parts, with turns of the event loop in between, in which nobody else may use the connection. */
  longTransaction(parts: readonly (() => void)[], onCommit: () => void): Promise<void>;
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

export type Value = string | number;

export interface ConnectionOptions {
  /** Milliseconds to wait for another connection's lock; they block. */
  readonly timeout: number;
}

/** Opens a SQLite file, and creates it if it is missing. Throws the errors of libsql. */
export const connect = (file: string, options: ConnectionOptions): SqliteConnection => {
  const database = new (libsql())(file, options);
  const statements = new Map<string, Libsql.Statement>();
  const prepared = (sql: string): Libsql.Statement => {
    const statement = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  return {
    exec: (sql) => void database.exec(sql),
    run: (sql, ...values) => prepared(sql).run(...values),
    get: (sql, ...values) => prepared(sql).get(...values),
    all: (sql, ...values) => prepared(sql).all(...values),
    transaction: (task) => {
      database.exec('BEGIN IMMEDIATE');
      try {
        const result = task();
        database.exec('COMMIT');
        return result;
      } catch (error) {
        rollBack(database);
        throw error;
      }
    },
    longTransaction: async (parts, onCommit) => {
      database.exec('BEGIN IMMEDIATE');
      let turnedAt = performance.now();
      try {
        for (const part of parts) {
          if (performance.now() - turnedAt > slice) {
            await setImmediate();
            turnedAt = performance.now();
          }
          part();
        }
        database.exec('COMMIT');
        onCommit();
      } catch (error) {
        rollBack(database);
        throw error;
      }
    },
    close: async (when = usual) => {
      database.close();
      if (statements.size === 0) return;
      statements.clear();
      unfreed += 1;
      if (when === 'now' || unfreed >= mostUnfreed) await freeStatements();
    },
  };
};

/** The body of a row, which is JSON. libsql ends the process when it returns text that is not UTF-8: it is asked for as bytes. */
export const bodyIn = (row: unknown): never => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the column that was asked for
  const { body } = row as { readonly body: ArrayBuffer };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this program's own, by the schema version
  return JSON.parse(utf8.decode(body)) as never;
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Milliseconds between two turns: other processes wait for the end of the transaction. */
const slice = 20;

/** SQLite has already rolled back if the disk is full. */
const rollBack = (database: Libsql.Database): void => {
  try {
    if (database.inTransaction) database.exec('ROLLBACK');
  } catch {
    // The first error counts.
  }
};

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
