import { randomUUID } from 'node:crypto';
import type { NotifyReceiver } from '../settings/receivers.ts';
import type { Query, Tables } from '../state/tables.ts';
import { healthsOf, newsAfter, nothingTold, type EndedPass, type Told } from './news.ts';
import type { NotifiedChange } from './schema.ts';

/** Where it is saved what receivers were told and are to be told: with the state of the clients. */
export interface NotifyStore extends Tables {
  /** Milliseconds after which other processes may have added something. */
  readonly lookInterval: number;
  /** Whether this process is certainly the one that sends. */
  isSender(): boolean;
  /** Those of which this process sends messages, since other processes send those of others; null: of all. */
  clients(): readonly string[] | null;
}

/** A message to one receiver, the same in all attempts. */
export interface Delivery {
  readonly id: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly changes: readonly NotifiedChange[];
}

/** Saves a message of what is new to each receiver in a pass. */
export const addNews = async (
  store: NotifyStore,
  pass: EndedPass,
  receivers: readonly NotifyReceiver[],
): Promise<void> => {
  const { sql, query } = store;
  const { client } = pass;
  const rows = new Map((await rowsOf<Row>(query, sql.told, [client])).map((row) => [keyOf(row), row]));
  const found = new Set(pass.result?.templates.map(({ template }) => template));
  // Their files went while no daemon ran, or another one did.
  const gone = [...rows.values()].flatMap(({ template }) =>
    pass.hasAll && template !== null && !found.has(template) ? template : [],
  );
  const healths = healthsOf({ ...pass, removed: [...new Set([...pass.removed, ...gone])] });
  const now = await store.now();
  const tasks: ((inside: Query) => Promise<unknown>)[] = [];
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
    if (changes.length > 0) {
      const [all] = await query<{ readonly count: number | string }>(sql.waitingMessages, [client, receiver]);
      // It is told only the newest state, when it is back.
      if (Number(all?.count) >= maxWaiting) continue;
    }
    tasks.push(...fresh.map((row) => (inside: Query) => put(store, inside, row)));
    for (let from = 0; from < changes.length; from += maxChanges) {
      const message: Delivery = {
        id: randomUUID(),
        createdAt: new Date(now).toISOString(),
        changes: changes.slice(from, from + maxChanges),
      };
      const values = [message.id, receiver, client, JSON.stringify(message)];
      tasks.push((inside) => inside(sql.addMessage, values));
    }
  }
  if (tasks.length === 0) return;
  await store.transaction(async (inside) => {
    for (const task of tasks) await task(inside);
  });
};

/** Slack takes 50 blocks. */
const maxChanges = 20;

/** Messages about one client. */
const maxWaiting = 100;

/** The oldest that was not taken yet; null if there is none. */
export const nextMessage = async (store: NotifyStore, receiver: string): Promise<Delivery | null> => {
  const { sql, query } = store;
  const clients = store.clients();
  const own = clients && JSON.stringify(clients.map((client) => [client]));
  const [message] = await rowsOf<Delivery>(query, sql.nextMessage, [receiver, own]);
  return message ?? null;
};

/** The message was taken or dropped. */
export const endMessage = async ({ sql, query }: NotifyStore, id: string): Promise<void> =>
  void (await query(sql.endMessage, [id]));

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

const put = async ({ sql }: NotifyStore, query: Query, row: Row): Promise<void> => {
  const { client, receiver, template, told } = row;
  // Text in PostgreSQL takes no NUL, which a name may have.
  const key = [client, receiver, template === null ? '' : JSON.stringify(template)];
  if (told.state === 'in-sync' && told.since === null) await query(sql.forgetTold, key);
  else await query(sql.tell, [...key, JSON.stringify(row)]);
};

const keyOf = ({ receiver, template }: Pick<Row, 'receiver' | 'template'>): string =>
  JSON.stringify([receiver, template]);
