import { HostingError } from '../../hosting/errors.ts';
import { limit } from '../../lib/limit.ts';
import type { ActualTemplate } from '../../model/template.ts';
import type { Suspension } from '../../model/suspension.ts';
import type { Hold } from '../../plan/hold.ts';
import { MemoryError, type Memory } from '../../state/memory.ts';
import type { Instant } from '../../memory/backoff.ts';
import type { EndedIntent, TemplateState } from '../core/state.ts';
import { concernsAll, holdFor, isClosed, reportedHold } from '../core/client-holds.ts';
import { pause } from '../core/pauses.ts';
import type { ClientView } from '../core/permit.ts';
import { unionOf } from '../core/reading.ts';
import type { Overrides, Policy, Ports, Request } from '../ports.ts';

/** The ports, policy, overrides and request of one pass over a client. */
export type PassOptions = Ports &
  Policy &
  Overrides &
  Request & {
    /** What passes of this process could not save. */
    readonly unsaved?: UnsavedOutcomes;
  };

/** The outcomes of writes that passes of this process know and could not save. */
export interface UnsavedOutcomes {
  /** Saves what it can, and returns what is still unsaved. */
  saveAgain(run: ClientRun): Promise<UnsavedByTemplate>;
  /** In place of everything kept so far. */
  keep(unsaved: UnsavedByTemplate, run: ClientRun): Promise<void>;
}

export type UnsavedByTemplate = ReadonlyMap<number, readonly EndedIntent[]>;

type ListingById = ReadonlyMap<number, ActualTemplate>;

/** What the templates of a client share during a pass: holds of the client, and the readings. */
export class ClientRun {
  readonly pass: PassOptions;
  readonly #limitReads: <T>(task: () => Promise<T>) => Promise<T>;
  #holds: readonly Hold[] = [];
  #listing: ListingById | null = null;
  #suspensions: readonly Suspension[] = [];
  /** By template: the outcomes of writes that could not be saved yet. */
  readonly unsaved = new Map<number, readonly EndedIntent[]>();

  constructor(pass: PassOptions) {
    this.pass = pass;
    this.#limitReads = limit(pass.concurrency);
  }

  get view(): ClientView {
    const { signal, force } = this.pass;
    return { holds: this.#holds, isEnding: signal.aborted, force };
  }

  get holds(): readonly Hold[] {
    return this.#holds;
  }

  /** The hold of the client to report. */
  get reportedHold(): Hold | null {
    return reportedHold(this.#holds);
  }

  /** The union of all readings of this pass after the first, made for any template. */
  get listing(): ListingById | null {
    return this.#listing;
  }

  /** By both clocks. */
  get moment(): Instant {
    const { clock } = this.pass;
    return { now: clock.now(), uptime: clock.uptime() };
  }

  /** Those that were read last. */
  get suspensions(): readonly Suspension[] {
    return this.#suspensions;
  }

  /** If they cannot be read, the client's writes end. */
  async readSuspensions(): Promise<void> {
    this.#suspensions = (await this.save(this.pass.memory.suspensions())) ?? this.#suspensions;
  }

  /** Holds a template that is suspended by now, or outside of its windows. */
  pause(state: TemplateState): TemplateState {
    const { force, clock } = this.pass;
    return pause(state, { suspensions: this.#suspensions, now: clock.now(), force });
  }

  hold(hold: Hold): void {
    this.#holds = [...this.#holds, hold];
  }

  /**
   * All templates by id. Null, with a hold of the client, if they cannot be read or no more requests are
   * allowed.
   */
  async readTemplates(): Promise<ListingById | null> {
    const templates = await this.readOrHold(() => this.pass.service.listDnsTemplates());
    if (templates === null) return null;
    const listing = new Map(templates.map((template) => [template.id, template]));
    const union = new Map(this.#listing);
    // A listing may be older than the previous one, and may lack whole templates.
    for (const [id, template] of listing) union.set(id, unionOf(union.get(id), template));
    this.#listing = union;
    return listing;
  }

  async readOrHold<T>(read: () => Promise<T>): Promise<T | null> {
    if (isClosed(this.#holds)) return null;
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof HostingError)) throw error;
      this.hold(holdFor(error, this.pass.clock.now()));
      return null;
    }
  }

  /** Reads a subdomain, a few at a time. Returns why it cannot be read, if so. */
  readSubdomain<T>(read: () => Promise<T>): Promise<T | string> {
    return this.#limitReads(async () => {
      if (isClosed(this.#holds)) return `not read: ${this.#holds[0]?.reason}`;
      try {
        return await read();
      } catch (error) {
        if (!(error instanceof HostingError)) throw error;
        if (concernsAll(error)) this.hold(holdFor(error, this.pass.clock.now()));
        return error.message;
      }
    });
  }

  /**
   * If saving fails, the client's writes end, but writes so far are still reported. Null if it could not be
   * saved.
   */
  async save<T>(task: Promise<T>): Promise<T | null> {
    try {
      return await task;
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
      this.hold({ scope: 'client', cause: 'unsaved', reason: error.message, retryAt: null });
      return null;
    }
  }

  /** Nothing may be written, neither to the service nor to the store. */
  get isDryRun(): boolean {
    return this.pass.writer === null;
  }

  /** Of a pass that may write. */
  get writer(): Memory {
    const { writer } = this.pass;
    if (writer === null) throw new Error('a dry run writes nothing');
    return writer;
  }
}
