import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { messageOf } from '../errors.ts';
import { limit } from '../lib/limit.ts';
import type { NotifyReceiver } from '../settings/receivers.ts';
import { connect, withTexts, type SqliteConnection, type Value } from '../state/connection.ts';
import { moveAside } from '../state/database.ts';
import { makePrivateFile } from '../state/private-file.ts';
import { healthsOf, newsAfter, nothingTold, type PassEvent, type Told } from './news.ts';
import type { Change } from './schema.ts';

/** Runs one statement in the SQL that SQLite and PostgreSQL share, with values `$1`, `$2`, … */
export type Query = <Row>(sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

/**
 * Where it is saved what receivers were told and are to be told. `told` has a row for each receiver, client and template
 * (the client as a whole: '') that is not in sync; `messages` those that were not taken yet.
 */
export interface NotifyStore {
  /** Before the name of each table. */
  readonly schema: string;
  /** Milliseconds after which other processes may have added something. */
  readonly lookInterval: number;
  readonly query: Query;
  readonly transaction: <T>(task: (query: Query) => Promise<T>) => Promise<T>;
  /** In ms since the epoch, by one clock for all processes. */
  now(query: Query): Promise<number>;
  /** Whether this process is certainly the one that sends. */
  isSender(): boolean;
  /** The SQL condition that this process sends messages about the client of a row. */
  isMine(): string;
  close(): Promise<void>;
}

/** The definition of the tables, in the SQL that both have. */
export const tablesIn = (schema: string): string => `
  CREATE TABLE IF NOT EXISTS ${schema}told (
    client text NOT NULL, receiver text NOT NULL, template text NOT NULL, body text NOT NULL,
    PRIMARY KEY (client, receiver, template));
  CREATE TABLE IF NOT EXISTS ${schema}messages (
    id text PRIMARY KEY, receiver text NOT NULL, client text NOT NULL, number bigint NOT NULL, body text NOT NULL);`;

/** A message to one receiver, the same in all attempts. */
export interface Delivery {
  readonly id: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly changes: readonly Change[];
}

/** Saves a message of what is new to each receiver in a pass. */
export const addNews = async (
  store: NotifyStore,
  pass: PassEvent,
  receivers: readonly NotifyReceiver[],
): Promise<void> => {
  const { schema, query } = store;
  const { client } = pass;
  const told = `SELECT body FROM ${schema}told WHERE client = $1`;
  const rows = new Map((await rowsOf<Row>(query, told, [client])).map((row) => [keyOf(row), row]));
  const healths = healthsOf(pass);
  const now = await store.now(query);
  const changed: Row[] = [];
  const messages: { readonly receiver: string; readonly changes: readonly Change[] }[] = [];
  for (const settings of receivers) {
    const receiver = settings.name;
    const fresh: Row[] = [];
    const changes = healths.flatMap((health) => {
      const row: Row = { client, receiver, template: health.template, told: nothingTold };
      const before = rows.get(keyOf(row)) ?? row;
      const news = newsAfter(before.told, health, pass, settings, now);
      if (news.told !== before.told) fresh.push({ ...row, told: news.told });
      return news.change ?? [];
    });
    if (changes.length > 0 && (await isFull(store, client, receiver))) continue;
    changed.push(...fresh);
    for (let from = 0; from < changes.length; from += maxChanges)
      messages.push({ receiver, changes: changes.slice(from, from + maxChanges) });
  }
  if (changed.length + messages.length === 0) return;
  await store.transaction(async (inside) => {
    for (const row of changed) await put(schema, inside, row);
    for (const { receiver, changes } of messages) {
      const message: Delivery = { id: randomUUID(), createdAt: new Date(now).toISOString(), changes };
      await inside(
        `INSERT INTO ${schema}messages (id, receiver, client, number, body)
           SELECT $1, $2, $3, coalesce(max(number), 0) + 1, $4 FROM ${schema}messages`,
        [message.id, receiver, client, JSON.stringify(message)],
      );
    }
  });
};

/** Slack takes 50 blocks. */
const maxChanges = 20;

/** Whether so many wait about the client that the receiver is told only the newest state, when it is back. */
const isFull = async ({ schema, query }: NotifyStore, client: string, receiver: string): Promise<boolean> => {
  const sql = `SELECT count(*) AS count FROM ${schema}messages WHERE client = $1 AND receiver = $2`;
  const [waiting] = await query<{ readonly count: number | string }>(sql, [client, receiver]);
  return Number(waiting?.count) >= maxWaiting;
};

const maxWaiting = 100;

/** The oldest that was not taken yet; null if there is none. */
export const nextMessage = async (store: NotifyStore, receiver: string): Promise<Delivery | null> => {
  const sql = `SELECT body FROM ${store.schema}messages WHERE receiver = $1 AND ${store.isMine()}
    ORDER BY number, id LIMIT 1`;
  const [message] = await rowsOf<Delivery>(store.query, sql, [receiver]);
  return message ?? null;
};

/** The message was taken or dropped. */
export const endMessage = async ({ schema, query }: NotifyStore, id: string): Promise<void> =>
  void (await query(`DELETE FROM ${schema}messages WHERE id = $1`, [id]));

interface Row {
  readonly client: string;
  readonly receiver: string;
  readonly template: string | null;
  readonly told: Told;
}

const rowsOf = async <Body>(query: Query, sql: string, values: readonly unknown[]): Promise<Body[]> => {
  const rows = await query<{ readonly body: string }>(sql, values);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this program's own
  return rows.map(({ body }) => JSON.parse(body) as Body);
};

const put = async (schema: string, query: Query, row: Row): Promise<void> => {
  const { client, receiver, template, told } = row;
  // Text in PostgreSQL takes no NUL, which a name may have.
  const key = [client, receiver, template === null ? '' : JSON.stringify(template)];
  if (told.state === 'in-sync' && told.since === null)
    await query(`DELETE FROM ${schema}told WHERE client = $1 AND receiver = $2 AND template = $3`, key);
  else
    await query(
      `INSERT INTO ${schema}told (client, receiver, template, body) VALUES ($1, $2, $3, $4)
         ON CONFLICT (client, receiver, template) DO UPDATE SET body = excluded.body`,
      [...key, JSON.stringify(row)],
    );
};

const keyOf = ({ receiver, template }: Pick<Row, 'receiver' | 'template'>): string =>
  JSON.stringify([receiver, template]);

interface LocalStoreOptions {
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
  async <Found>(sql: string, values: readonly unknown[] = []) => {
    // A damaged text would end the process.
    const asBytes = sql.replaceAll('$', '?').replaceAll('SELECT body', 'SELECT CAST(body AS BLOB) AS body');
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the statements of this file have
    const rows = opened.all(asBytes, ...(values as readonly Value[])) as object[];
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns that were asked for
    return rows.map(withTexts) as unknown as readonly Found[];
  };

const isDamage = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  /^(?:SQLITE_(?:NOTADB|CORRUPT)|ERR_ENCODING_INVALID_ENCODED_DATA)/.test(String(error.code));
