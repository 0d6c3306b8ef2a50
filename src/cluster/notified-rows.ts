import { randomUUID } from 'node:crypto';
import type { Delivery } from '../notify/delivery.ts';
import {
  neverNotified,
  type HealthChange,
  type LastNotified,
  type Occasion,
} from '../notify/health-change.ts';
import { healthsOf, type PassEvent } from '../notify/health.ts';
import { entryAfter, lastNotifiedOf, type OutboxEntry } from '../notify/outbox-entry.ts';
import { maxBatch } from '../notify/outbox.ts';
import type { PostgresDatabase, Query } from './database.ts';

/** What one receiver was told and is to be told, in PostgreSQL. Throws `MemoryError`. */
export interface NotifiedRows {
  /** Adds what is new in a pass. */
  add(passEvent: PassEvent, on: readonly Occasion[], after: number): Promise<void>;
  /** The message that a process has begun to send, as it was; else the next one that is due. */
  take(): Promise<Delivery | null>;
  /** The message of this id was delivered or dropped. */
  settle(delivery: string): Promise<void>;
  forget(client: string): Promise<void>;
}

export const notifiedRows = ({ query, transaction }: PostgresDatabase, receiver: string): NotifiedRows => ({
  add: async (passEvent, on, after) => {
    const { client } = passEvent;
    const healths = healthsOf(passEvent);
    const changed = (rows: readonly NotifiedRow[], now: number): StoredEntry[] => {
      const known = new Map(rows.map((row) => [row.template, parse<StoredEntry>(row.body)]));
      return healths.flatMap((health) => {
        const before = known.get(keyOf(health.template)) ?? newEntry(client, health.template);
        const entry = entryAfter(before, health, passEvent, on, { after, now });
        return isSame(entry, before) ? [] : { ...before, ...entry };
      });
    };
    // Most passes bring nothing new, and one statement shows that.
    if (changed(await query<NotifiedRow>(queries.ofClient, [receiver, client]), 0).length === 0) return;
    await transaction(async (run) => {
      const rows = await run<NotifiedRow>(`${queries.ofClient} ORDER BY template FOR UPDATE`, [
        receiver,
        client,
      ]);
      const [{ now } = { now: Date.now() }] = await run<{ now: number }>(queries.now);
      await save(run, receiver, changed(rows, now));
    });
  },
  take: () =>
    transaction(async (run) => {
      const begun = await run<NotifiedRow>(queries.begun, [receiver]);
      if (begun.length > 0) return deliveryOf(begun.map(({ body }) => parse<StoredEntry>(body)));
      const due = await run<NotifiedRow>(queries.due, [receiver, maxBatch]);
      if (due.length === 0) return null;
      const delivery = { id: randomUUID(), createdAt: Date.now() };
      const entries = due.map(({ body }) => begin(parse<StoredEntry>(body), delivery));
      await save(run, receiver, entries);
      return deliveryOf(entries);
    }),
  settle: (delivery) =>
    transaction(async (run) => {
      const rows = await run<NotifiedRow>(queries.ofDelivery, [receiver, delivery]);
      await save(
        run,
        receiver,
        rows.map(({ body }) => end(parse<StoredEntry>(body))),
      );
    }),
  forget: async (client) => void (await query(queries.forget, [receiver, client])),
});

/** A row's body. */
interface StoredEntry extends OutboxEntry {
  readonly client: string;
  readonly template: string | null;
  /** The message that has the change in `sent`. */
  readonly delivery: { readonly id: string; readonly createdAt: number } | null;
}

interface NotifiedRow {
  readonly template: string;
  readonly body: string;
}

const newEntry = (client: string, template: string | null): StoredEntry => ({
  client,
  template,
  lastNotified: neverNotified,
  waiting: null,
  sent: null,
  delivery: null,
});

const isSame = (one: OutboxEntry, other: OutboxEntry): boolean =>
  one.waiting === other.waiting && isSameState(one.lastNotified, other.lastNotified);

