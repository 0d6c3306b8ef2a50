import { randomUUID } from 'node:crypto';
import { healthsOf, type PassEvent } from './health.ts';
import type { NotifyReceiver } from '../settings/receivers.ts';
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

/** Saves what is new to each receiver in these passes over one client, the oldest first. What is in it already is not added again. */
export const addNews = async (
  store: NotifyStore,
  passes: readonly PassEvent[],
  receivers: readonly NotifyReceiver[],
): Promise<void> => {
  const client = passes[0]?.client ?? '';
  const sql = `SELECT body FROM ${store.schema}told WHERE client = $1 ORDER BY receiver, template`;
  const changed = async (query: Query, lock: string, now: number): Promise<Row[]> => {
    const saved = new Map((await rowsOf<Row>(query, sql + lock, [client])).map((row) => [keyOf(row), row]));
    const rows = new Map(saved);
    for (const [at, pass] of passes.entries())
      for (const health of healthsOf(pass))
        for (const receiver of receivers) {
          const place = { client, receiver: receiver.name, template: health.template };
          const key = keyOf(place);
          // The answer to a COMMIT may have been lost.
          if (at <= passes.findLastIndex(({ run }) => run === saved.get(key)?.run)) continue;
          const row = rows.get(key) ?? { ...place, ...noNews };
          rows.set(key, { ...place, ...newsAfter(row, health, pass, receiver, now) });
        }
    const before = (key: string): Row => saved.get(key) ?? { ...rows.get(key)!, ...noNews };
    return [...rows].flatMap(([key, row]) =>
      JSON.stringify(row) === JSON.stringify(before(key)) ? [] : [row],
    );
  };
  // Most passes bring nothing new, and one statement shows that.
  if ((await changed(store.query, '', 0)).length === 0) return;
  await store.transaction(async (query) => {
    const now = await store.now(query);
    for (const row of await changed(query, store.lock.awaited, now)) await put(store, query, row);
  });
};

/** In how many milliseconds there is something to send; `Infinity`: not before something is added. */
export const dueIn = async (store: NotifyStore, receiver: string): Promise<number> => {
  const mine = `receiver = $1 AND ${store.isMine()}`;
  const sql = `SELECT min(due_at) AS at FROM (SELECT due_at FROM ${store.schema}told WHERE ${mine} AND due_at IS NOT NULL
    UNION ALL SELECT 0 FROM ${store.schema}messages WHERE ${mine}) AS due`;
  const [due] = await store.query<{ readonly at: number | string | null }>(sql, [receiver]);
  const at = due?.at ?? null;
  return at === null ? Infinity : Number(at) - (await store.now(store.query));
};

/** The message that was begun, else one of what is due; null if there is nothing to send. */
export const nextMessage = async (store: NotifyStore, receiver: string): Promise<Delivery | null> => {
  const { schema, lock } = store;
  const mine = `receiver = $1 AND ${store.isMine()}`;
  const begun = `SELECT body FROM ${schema}messages WHERE ${mine} ORDER BY id LIMIT 1`;
  const [message] = await rowsOf<Delivery>(store.query, begun, [receiver]);
  if (message) return message;
  return store.transaction(async (query) => {
    const due = `SELECT body FROM ${schema}told WHERE ${mine} AND due_at <= $2
      ORDER BY due_at, client, template LIMIT ${maxChanges} ${lock.skipped}`;
    const rows = await rowsOf<Row>(query, due, [receiver, await store.now(query)]);
    const changes = rows.flatMap(({ next }) => next?.change ?? []);
    const [first] = changes;
    if (first === undefined) return null;
    const created = { id: randomUUID(), createdAt: new Date().toISOString(), changes };
    await query(`INSERT INTO ${schema}messages (id, receiver, client, body) VALUES ($1, $2, $3, $4)`, [
      created.id,
      receiver,
      first.client,
      JSON.stringify(created),
    ]);
    for (const row of rows) await put(store, query, { ...row, told: seenOf(row), next: null });
    return created;
  });
};

/** Slack takes 50 blocks. */
const maxChanges = 20;

/** The message was taken or dropped. */
export const endMessage = async ({ schema, query }: NotifyStore, id: string): Promise<void> =>
  void (await query(`DELETE FROM ${schema}messages WHERE id = $1`, [id]));

interface Row extends News {
  readonly client: string;
  readonly receiver: string;
  readonly template: string | null;
}

const rowsOf = async <Body>(query: Query, sql: string, values: readonly unknown[]): Promise<Body[]> => {
  const rows = await query<{ readonly body: string }>(sql, values);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this program's own
  return rows.map(({ body }) => JSON.parse(body) as Body);
};

const put = async ({ schema }: NotifyStore, query: Query, row: Row): Promise<void> => {
  const { client, receiver, template, told, next, dueAt, run } = row;
  // The client as a whole comes first. Text in PostgreSQL takes no NUL, which a name may have.
  const key = [client, receiver, template === null ? '' : JSON.stringify(template)];
  if (next === null && told.state === 'in-sync' && run === null)
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
