import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { messageOf } from '../errors.ts';
import type { Delivery } from './delivery.ts';
import { neverNotified, type LastNotified, type Occasion } from './health-change.ts';
import { healthsOf, type PassEvent } from './health.ts';
import { entryAfter, lastNotifiedOf, type OutboxEntry } from './outbox-entry.ts';

/** Runs one statement in the SQL that SQLite and PostgreSQL share, with values `$1`, `$2`, … */
export type Query = <Row>(sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

/**
 * Where it is saved what receivers were told and are to be told: a row for each receiver, client and template that is
 * not in sync, or of which the receiver has not taken a message yet.
 */
export interface NotifyStore {
  readonly table: string;
  readonly query: Query;
  /** All or nothing, and no other task of any process in between. */
  transaction<T>(task: (query: Query) => Promise<T>): Promise<T>;
  /** Whether this process is certainly the one that sends. */
  isSender(): boolean;
  /** Whether this process sends messages about a client. */
  hasClient(client: string): boolean;
  close(): Promise<void>;
}

/** The columns of the table, in both stores. `due_at`: when the waiting change is to be sent, in ms since the epoch. */
export const notifiedColumns =
  'receiver text NOT NULL, client text NOT NULL, template text NOT NULL, due_at bigint, delivery text, ' +
  'body text NOT NULL, PRIMARY KEY (receiver, client, template)';

/** What one receiver was told, and what it has not taken yet. A message that was begun keeps its id and changes. */
export class Outbox {
  readonly #store: NotifyStore;
  readonly #receiver: string;
  readonly #log: Logger;
  readonly #unsaved: (() => Promise<void>)[] = [];
  #saving: Promise<void> = Promise.resolve();
  #isSaid = false;

  constructor(store: NotifyStore, receiver: string, log: Logger) {
    this.#store = store;
    this.#receiver = receiver;
    this.#log = log;
  }

  /** Adds what is new in a pass. `after`: how long a change has to last, in milliseconds. */
  add(passEvent: PassEvent, on: readonly Occasion[], after = 0, now = Date.now()): Promise<void> {
    return this.#save(() => this.#add(passEvent, on, after, now));
  }

  /** The message that was begun, else the next one that is due; null if there is nothing to send. */
  async next(now = Date.now()): Promise<Delivery | null> {
    // A message that was taken, and is not saved as such, would be sent again.
    await this.#save();
    if (this.#unsaved.length > 0 || !this.#store.isSender()) return null;
    let next: Delivery | null = null;
    await this.#tried(async () => {
      if ((await this.#undelivered(this.#store.query, now)).length === 0) return;
      next = await this.#store.transaction((query) => this.#begin(query, now));
    });
    return next;
  }

  /** Whether this process is to send the message that was begun. */
  mayBeSent(): boolean {
    return this.#store.isSender();
  }

  /** The message was taken or dropped. */
  done(delivery: string): Promise<void> {
    return this.#save(() =>
      this.#store.transaction(async (query) => {
        const where = 'receiver = $1 AND delivery = $2';
        const entries = await this.#entries(query, where, [delivery]);
        await this.#put(query, entries.map(withoutSent));
      }),
    );
  }

  forget(client: string): Promise<void> {
    const sql = `DELETE FROM ${this.#store.table} WHERE receiver = $1 AND client = $2`;
    return this.#save(async () => void (await this.#store.query(sql, [this.#receiver, client])));
  }

  /** Returns how many passes could not be saved, whose news are lost where they do not last. */
  async close(): Promise<number> {
    await this.#save();
    return this.#unsaved.length;
  }

  async #add(passEvent: PassEvent, on: readonly Occasion[], after: number, now: number): Promise<void> {
    const { client } = passEvent;
    const healths = healthsOf(passEvent);
    const changed = async (query: Query): Promise<StoredEntry[]> => {
      const entries = await this.#entries(query, 'receiver = $1 AND client = $2', [client]);
      const known = new Map(entries.map((entry) => [entry.template, entry]));
      return healths.flatMap((health) => {
        const before = known.get(health.template) ?? newEntry(client, health.template);
        const entry = { ...before, ...entryAfter(before, health, passEvent, on, { after, now }) };
        return isSame(entry, before) ? [] : entry;
      });
    };
    // Most passes bring nothing new, and one statement shows that.
    if ((await changed(this.#store.query)).length === 0) return;
    await this.#store.transaction(async (query) => this.#put(query, await changed(query)));
  }

  async #undelivered(query: Query, now: number): Promise<readonly UndeliveredRow[]> {
    const rows = await query<UndeliveredRow>(
      `SELECT client, template, delivery FROM ${this.#store.table}
         WHERE receiver = $1 AND (delivery IS NOT NULL OR due_at <= $2)
         ORDER BY delivery IS NULL, delivery, due_at, client, template`,
      [this.#receiver, now],
    );
    return rows.filter(({ client }) => this.#store.hasClient(client));
  }

  async #begin(query: Query, now: number): Promise<Delivery | null> {
    const [first, ...others] = await this.#undelivered(query, now);
    if (first === undefined) return null;
    const rows = [
      first,
      ...(first.delivery === null
        ? others.slice(0, maxBatch - 1)
        : others.filter(({ delivery }) => delivery === first.delivery)),
    ];
    const entries: StoredEntry[] = [];
    for (const { client, template } of rows)
      entries.push(
        ...(await this.#entries(query, 'receiver = $1 AND client = $2 AND template = $3', [
          client,
          template,
        ])),
      );
    if (first.delivery !== null) return deliveryOf(entries);
    const delivery = { id: randomUUID(), createdAt: Date.now() };
    const begun = entries.map((entry) => ({
      ...entry,
      waiting: null,
      sent: entry.waiting?.change ?? null,
      delivery,
    }));
    await this.#put(query, begun);
    return deliveryOf(begun);
  }

  async #entries(query: Query, where: string, values: readonly unknown[]): Promise<StoredEntry[]> {
    const sql = `SELECT body FROM ${this.#store.table} WHERE ${where} ORDER BY client, template`;
    const rows = await query<{ readonly body: string }>(sql, [this.#receiver, ...values]);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this program's own
    return rows.map(({ body }) => JSON.parse(body) as StoredEntry);
  }

  async #put(query: Query, entries: readonly StoredEntry[]): Promise<void> {
    const { table } = this.#store;
    for (const entry of entries) {
      const { client, template, waiting, delivery } = entry;
      const key = [this.#receiver, client, keyOf(template)];
      if (isEmpty(entry))
        await query(`DELETE FROM ${table} WHERE receiver = $1 AND client = $2 AND template = $3`, key);
      else
        await query(
          `INSERT INTO ${table} (receiver, client, template, due_at, delivery, body)
             VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (receiver, client, template) DO UPDATE
               SET due_at = excluded.due_at, delivery = excluded.delivery, body = excluded.body`,
          [...key, waiting && Math.round(waiting.dueAt), delivery?.id ?? null, JSON.stringify(entry)],
        );
    }
  }

  /** In order, and first what could not be saved before. */
  #save(...tasks: readonly (() => Promise<void>)[]): Promise<void> {
    this.#unsaved.push(...tasks);
    // Later passes see again what still differs.
    this.#unsaved.splice(0, this.#unsaved.length - maxUnsaved);
    this.#saving = this.#saving.then(() => this.#saveAll());
    return this.#saving;
  }

  async #saveAll(): Promise<void> {
    for (let first = this.#unsaved[0]; first !== undefined; first = this.#unsaved[0]) {
      if (!(await this.#tried(first))) return;
      const at = this.#unsaved.indexOf(first);
      if (at >= 0) this.#unsaved.splice(at, 1);
    }
  }

  async #tried(task: () => Promise<void>): Promise<boolean> {
    try {
      await task();
      this.#isSaid = false;
      return true;
    } catch (error) {
      if (!this.#isSaid)
        this.#log.warn(
          { event: 'notify.unsaved', reason: messageOf(error) },
          'cannot save what receivers are to be told; will retry',
        );
      this.#isSaid = true;
      return false;
    }
  }
}

