import type { Logger } from 'pino';
import { connect, type SqliteConnection, type Value } from '../state/connection.ts';
import { asideOf, moveFiles } from '../state/damage.ts';
import { makePrivateFile } from '../state/private-file.ts';
import type { NotifyStore, Query } from './outbox.ts';

export interface LocalStoreOptions {
  /** Of SQLite, made at the first use. One that is damaged is moved aside. */
  readonly file: string;
  readonly hasClient: (client: string) => boolean;
  readonly log: Logger;
}

/** The one of a process that shares its clients with nobody. */
export const localNotifyStore = ({ file, hasClient, log }: LocalStoreOptions): NotifyStore => {
  let connection: SqliteConnection | null = null;
  let last: Promise<unknown> = Promise.resolve();
  /** One after the other: they share the connection. After an error it is closed, which rolls back, also on a full disk. */
  const inTurn = <T>(task: (opened: SqliteConnection) => Promise<T>): Promise<T> => {
    const turn = last.then(async () => {
      const opened = (connection ??= await open(file, log));
      try {
        return await task(opened);
      } catch (error) {
        connection = null;
        await opened.close('now');
        throw error;
      }
    });
    last = turn.catch(() => undefined);
    return turn;
  };
  return {
    table: 'notified',
    query: (sql, values) => inTurn((opened) => queryOn(opened)(sql, values)),
    transaction: (task) =>
      inTurn(async (opened) => {
        opened.exec('BEGIN IMMEDIATE');
        const result = await task(queryOn(opened));
        opened.exec('COMMIT');
        return result;
      }),
    isSender: () => true,
    hasClient,
    isShared: false,
    close: async () => {
      await last;
      await connection?.close();
      connection = null;
    },
  };
};

const queryOn =
  (opened: SqliteConnection): Query =>
  async <Row>(sql: string, values: readonly unknown[] = []) =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns that were asked for
    opened.all(sql.replaceAll('$', '?'), ...(values as readonly Value[])) as readonly Row[];

const open = async (file: string, log: Logger): Promise<SqliteConnection> => {
  try {
    return await openWhole(file);
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!/^SQLITE_(NOTADB|CORRUPT)/.test(reason)) throw error;
    const aside = asideOf(file, 'damaged');
    moveFiles(file, aside);
    log.warn(
      { event: 'notify.damaged', file, aside, reason },
      'what receivers were told is damaged and was moved aside; they are told again what still differs',
    );
    return openWhole(file);
  }
};

const openWhole = async (file: string): Promise<SqliteConnection> => {
  makePrivateFile(file);
  const connection = connect(file, { timeout: 5_000 });
  try {
    // The table is that of PostgreSQL.
    connection.exec(
      `PRAGMA journal_mode = WAL;
       CREATE TABLE IF NOT EXISTS notified (
         receiver text NOT NULL, client text NOT NULL, template text NOT NULL, due_at bigint, delivery text,
         body text NOT NULL, PRIMARY KEY (receiver, client, template))`,
    );
    connection.all('SELECT length(body) FROM notified');
    return connection;
  } catch (error) {
    await connection.close('now');
    throw error;
  }
};
