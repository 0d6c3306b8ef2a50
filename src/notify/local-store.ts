import type { Logger } from 'pino';
import { messageOf } from '../errors.ts';
import { connect, type SqliteConnection, type Value } from '../state/connection.ts';
import { asideOf, moveFiles } from '../state/damage.ts';
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
  let last: Promise<unknown> = Promise.resolve();

  const open = (): SqliteConnection => {
    makePrivateFile(file);
    const opened = connect(file, { timeout: 5_000 });
    connection = opened;
    opened.exec(`PRAGMA journal_mode = WAL; ${tablesIn('')}`);
    return opened;
  };
  /** One after the other: they share the connection. Closing it rolls back, also on a full disk. */
  const inTurn = <T>(task: (opened: SqliteConnection) => Promise<T>): Promise<T> => {
    const turn = last.then(async () => {
      try {
        return await task(connection ?? open());
      } catch (error) {
        await connection?.close('now');
        connection = null;
        // The next attempt has a new file.
        if (isDamage(error)) moveAside(error);
        throw error;
      }
    });
    last = turn.catch(() => undefined);
    return turn;
  };
  const moveAside = (error: unknown): void => {
    const aside = asideOf(file, 'damaged');
    moveFiles(file, aside);
    log.warn(
      { event: 'notify.damaged', file, aside, reason: messageOf(error) },
      'what receivers were told is damaged and was moved aside; they are told again what still differs',
    );
  };
  return {
    schema: '',
    lock: { awaited: '', skipped: '' },
    query: (sql, values) => inTurn((opened) => queryOn(opened)(sql, values)),
    transaction: (task) =>
      inTurn(async (opened) => {
        opened.exec('BEGIN IMMEDIATE');
        const result = await task(queryOn(opened));
        opened.exec('COMMIT');
        return result;
      }),
    now: () => Promise.resolve(Date.now()),
    isSender: () => true,
    isMine: () =>
      `client IN (${clients()
        .map((name) => `'${name.replaceAll("'", "''")}'`)
        .join()})`,
    close: async () => {
      await last;
      await connection?.close();
      connection = null;
    },
  };
};

const queryOn =
  (opened: SqliteConnection): Query =>
  async <Row>(sql: string, values: readonly unknown[] = []) => {
    // Text that is not UTF-8 would end the process: it is asked for as bytes.
    const asBytes = sql.replaceAll('$', '?').replace('SELECT body', 'SELECT CAST(body AS BLOB) AS body');
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the statements of this folder have
    const rows = opened.all(asBytes, ...(values as readonly Value[])) as { body?: ArrayBuffer | string }[];
    for (const row of rows) if (row.body instanceof ArrayBuffer) row.body = utf8.decode(row.body);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns that were asked for
    return rows as unknown as readonly Row[];
  };

const utf8 = new TextDecoder('utf-8', { fatal: true });

const isDamage = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  /^(?:SQLITE_(?:NOTADB|CORRUPT)|ERR_ENCODING_INVALID_ENCODED_DATA)/.test(String(error.code));
