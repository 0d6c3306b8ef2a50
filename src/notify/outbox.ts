import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { messageOf } from '../errors.ts';
import { healthsOf, type PassEvent } from './health.ts';
import { newsAfter, type Delivery, type LastNotified, type News, type Occasion } from './news.ts';

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
  /** Whether other processes may add to it, which nothing here tells of. */
  readonly isShared: boolean;
  close(): Promise<void>;
}

/** What one receiver was told, and what it has not taken yet. A message that was begun keeps its id and changes. */
export class Outbox {
  readonly #store: NotifyStore;
  readonly #receiver: string;
  readonly #log: Logger;
  readonly #unsaved: (() => Promise<void>)[] = [];
  #saving: Promise<void> | null = null;
  #isFailing = false;

  constructor(store: NotifyStore, receiver: string, log: Logger) {
    this.#store = store;
    this.#receiver = receiver;
    this.#log = log;
  }

  /** Adds what is new in a pass. `after`: how long a change has to last, in milliseconds. */
  add(passEvent: PassEvent, on: readonly Occasion[], after = 0, now = Date.now()): Promise<void> {
    const { client } = passEvent;
    const healths = healthsOf(passEvent);
    const changedRows = async (query: Query): Promise<Row[]> => {
      const rows = await this.#rows(query, 'client = $2', [client]);
      const known = new Map(rows.map((row) => [row.template, row]));
      return healths.flatMap((health) => {
        const row = known.get(health.template) ?? { ...unknownRow, client, template: health.template };
        const changed = { ...row, ...newsAfter(row, health, passEvent, { on, after, now }) };
        return changed.next === row.next && isSame(changed.lastNotified, row.lastNotified) ? [] : changed;
      });
    };
    return this.#save(async () => {
      // Most passes bring nothing new, and one statement shows that.
      if ((await changedRows(this.#store.query)).length === 0) return;
      await this.#store.transaction(async (query) => this.#put(query, await changedRows(query)));
    });
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

  /** Milliseconds for which there is nothing to send, after there was nothing at that time, unless something is added here. */
  async idle(now: number): Promise<number> {
    if (this.#isFailing || this.#store.isShared) return lookInterval;
    let due: number | null = null;
    const sql = `SELECT min(due_at) AS due FROM ${this.#store.table} WHERE receiver = $1 AND due_at > $2`;
    const isRead = await this.#tried(async () => {
      const [row] = await this.#store.query<{ readonly due: number | null }>(sql, [this.#receiver, now]);
      due = row?.due ?? null;
    });
    return isRead ? Math.min((due ?? Infinity) - now, longestIdle) : lookInterval;
  }

  /** Whether this process is to send the message that was begun. */
  mayBeSent(): boolean {
    return this.#store.isSender();
  }

  /** The message was taken or dropped. */
  done(delivery: string): Promise<void> {
    return this.#save(() =>
      this.#store.transaction(async (query) => {
        const rows = await this.#rows(query, 'delivery = $2', [delivery]);
        await this.#put(query, rows.map(withoutBegun));
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

  async #undelivered(query: Query, now: number): Promise<readonly Undelivered[]> {
    const sql = `SELECT client, template, delivery FROM ${this.#store.table}
      WHERE receiver = $1 AND (delivery IS NOT NULL OR due_at <= $2)
      ORDER BY delivery IS NULL, delivery, due_at, client, template`;
    const found = await query<Undelivered>(sql, [this.#receiver, now]);
    return found.filter(({ client }) => this.#store.hasClient(client));
  }

  async #begin(query: Query, now: number): Promise<Delivery | null> {
    const undelivered = await this.#undelivered(query, now);
    const begun = undelivered[0]?.delivery ?? null;
    // Sorted, since a message that is sent again is the same to the byte.
    const chosen = undelivered
      .filter(({ delivery }) => delivery === begun)
      .slice(0, maxBatch)
      .toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1));
    const rows: Row[] = [];
    for (const { client, template } of chosen)
      rows.push(...(await this.#rows(query, 'client = $2 AND template = $3', [client, template])));
    const message = { id: randomUUID(), createdAt: Date.now() };
    const sent =
      begun === null
        ? rows.map((row) => ({ ...row, next: null, begun: row.next?.change ?? null, message }))
        : rows;
    const changes = sent.flatMap((row) => row.begun ?? []);
    // A program before this one may have left them in another form: the next pass sees again what differs.
    if (changes.length === 0) await this.#put(query, rows.map(withoutBegun));
    else if (begun === null) await this.#put(query, sent);
    const { id, createdAt } = sent[0]?.message ?? message;
    return changes.length === 0 ? null : { id, createdAt: new Date(createdAt), changes };
  }

  async #rows(query: Query, where: string, values: readonly unknown[]): Promise<Row[]> {
    const sql = `SELECT body FROM ${this.#store.table} WHERE receiver = $1 AND ${where} ORDER BY client, template`;
    const rows = await query<{ readonly body: string }>(sql, [this.#receiver, ...values]);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this program's own
    return rows.map(({ body }) => ({ ...unknownRow, ...(JSON.parse(body) as Row) }));
  }

  async #put(query: Query, rows: readonly Row[]): Promise<void> {
    const { table } = this.#store;
    for (const row of rows) {
      const { client, template, lastNotified, next, begun, message } = row;
      // The client as a whole comes first. Text in PostgreSQL takes no NUL, which a name may have.
      const key = [this.#receiver, client, template === null ? '' : JSON.stringify(template)];
      if (isSame(lastNotified, unknownRow.lastNotified) && next === null && begun === null)
        await query(`DELETE FROM ${table} WHERE receiver = $1 AND client = $2 AND template = $3`, key);
      else
        await query(
          `INSERT INTO ${table} (receiver, client, template, due_at, delivery, body)
             VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (receiver, client, template) DO UPDATE
               SET due_at = excluded.due_at, delivery = excluded.delivery, body = excluded.body`,
          [...key, next && Math.round(next.dueAt), message?.id ?? null, JSON.stringify(row)],
        );
    }
  }

  /** In order, and first what could not be saved before. */
  #save(...tasks: readonly (() => Promise<void>)[]): Promise<void> {
    this.#unsaved.push(...tasks);
    // Later passes see again what still differs.
    this.#unsaved.splice(0, this.#unsaved.length - maxUnsaved);
    // One attempt for all who wait: a store that does not answer would let each wait for those before it.
    if (this.#unsaved.length > 0) this.#saving ??= this.#saveAll();
    return this.#saving ?? Promise.resolve();
  }

  async #saveAll(): Promise<void> {
    for (let [first] = this.#unsaved; first !== undefined; [first] = this.#unsaved) {
      if (!(await this.#tried(first))) break;
      if (this.#unsaved[0] === first) this.#unsaved.shift();
    }
    this.#saving = null;
  }

  async #tried(task: () => Promise<void>): Promise<boolean> {
    try {
      await task();
      this.#isFailing = false;
    } catch (error) {
      const fields = { event: 'notify.unsaved', reason: messageOf(error) };
      if (!this.#isFailing) this.#log.warn(fields, 'cannot save what receivers are to be told; will retry');
      this.#isFailing = true;
    }
    return !this.#isFailing;
  }
}

/** Milliseconds between two looks where nothing tells of what is new. */
export const lookInterval = 1_000;
const longestIdle = 3_600_000;

/** Changes in one message: Slack takes 50 blocks. */
const maxBatch = 20;
const maxUnsaved = 1_000;

/** A row's body. */
interface Row extends News {
  readonly client: string;
  readonly template: string | null;
  /** The message that has the change in `begun`. */
  readonly message: { readonly id: string; readonly createdAt: number } | null;
}

interface Undelivered {
  readonly client: string;
  readonly template: string;
  readonly delivery: string | null;
}

const placeOf = ({ client, template }: Undelivered): string => `${client}\n${template}`;

/** Of what no receiver has heard. */
const unknownRow = {
  lastNotified: { state: 'in-sync', keys: [] },
  next: null,
  begun: null,
  message: null,
} as const;

const withoutBegun = (row: Row): Row => {
  const { state, keys } = row.begun?.health ?? row.lastNotified;
  return { ...row, lastNotified: { state, keys }, begun: null, message: null };
};

const isSame = (one: LastNotified, other: LastNotified): boolean =>
  one.state === other.state && one.keys.join() === other.keys.join();
