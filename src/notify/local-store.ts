import type { Logger } from 'pino';
import { messageOf } from '../errors.ts';
import { limit } from '../lib/limit.ts';
import { connect, withTexts, type SqliteConnection, type Value } from '../state/connection.ts';
import { moveAside } from '../state/database.ts';
import { makePrivateFile } from '../state/private-file.ts';
import { tablesIn, type NotifyStore, type Query } from './outbox.ts';

export interface LocalStoreOptions {
  /** Of SQLite, made at the first use. One that is damaged is moved aside. */
  readonly file: string;
  /** Those of which this process sends messages: daemons of other clients may have the same file. */
  readonly clients: () => readonly string[];
  readonly log: Logger;
}

/** The one of a process that shares its clients with nobody. */
export const localNotifyStore = ({ file, clients, log }: LocalStoreOptions): NotifyStore => {
  let connection: SqliteConnection | null = null;
  const inTurn = limit(1);
  const open = (): SqliteConnection => {
    makePrivateFile(file);
    connection = connect(file, { timeout: 5_000 });
    connection.exec(`PRAGMA journal_mode = WAL; ${tablesIn('')}`);
    return connection;
  };
  /** Closing rolls back, also on a full disk. */
  const used = <T>(task: (opened: SqliteConnection) => Promise<T>): Promise<T> =>
    inTurn(async () => {
      try {
        return await task(connection ?? open());
      } catch (error) {
        await connection?.close('now');
        connection = null;
        // The next attempt has a new file.
        if (isDamage(error)) sayMoved(moveAside(file), error);
        throw error;
      }
    });
  const sayMoved = (aside: string, error: unknown): void =>
    log.warn(
      { event: 'notify.damaged', file, aside, reason: messageOf(error) },
      'what receivers were told is damaged and was moved aside; they are told again what still differs',
    );
  return {
    schema: '',
    lock: { awaited: '', skipped: '' },
    lookInterval: Infinity,
    query: (sql, values) => used((opened) => queryOn(opened)(sql, values)),
    transaction: (task) =>
      used(async (opened) => {
        opened.exec('BEGIN IMMEDIATE');
        const result = await task(queryOn(opened));
        opened.exec('COMMIT');
        return result;
      }),
    now: () => Promise.resolve(Date.now()),
    isSender: () => true,
    isMine: () => {
      const names = clients().map((name) => `'${name.replaceAll("'", "''")}'`);
      return `client IN (${names.join()})`;
    },
    close: () => inTurn(async () => connection?.close()),
  };
};

const queryOn =
  (opened: SqliteConnection): Query =>
  async <Row>(sql: string, values: readonly unknown[] = []) => {
    const asBytes = sql.replaceAll('$', '?').replaceAll('SELECT body', 'SELECT CAST(body AS BLOB) AS body');
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the statements of this folder have
    const rows = opened.all(asBytes, ...(values as readonly Value[])) as object[];
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns that were asked for
    return rows.map(withTexts) as unknown as readonly Row[];
  };

const isDamage = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  /^(?:SQLITE_(?:NOTADB|CORRUPT)|ERR_ENCODING_INVALID_ENCODED_DATA)/.test(String(error.code));
