import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { MemoryError } from '../state/memory.ts';
import { currentTimeline, type PostgresDatabase } from './database.ts';
import { telling } from './listen.ts';
import { newerSchema, schemaVersion } from './schema.ts';

export interface ProcessLeaseOptions {
  /** With the tables. */
  readonly database: () => Promise<PostgresDatabase>;
  /** Milliseconds from the last renewal on. */
  readonly duration: number;
  readonly isDaemon: boolean;
  readonly version: string;
  /** Of its page; null if it has none. */
  readonly address: string | null;
}

/** What becomes of a lease. */
export interface LeaseListener {
  /** `nextExpiry`: milliseconds until the first other daemon is taken for dead unless it renews; null if there is none. */
  readonly onRenewed: (nextExpiry: number | null) => void;
  /** Its row has run out, or the database failed over: the process owns nothing any more, and gets another id. */
  readonly onLost: () => void;
  /** It could not be renewed; it is tried again. */
  readonly onTrouble: (error: unknown) => void;
}

/** By the monotonic and by the wall clock, in milliseconds. */
interface LeaseTime {
  readonly steady: number;
  readonly wall: number;
}

/**
 * That this process is alive, for all the clients that it owns: one row, renewed every third of `duration`. A row that has
 * run out by the clock of the database, or is of another timeline, is not renewed: the process gets another one. How long
 * the lease lasts is known here too, by whichever of two clocks has run further: the monotonic one stands still while the
 * machine sleeps, the other one may be set. What they say begins before the database was asked.
 */
export class ProcessLease {
  readonly #options: ProcessLeaseOptions;
  #id: string | null = null;
  /** When the last renewal that succeeded was asked for. */
  #renewed: LeaseTime = never;
  #isFirst = false;
  #joining: Promise<string> | null = null;
  #renewing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #listener: LeaseListener | null = null;

  constructor(options: ProcessLeaseOptions) {
    this.#options = options;
  }

  /** Null while it is not alive, as far as it knows. */
  get id(): string | null {
    return this.#isOver(this.#renewed) ? null : this.#id;
  }

  /** Whether it is certainly the oldest daemon that is alive. */
  get isFirst(): boolean {
    return this.#isFirst && this.id !== null;
  }

