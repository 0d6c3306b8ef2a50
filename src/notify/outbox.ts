import { randomUUID } from 'node:crypto';
import { healthsOf, type PassEvent } from './health.ts';
import type { NotifyReceiver } from '../settings/notify.ts';
import { newsAfter, noNews, seenOf, type News } from './news.ts';
import type { Change } from './schema.ts';

/** Runs one statement in the SQL that SQLite and PostgreSQL share, with values `$1`, `$2`, … */
export type Query = <Row>(sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

/**
 * Where it is saved what receivers were told and are to be told. `told` has a row for each receiver, client and template
 * (the client as a whole: '') that is not in sync or has news; `messages` those that were begun and not taken yet.
 */
export interface NotifyStore {
  /** Before the name of each table. */
  readonly schema: string;
  /** At the end of a SELECT in a transaction: rows that another process changes are `awaited` or `skipped`. */
  readonly lock: Readonly<Record<'awaited' | 'skipped', string>>;
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
    client text NOT NULL, receiver text NOT NULL, template text NOT NULL, due_at bigint, body text NOT NULL,
    PRIMARY KEY (client, receiver, template));
  CREATE INDEX IF NOT EXISTS told_due ON ${schema}told (receiver, due_at) WHERE due_at IS NOT NULL;
  CREATE TABLE IF NOT EXISTS ${schema}messages (
    id text PRIMARY KEY, receiver text NOT NULL, client text NOT NULL, body text NOT NULL);`;

/** A message to one receiver, the same in all attempts. */
export interface Delivery {
  readonly id: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly changes: readonly Change[];
}

/** Saves what is new to each receiver in these passes over one client, the oldest first. */
export const addNews = async (
  store: NotifyStore,
  passes: readonly PassEvent[],
  receivers: readonly NotifyReceiver[],
): Promise<void> => {
  const client = passes[0]?.client ?? '';
  const sql = `SELECT body FROM ${store.schema}told WHERE client = $1 AND receiver <> '' ORDER BY receiver, template`;
  const order = new Map(passes.map(({ run }, index) => [run, index]));
  const changed = async (query: Query, lock: string, now: number): Promise<Row[]> => {
    const saved = new Map((await rowsOf<Row>(query, sql + lock, [client])).map((row) => [keyOf(row), row]));
    const changes = new Map<string, Row>();
    for (const [index, pass] of passes.entries())
      for (const health of healthsOf(pass))
        for (const receiver of receivers) {
          const place = { client, receiver: receiver.name, template: health.template };
          const key = keyOf(place);
          const before = saved.get(key);
          // It is in the row already where the answer to a commit was lost.
          if (index <= (order.get(before?.run ?? '') ?? -1)) continue;
          const row = changes.get(key) ?? before ?? { ...place, ...noNews };
          const news = newsAfter(row, health, pass, receiver, now);
          if (news !== row) changes.set(key, { ...row, ...news, run: pass.run });
        }
    for (const [key, { run, ...row }] of saved)
      if (isNothing(row) && run !== undefined && !changes.has(key) && !order.has(run)) changes.set(key, row);
    return [...changes.values()].filter(
      (row) => JSON.stringify(row) !== JSON.stringify(saved.get(keyOf(row))),
    );
  };
  // Most passes bring nothing new, and one statement shows that.
  if ((await changed(store.query, '', 0)).length === 0) return;
  await store.transaction(async (query) => {
    const now = await store.now(query);
    // Where there is no row yet, this keeps out whoever saves the news of another pass over the client.
    const alone = `INSERT INTO ${store.schema}told (client, receiver, template, body) VALUES ($1, '', '', '')`;
    await query(alone, [client]);
    for (const row of await changed(query, store.lock.awaited, now)) await put(store, query, row);
    await query(`DELETE FROM ${store.schema}told WHERE client = $1 AND receiver = ''`, [client]);
  });
};

/** The message that was begun, else one of what is due; null if there is nothing to send. */
export const nextMessage = async (store: NotifyStore, receiver: string): Promise<Delivery | null> => {
  const { schema, lock, query } = store;
  const mine = `receiver = $1 AND ${store.isMine()}`;
  const begun = `SELECT body FROM ${schema}messages WHERE ${mine} ORDER BY id LIMIT 1`;
  const [message] = await rowsOf<Delivery>(query, begun, [receiver]);
  if (message) return message;
  const waiting = `SELECT 1 FROM ${schema}told WHERE ${mine} AND due_at IS NOT NULL LIMIT 1`;
  if ((await query(waiting, [receiver])).length === 0) return null;
  return store.transaction(async (inside) => {
    const due = `SELECT body FROM ${schema}told WHERE ${mine} AND due_at <= $2
      ORDER BY due_at, client, template LIMIT ${maxChanges} ${lock.skipped}`;
    const rows = await rowsOf<Row>(inside, due, [receiver, await store.now(inside)]);
    const [first] = rows;
    if (first === undefined) return null;
    const changes = rows.flatMap(({ next }) => next?.change ?? []);
    const created = { id: randomUUID(), createdAt: new Date().toISOString(), changes };
    await inside(`INSERT INTO ${schema}messages (id, receiver, client, body) VALUES ($1, $2, $3, $4)`, [
      created.id,
      receiver,
      first.client,
      JSON.stringify(created),
    ]);
    for (const row of rows) {
      await put(store, inside, { ...row, told: seenOf(row), next: null });
    }
    return created;
  });
};

/** Slack takes 50 blocks. */
const maxChanges = 20;

/** The message was taken or dropped. */
export const endMessage = async ({ schema, query }: NotifyStore, id: string): Promise<void> =>
  void (await query(`DELETE FROM ${schema}messages WHERE id = $1`, [id]));

/** A message that was begun is still sent, for the sake of other clients in it. */
export const forgetClient = ({ schema, transaction }: NotifyStore, client: string): Promise<void> =>
  transaction(async (query) => {
    await query(`DELETE FROM ${schema}told WHERE client = $1`, [client]);
    const begun = `SELECT body FROM ${schema}messages WHERE client = $1`;
    for (const { id, changes } of await rowsOf<Delivery>(query, begun, [client])) {
      const other = changes.find((change) => change.client !== client)?.client;
      if (other === undefined) await query(`DELETE FROM ${schema}messages WHERE id = $1`, [id]);
      else await query(`UPDATE ${schema}messages SET client = $2 WHERE id = $1`, [id, other]);
    }
  });

/** Forgets receivers that are not configured any more. */
export const keepReceivers = async (store: NotifyStore, names: readonly string[]): Promise<void> => {
  // An empty list is none in SQL, and no receiver has an empty name.
  const kept = ["''", ...names.map((_, at) => `$${at + 1}`)].join();
  for (const table of ['told', 'messages'])
    await store.query(
      `DELETE FROM ${store.schema}${table} WHERE receiver NOT IN (${kept}) AND ${store.isMine()}`,
      names,
    );
};

interface Row extends News {
  readonly client: string;
  readonly receiver: string;
  readonly template: string | null;
  /** The last pass that has changed it. */
  readonly run?: string;
}

const isNothing = ({ told, next }: News): boolean => next === null && told.state === 'in-sync';

const rowsOf = async <Body>(query: Query, sql: string, values: readonly unknown[]): Promise<Body[]> => {
  const rows = await query<{ readonly body: string }>(sql, values);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this program's own
  return rows.map(({ body }) => JSON.parse(body) as Body);
};

const put = async ({ schema }: NotifyStore, query: Query, row: Row): Promise<void> => {
  const { client, receiver, template, next, dueAt } = row;
  // The client as a whole comes first. Text in PostgreSQL takes no NUL, which a name may have.
  const key = [client, receiver, template === null ? '' : JSON.stringify(template)];
  if (isNothing(row) && row.run === undefined)
    await query(`DELETE FROM ${schema}told WHERE client = $1 AND receiver = $2 AND template = $3`, key);
  else
    await query(
      `INSERT INTO ${schema}told (client, receiver, template, due_at, body) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (client, receiver, template) DO UPDATE SET due_at = excluded.due_at, body = excluded.body`,
      [...key, next === null ? null : Math.round(dueAt), JSON.stringify(row)],
    );
};

const keyOf = ({ receiver, template }: Pick<Row, 'receiver' | 'template'>): string =>
  JSON.stringify([receiver, template]);
