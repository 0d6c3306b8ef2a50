import type { DesiredTemplate } from '../model/template.ts';
import type { Change, PassResult, Status, Trigger } from '../result.ts';

/** What the daemon knows, without secrets. All pages are made of it. Times are ms since the epoch, unless they are texts. */
export interface Facts {
  readonly now: number;
  /** The version of this state; the daemon has another one as soon as there is something new. */
  readonly version: string;
  readonly clients: readonly ClientFacts[];
  /** The oldest first. */
  readonly day: readonly SummarySlot[];
  /** Null: one process does everything. */
  readonly fleet: FleetSummary | null;
}

export interface ClientFacts {
  readonly client: string;
  readonly health: 'starting' | 'healthy' | 'held' | 'denied' | 'failing';
  /** Why it is not healthy; null if it is. */
  readonly why: string | null;
  /** Why its last pass could not be made, or ended early; null if it completed. */
  readonly lastError: string | null;
  readonly running: Trigger | null;
  /** Failed passes since the last successful one. */
  readonly failures: number;
  readonly backoffUntil: number | null;
  readonly nextScheduled: number | null;
  readonly lastPass: PassEntry | null;
  /** The oldest time of what is shown of it, if its last pass could not read the service. */
  readonly knownAt: number | null;
}

/** One template, or several clients' templates of one name. */
export interface TemplateFacts {
  readonly name: string;
  /** As the files describe them. */
  readonly files: readonly { readonly client: string; readonly desired: DesiredTemplate }[];
  /** The newest of these clients, without other templates. */
  readonly results: readonly PassResult[];
  readonly writes: Writes;
}

/** The newest first; or why they cannot be read. */
export type Writes = readonly WriteEntry[] | string;

export interface Reader {
  /** What they have signed in to do; null: they have not. */
  readonly role: 'read' | 'act' | null;
  /** Whether those who sign in with the trigger token may act. */
  readonly canAct: boolean;
}

/** The processes that share a store, the oldest first. */
export interface FleetSummary {
  readonly processes: readonly FleetProcess[];
  /** Some of the clients that no process has had for a while. */
  readonly unowned: readonly string[];
}

export interface FleetProcess {
  readonly id: string;
  readonly place: string;
  /** Where people reach it; null if it does not say. */
  readonly address: string | null;
  readonly version: string;
  /** ISO 8601. */
  readonly since: string;
  readonly aliveUntil: string;
  /** How many it owns. */
  readonly clients: number;
}

/** One pass that has ended. */
export interface PassEntry {
  readonly client: string;
  readonly trigger: Trigger;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly status: Status;
  /** Differences that it wrote. */
  readonly written: number;
  /** Differences in all templates of the client after it; null if it compared nothing. */
  readonly left: number | null;
  /** Why it failed or ended early. */
  readonly error: string | null;
}

/** A quarter of an hour, over all clients. */
export interface SummarySlot {
  readonly from: number;
  readonly passes: number;
  /** The worst status of its passes; null if there were none. */
  readonly worst: Status | null;
  readonly written: number;
  /** The largest number of differences left at one time; null before the first pass. */
  readonly left: number | null;
  /** Differences left at its end, or now. */
  readonly leftAtEnd: number | null;
}

/** The length of a slot, in milliseconds. */
export const slotLength = 15 * 60_000;

/** One write, as in `/api/history`. */
export interface WriteEntry extends Omit<Shown, 'outcome'> {
  /** ISO 8601. */
  readonly at: string;
  readonly client: string;
  readonly outcome: Shown['outcome'] | 'duplicate';
}

type Shown = Pick<Change, 'template' | 'action' | 'recordId' | 'before' | 'after' | 'outcome' | 'error'>;