  /** Whether a lease of that time may have ended. */
  #isOver({ steady, wall }: LeaseTime): boolean {
    const { duration } = this.#options;
    // What a request may take from the check to the wire.
    const margin = Math.min(2_000, duration / 5);
    return Math.max(performance.now() - steady, Date.now() - wall) > duration - margin;
  }

  follow(listener: LeaseListener): void {
    this.#listener = listener;
  }

  /**
   * Until when writes may be sent under a claim of this process: for the time of a lease after the last renewal that was known
   * when the first of those that are under way was begun. A later renewal does not extend that.
   */
  deadline(process: string): WriteDeadline {
    const open = new Map<string, LeaseTime>();
    return {
      begun: (write, before) => void open.set(write, open.get(before ?? '') ?? this.#renewed),
      ended: (write) => void open.delete(write),
      check: () => {
        if (this.id !== null && this.id !== process) throw takenOver();
        if (this.id === null || [...open.values()].some((time) => this.#isOver(time))) throw runOut();
      },
    };
  }

  /** Takes part from now on. Returns its id. */
  join(): Promise<string> {
    const id = this.#id;
    if (id !== null) return Promise.resolve(id);
    this.#joining ??= this.#join().finally(() => (this.#joining = null));
    return this.#joining;
  }

  /** The process owns nothing any more. */
  async leave(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#joining?.catch(() => undefined);
    await this.#renewing;
    if (this.#id === null) return;
    const { query } = await this.#options.database();
    // A row that stays runs out by itself.
    await query(leave, [this.#id], patience).catch(() => undefined);
  }

  async #join(): Promise<string> {
    const { database, duration, isDaemon, version, address } = this.#options;
    const { query } = await database();
    const id = randomUUID();
    const place = `process ${process.pid} on ${hostname()}`;
    const asked = moment();
    await query(join, [id, isDaemon, place, address, version, duration], patience);
    this.#renewed = asked;
    this.#id = id;
    // The first renewal shows that it stays: until then nothing is given up for it.
    this.#renewAfter(Math.min(firstRenewal, duration / 3));
    void query(cleanUp, [], patience).catch(() => undefined);
    return id;
  }

  #renewAfter(delay: number): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#renewing = this.#renew();
    }, delay);
    if (!this.#options.isDaemon) this.#timer.unref();
  }

  async #renew(): Promise<void> {
    const { duration } = this.#options;
    try {
      const nextExpiry = await this.#renewOnce();
      this.#renewAfter(duration / 3);
      this.#listener?.onRenewed(nextExpiry);
    } catch (error) {
      // Until it has run out, it may still be renewed.
      this.#renewAfter(Math.min(duration / 10, patience));
      this.#listener?.onTrouble(error);
    }
  }

  async #renewOnce(): Promise<number | null> {
    const { database, duration } = this.#options;
    const { query, place } = await database();
    const asked = moment();
    const [row] = await query<RenewedRow>(renew, [this.#id, duration], patience);
    this.#isFirst = row?.isFirst ?? false;
    if (row === undefined) {
      this.#id = null;
      this.#renewed = never;
      this.#listener?.onLost();
      await this.join();
      return null;
    }
    if (row.schema > schemaVersion) throw newerSchema(place, row.schema);
    this.#renewed = asked;
    return row.nextExpiry;
  }
}

export interface WriteDeadline {
  /** A write begins; or one that had begun as `before` has another name now. */
  readonly begun: (write: string, before?: string) => void;
  readonly ended: (write: string) => void;
  /** Throws `MemoryError`. */
  readonly check: () => void;
}

interface RenewedRow {
  readonly schema: number;
  readonly isFirst: boolean;
  readonly nextExpiry: number | null;
}

const moment = (): LeaseTime => ({ steady: performance.now(), wall: Date.now() });

const never: LeaseTime = { steady: -Infinity, wall: -Infinity };

const runOut = (): MemoryError =>
  new MemoryError(
    'the lease of this process was not renewed in time, so another process may have taken this client over: nothing more is sent',
  );

/** Why is not asked: that may be late, and another process may come a moment later. */
export const takenOver = (): MemoryError =>
  new MemoryError(
    'another process has taken over this client, or this one did not renew its lease in time, or PostgreSQL failed over: nothing more is sent, and whoever writes for this client next settles open writes',
  );

/** Milliseconds. What is said about a lease is worth nothing once it takes longer. */
const patience = 2_000;
const firstRenewal = 1_000;

const join = `INSERT INTO dns_sync.processes (id, is_daemon, place, address, version, since, alive_until, timeline)
  VALUES ($1, $2, $3, $4, $5, clock_timestamp(), clock_timestamp() + $6 * interval '1 millisecond', ${currentTimeline})`;

const isUnexpired = 'alive_until > clock_timestamp()';

const renew = `UPDATE dns_sync.processes AS own
    SET alive_until = clock_timestamp() + $2 * interval '1 millisecond', renewals = renewals + 1
  WHERE id = $1 AND ${isUnexpired} AND timeline = ${currentTimeline}
  RETURNING (SELECT version FROM dns_sync.schema_version) AS schema,
    NOT EXISTS (SELECT FROM dns_sync.processes o WHERE o.is_daemon AND o.${isUnexpired}
      AND (o.since, o.id) < (own.since, own.id)) AS "isFirst",
    (SELECT extract(epoch FROM min(o.alive_until) - clock_timestamp())::float8 * 1000
      FROM dns_sync.processes o WHERE o.is_daemon AND o.id <> own.id AND o.${isUnexpired}) AS "nextExpiry"`;

/** From then on its files are in use no more: whoever has others may take what it gave up a moment ago. */
const leave = `WITH files AS (DELETE FROM dns_sync.files WHERE process = $1)
  DELETE FROM dns_sync.processes WHERE id = $1 RETURNING CASE WHEN is_daemon THEN ${telling('clients')} END`;

/** Of processes that died long ago. */
const cleanUp = `WITH dead AS (DELETE FROM dns_sync.processes
    WHERE alive_until < clock_timestamp() - interval '1 hour' RETURNING id)
  DELETE FROM dns_sync.files WHERE process IN (SELECT id FROM dead)`;