/** Changes in one message: Slack takes 50 blocks. */
const maxBatch = 20;
const maxUnsaved = 1_000;

/** A row's body. */
interface StoredEntry extends OutboxEntry {
  readonly client: string;
  readonly template: string | null;
  /** The message that has the change in `sent`. */
  readonly delivery: { readonly id: string; readonly createdAt: number } | null;
}

interface UndeliveredRow {
  readonly client: string;
  readonly template: string;
  readonly delivery: string | null;
}

const newEntry = (client: string, template: string | null): StoredEntry => ({
  client,
  template,
  lastNotified: neverNotified,
  waiting: null,
  sent: null,
  delivery: null,
});

const withoutSent = (entry: StoredEntry): StoredEntry => ({
  ...entry,
  lastNotified: entry.sent === null ? entry.lastNotified : lastNotifiedOf(entry.sent.health),
  sent: null,
  delivery: null,
});

const isSame = (one: OutboxEntry, other: OutboxEntry): boolean =>
  one.waiting === other.waiting && isSameState(one.lastNotified, other.lastNotified);

const isSameState = (one: LastNotified, other: LastNotified): boolean =>
  one.state === other.state && one.keys.join() === other.keys.join();

const isEmpty = ({ lastNotified, waiting, sent }: StoredEntry): boolean =>
  isSameState(lastNotified, neverNotified) && waiting === null && sent === null;

/** The client as a whole comes first. Text in PostgreSQL takes no NUL, which a name may have. */
const keyOf = (template: string | null): string => (template === null ? '' : JSON.stringify(template));

const deliveryOf = (entries: readonly StoredEntry[]): Delivery => {
  const { id = '', createdAt = 0 } = entries[0]?.delivery ?? {};
  return { id, createdAt: new Date(createdAt), changes: entries.flatMap(({ sent }) => sent ?? []) };
};
