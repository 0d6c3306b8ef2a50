import { HostingError } from '../hosting/errors.ts';
import { limit } from '../lib/limit.ts';
import type { ActualTemplate } from '../model/template.ts';
import type { Suspension } from '../model/suspension.ts';
import type { Hold } from '../plan/hold.ts';
import {
  historyEntryOf,
  MemoryError,
  noChanges,
  type Entry,
  type HistoryEntry,
  type Instant,
  type Memory,
  type MemoryChanges,
  type NewEntry,
} from '../state/memory.ts';
import { concernsAll, holdFor, isClosed, reportedHold } from './client-holds.ts';
import { changesSince } from './memory.ts';
import type { ClientView } from './permit.ts';
import type { Overrides, Policy, Ports, Request } from './ports.ts';
import { compareListing } from './readings.ts';
import type { TemplateState } from './state.ts';
import { suspend } from './suspend.ts';
import { isBefore, type Asked } from './times.ts';

/** The ports, policy, overrides and request of one pass over a client. */
export type PassOptions = Ports & Policy & Overrides & Request;

/** All templates as one listing shows them, by id. */
export interface Listing extends Asked {
  readonly templates: ReadonlyMap<number, ActualTemplate>;
}

/** What the templates of a client share during a pass: holds of the client, the newest listing, and what is saved. */
export class ClientRun {
  readonly pass: PassOptions;
  readonly #limitReads: <T>(task: () => Promise<T>) => Promise<T>;
  holds: readonly Hold[] = [];
  /** By the monotonic clock; 0: the service has not asked to wait. */
  #waitsUntil = 0;
  areTokensRejected = false;
  /** Of this pass after the first, the listing that was asked for last. */
  listing: Listing | null = null;
  /** Those that were read last. */
  suspensions: readonly Suspension[] = [];

  constructor(pass: PassOptions) {
    this.pass = pass;
    this.#limitReads = limit(pass.concurrency);
  }

  get view(): ClientView {
    return { holds: this.holds, isEnding: this.pass.signal.aborted };
  }

  /** The hold of the client to report. */
  get reportedHold(): Hold | null {
    return reportedHold(this.holds);
  }

  get moment(): Instant {
    const { clock } = this.pass;
    return { now: clock.now(), uptime: clock.uptime() };
  }

  /** If they cannot be read, the client's writes end. */
  async readSuspensions(): Promise<void> {
    this.suspensions = (await this.save(this.pass.memory.suspensions())) ?? this.suspensions;
  }

  /** A template before its next step: others may have read the service, and people suspended it, meanwhile. */
  look(state: TemplateState): TemplateState {
    const { moment } = this;
    const listing = this.listing?.templates ?? null;
    const compared =
      state.confirmed.size === 0
        ? state
        : compareListing(state, listing, this.listing ?? { asked: moment, read: moment });
    return suspend(compared, this.suspensions);
  }

  hold(hold: Hold): void {
    this.holds = [...this.holds, hold];
  }

  /** A request of the client failed. */
  fail(error: HostingError): void {
    const { now, uptime } = this.moment;
    const hold = holdFor(error, now);
    if (hold.retryAt !== null) this.#waitsUntil = Math.max(this.#waitsUntil, uptime.at + hold.retryAt - now);
    this.areTokensRejected ||= error.status === 401;
    this.hold(hold);
  }

  /** Milliseconds that the service still asks to wait, whatever the clock was set to meanwhile; null if it does not. */
  get retryAfter(): number | null {
    return this.#waitsUntil === 0 ? null : Math.max(0, this.#waitsUntil - this.moment.uptime.at);
  }

  /** Null, with a hold of the client, if templates cannot be read or no more requests are allowed. */
  async readTemplates(): Promise<Listing | null> {
    const asked = this.moment;
    const found = await this.readOrHold(() => this.pass.service.listDnsTemplates());
    if (found === null) return null;
    const templates = new Map(found.map((template) => [template.id, template]));
    const listing = { templates, asked, read: this.moment };
    // Two may be under way at once.
    if (this.listing === null || !isBefore(asked, this.listing.asked)) this.listing = listing;
    return listing;
  }

  /** After the time between two readings; null like `readTemplates`, and at the end of the program. */
  async readLater(): Promise<Listing | null> {
    const { clock, settle, signal } = this.pass;
    if (!isClosed(this.holds)) await clock.sleep(settle, signal);
    return signal.aborted ? null : this.readTemplates();
  }

  async readOrHold<T>(read: () => Promise<T>): Promise<T | null> {
    if (isClosed(this.holds)) return null;
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof HostingError)) throw error;
      this.fail(error);
      return null;
    }
  }

  /** Reads a subdomain, a few at a time. Returns why it cannot be read, if so. */
  readSubdomain<T>(read: () => Promise<T>): Promise<T | string> {
    return this.#limitReads(async () => {
      if (isClosed(this.holds)) return `not read: ${this.holds[0]?.reason}`;
      try {
        return await read();
      } catch (error) {
        if (!(error instanceof HostingError)) throw error;
        if (concernsAll(error)) this.fail(error);
        return error.message;
      }
    });
  }

  /** Null, with a hold of the client, if it cannot be saved. Writes so far are still reported. */
  async save<T>(task: Promise<T>): Promise<T | null> {
    try {
      return await task;
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
      this.hold({ scope: 'client', cause: 'unsaved', reason: error.message, retryAt: null });
      return null;
    }
  }

  begin(entry: NewEntry): Promise<Entry | null> {
    return this.save(this.writer.begin(entry));
  }

  /**
   * Saves what is new of a template, in one transaction, after it was told. If that fails, the next pass finds the journal
   * as it was.
   */
  async keep(state: TemplateState): Promise<TemplateState> {
    const { memory, journal, saved, history, told } = state;
    if (memory === saved.memory && journal === saved.journal && history.length === 0) return state;
    this.tell(history.slice(told));
    const isSaved = await this.save(this.writer.save(unsavedOf(state)).then(() => true));
    return isSaved
      ? { ...state, saved: { memory, journal }, history: [], told: 0 }
      : { ...state, told: history.length };
  }

  /** Tells log and metrics what became of writes. */
  tell(history: readonly HistoryEntry[]): void {
    for (const { at: _at, run: _run, outcome, ...entry } of history)
      this.pass.onChange({ ...entry, outcome: outcome === 'duplicate' ? 'applied' : outcome });
  }

  tellUnknown(entry: Entry, error: string): void {
    this.tell([historyEntryOf(entry, { outcome: 'unknown', recordId: entry.recordId, error })]);
  }

  /** Nothing may be written, neither to the service nor to the store. */
  get isDryRun(): boolean {
    return this.pass.writer === null || this.pass.isRehearsal === true;
  }

  /** Of a pass that may write. */
  get writer(): Memory {
    const { writer } = this.pass;
    if (writer === null) throw new Error('a dry run writes nothing');
    return writer;
  }
}

const unsavedOf = ({ memory, journal, saved, history }: TemplateState): MemoryChanges => ({
  ...noChanges,
  ...changesSince(saved.memory, memory),
  ...journalChanges(saved.journal, journal),
  history,
});

export const journalChanges = (
  before: readonly Entry[],
  now: readonly Entry[],
): Pick<MemoryChanges, 'entries' | 'left'> => {
  const known = new Set(before);
  const ids = new Set(now.map(({ id }) => id));
  return {
    entries: now.filter((entry) => !known.has(entry)),
    left: before.map(({ id }) => id).filter((id) => !ids.has(id)),
  };
};
