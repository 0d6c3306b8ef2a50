import { existsSync } from 'node:fs';
import { UserError } from '../errors.ts';
import { type Waiting, lockFilesIn } from './client-locks.ts';
import type { SqliteConnection } from './connection.ts';
import { quarantine, openDatabase } from './database.ts';
import { storeFileIn, scopeLockOf } from './store-location.ts';
import { batchSize, fieldOf, portableNames, portableTables, type RowBatch } from './portable-rows.ts';

/**
 * Reads all state of a state directory, while nobody else can write there, and renames the file once
 * it was copied. Returns the new name of the file; null if there is none.
 */
export const giveFile = async (
  stateDir: string,
  waiting: Waiting,
  take: (batches: Iterable<RowBatch>) => Promise<void>,
): Promise<string | null> => {
  const file = storeFileIn(stateDir);
  if (!existsSync(file)) return null;
  const connection = await openDatabase(file);
  try {
    const names = namesIn(connection);
    return await whileLocked(stateDir, waiting, names, async () => {
      if (namesIn(connection).length > names.length)
        throw new UserError(`another process is using ${stateDir}: stop it first`);
      await take(batchesOf(connection));
      await connection.close('now');
      return quarantine(file, 'copied');
    });
  } finally {
    await connection.close('now');
  }
};

/** Writes it into a state directory without state; all or nothing. */
export const takeIntoFile = async (stateDir: string, batches: readonly RowBatch[]): Promise<void> => {
  const file = storeFileIn(stateDir);
  const connection = await openDatabase(file);
  try {
    if (connection.all('SELECT scope FROM clients').length > 0)
      throw new UserError(
        `${file} already holds the state of clients: move it away, or choose another --state-dir`,
      );
    connection.transaction(() => {
      for (const batch of batches) insert(connection, batch);
    });
  } finally {
    await connection.close('now');
  }
};

/** The names of the locks that a writer holds. */
const namesIn = (connection: SqliteConnection): string[] => {
  const rows = connection.all('SELECT scope AS name FROM clients UNION SELECT digest AS name FROM tokens');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the column that was asked for
  return rows.map((row) => scopeLockOf((row as { name: string }).name)).sort();
};

const whileLocked = async <T>(
  stateDir: string,
  waiting: Waiting,
  names: readonly string[],
  task: () => Promise<T>,
): Promise<T> => {
  const take = lockFilesIn(stateDir);
  const locks = [];
  try {
    for (const name of names) locks.push(await take(name, waiting));
    return await task();
  } finally {
    for (const lock of locks) await lock.release();
  }
};

function* batchesOf(connection: SqliteConnection): Generator<RowBatch> {
  for (const table of portableNames) {
    const { columns, order } = portableTables[table];
    const sql = `SELECT ${columns.join()} FROM ${table} ORDER BY ${order.join()} LIMIT ${batchSize} OFFSET ?`;
    for (let offset = 0; ; offset += batchSize) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns that were asked for
      const rows = connection.all(sql, offset) as RowBatch['rows'];
      if (rows.length > 0) yield { table, rows };
      if (rows.length < batchSize) break;
    }
  }
}

const insert = (connection: SqliteConnection, { table, rows }: RowBatch): void => {
  for (const row of rows) {
    const own = table === 'records' ? { key: fieldOf(row, 'key') } : {};
    const told =
      table === 'history' ? { template: fieldOf(row, 'template'), outcome: fieldOf(row, 'outcome') } : {};
    const columns = { ...row, ...own, ...told };
    const marks = Object.keys(columns).map(() => '?');
    connection.run(
      `INSERT INTO ${table} (${Object.keys(columns).join()}) VALUES (${marks.join()})`,
      ...Object.values(columns),
    );
  }
};