const isSameState = (one: LastNotified, other: LastNotified): boolean =>
  one.state === other.state && one.keys.join() === other.keys.join();

const begin = (entry: StoredEntry, delivery: StoredEntry['delivery']): StoredEntry => ({
  ...entry,
  waiting: null,
  sent: entry.waiting?.change ?? null,
  delivery,
});

const end = (entry: StoredEntry): StoredEntry => ({
  ...entry,
  lastNotified: entry.sent === null ? entry.lastNotified : lastNotifiedOf(entry.sent.health),
  sent: null,
  delivery: null,
});

const deliveryOf = (entries: readonly StoredEntry[]): Delivery => {
  const { id = '', createdAt = 0 } = entries[0]?.delivery ?? {};
  const changes = entries.flatMap(({ sent }): readonly HealthChange[] => (sent === null ? [] : [sent]));
  return { id, createdAt: new Date(createdAt), changes };
};

/** The bodies are this program's own; the schema version says which version wrote them. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion, typescript/no-unnecessary-type-parameters
const parse = <T>(body: string): T => JSON.parse(body) as T;

/** Text in PostgreSQL takes no NUL, which a name may have. */
const keyOf = (template: string | null): string => JSON.stringify(template);

const isEmpty = ({ lastNotified, waiting, sent }: StoredEntry): boolean =>
  isSameState(lastNotified, neverNotified) && waiting === null && sent === null;

const save = async (run: Query, receiver: string, entries: readonly StoredEntry[]): Promise<void> => {
  const keys = (some: readonly StoredEntry[]): unknown[] => [
    receiver,
    some.map(({ client }) => client),
    some.map(({ template }) => keyOf(template)),
  ];
  const empty = entries.filter(isEmpty);
  if (empty.length > 0) await run(queries.remove, keys(empty));
  const others = entries.filter((entry) => !isEmpty(entry));
  if (others.length === 0) return;
  await run(queries.put, [
    ...keys(others),
    others.map(({ waiting }) => (waiting === null ? null : Math.round(waiting.dueAt))),
    others.map(({ delivery }) => delivery?.id ?? null),
    others.map((entry) => JSON.stringify(entry)),
  ]);
};

const now = '(extract(epoch FROM clock_timestamp()) * 1000)';
const rowsWhere = 'SELECT template, body FROM dns_sync.notified WHERE receiver = $1 AND';
const inOrder = 'ORDER BY client, template';

/** Rows are locked in the order of their keys, so that nobody waits for somebody who waits for them. */
const queries = {
  ofClient: `${rowsWhere} client = $2`,
  now: `SELECT ${now}::float8 AS now`,
  begun: `${rowsWhere} delivery = (SELECT min(delivery) FROM dns_sync.notified
    WHERE receiver = $1 AND delivery IS NOT NULL) ${inOrder}`,
  due: `${rowsWhere} (client, template) IN (SELECT client, template FROM dns_sync.notified
    WHERE receiver = $1 AND due_at <= ${now} ORDER BY due_at LIMIT $2) AND due_at <= ${now} ${inOrder} FOR UPDATE`,
  ofDelivery: `${rowsWhere} delivery = $2 ${inOrder} FOR UPDATE`,
  put: `INSERT INTO dns_sync.notified (receiver, client, template, due_at, delivery, body)
    SELECT $1, * FROM unnest($2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[])
    ON CONFLICT (receiver, client, template) DO UPDATE
      SET due_at = excluded.due_at, delivery = excluded.delivery, body = excluded.body`,
  remove: `DELETE FROM dns_sync.notified WHERE receiver = $1
    AND (client, template) IN (SELECT * FROM unnest($2::text[], $3::text[]))`,
  forget: 'DELETE FROM dns_sync.notified WHERE receiver = $1 AND client = $2',
} as const;
