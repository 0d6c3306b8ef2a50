import { rmSync } from 'node:fs';
import { connect, type SqliteConnection, type Value } from '../state/connection.ts';
import { makePrivateFile } from '../state/private-file.ts';
import { notifiedColumns, type NotifyStore, type Query } from './outbox.ts';

export interface LocalStoreOptions {
  /** Of SQLite, made at the first use. One that is damaged is made anew. */
  readonly file: string;
  readonly hasClient: (client: string) => boolean;
}

/** The one of a process that shares its clients with nobody. */
export const localNotifyStore = ({ file, hasClient }: LocalStoreOptions): NotifyStore => {
  let connection: SqliteConnection | null = null;
  const query: Query = async <Row>(sql: string, values: readonly unknown[] = []) => {
    connection ??= await open(file);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns that were asked for
    return connection.all(sql.replaceAll('$', '?'), ...(values as readonly Value[])) as readonly Row[];
  };
  let last: Promise<unknown> = Promise.resolve();
  /** One after the other: they share the connection. */
  const inTurn = <T>(task: () => Promise<T>): Promise<T> => {
    const turn = last.then(task);
    last = turn.catch(() => undefined);
    return turn;
  };
  return {
    table: 'notified',
    query: (sql, values) => inTurn(() => query(sql, values)),
    transaction: (task) =>
      inTurn(async () => {
        connection ??= await open(file);
        connection.exec('BEGIN IMMEDIATE');
        try {
          const result = await task(query);
          connection.exec('COMMIT');
          return result;
        } catch (error) {
          // Closing it rolls back, also where the disk is full.
          await connection.close('now');
          connection = null;
          throw error;
        }
      }),
    isSender: () => true,
    hasClient,
    close: () =>
      inTurn(async () => {
        await connection?.close();
        connection = null;
      }),
  };
};

const open = async (file: string): Promise<SqliteConnection> => {
  try {
    return await openWhole(file);
  } catch (error) {
    if (!(error instanceof Error) || !/^SQLITE_(NOTADB|CORRUPT)/.test(codeIn(error))) throw error;
    for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true });
    return openWhole(file);
  }
};

const openWhole = async (file: string): Promise<SqliteConnection> => {
  makePrivateFile(file);
  const connection = connect(file, { timeout: 5_000 });
  try {
    connection.exec(`PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS notified (${notifiedColumns})`);
    connection.all('SELECT length(body) FROM notified');
    return connection;
  } catch (error) {
    await connection.close('now');
    throw error;
  }
};

const codeIn = (error: Error): string => ('code' in error ? String(error.code) : '');
