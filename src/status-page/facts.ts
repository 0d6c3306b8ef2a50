import type { RecordData } from '../model/record.ts';
import type { PageClock } from '../report/html-words.ts';
import type { Status, TemplateResult, Trigger } from '../result.ts';
import type { Excerpt, ShownTemplate } from './excerpt.ts';
import type { PageQuery } from './query.ts';

/** What all pages show of the whole. */
export interface PageFrame extends PageClock {
  /** Of what is shown; another one at the daemon means that there is something new. */
  readonly version: string;
}

/** All that the status page shows. */
export interface PageFacts extends PageFrame {
  readonly query: PageQuery;
  readonly newest: Excerpt;
  readonly clients: readonly ClientSummary[];
  readonly day: readonly SummarySlot[];
  /** The newest first. */
  readonly passes: readonly PassEntry[];
  /** The newest first; a text says why they cannot be read. */
  readonly writes: readonly WriteEntry[] | string;
}

/** All that the page of one template shows; of several where they have one name. */
export interface TemplateSummary extends PageFrame {
  readonly name: string;
  readonly hasSeveralClients: boolean;
  readonly templates: readonly TemplateDetails[];
  readonly clients: readonly ClientSummary[];
  readonly writes: PageFacts['writes'];
}

export interface TemplateDetails extends ShownTemplate {
  readonly records: readonly RecordState[];
  readonly moreRecords: number;
}

/** A record of a file, and how it is at the service. */
export interface RecordState {
  readonly record: RecordData;
  /** `FILE:LINE`. */
  readonly place: string;
  /** Null: nobody could look. */
  readonly state: 'in-sync' | TemplateResult['differences'][number]['action'] | null;
}

/** Times in ms since the epoch. */
export interface ClientSummary {
  readonly client: string;
  readonly health: 'starting' | 'healthy' | 'held' | 'denied' | 'failing';
  /** Why it is not healthy; null where it is. */
  readonly why: string | null;
  readonly running: Trigger | null;
  readonly waiting: Trigger | null;
  /** Failed passes since the last successful one. */
  readonly failures: number;
  readonly backoffUntil: number | null;
  readonly nextScheduled: number | null;
  readonly lastPass: PassEntry | null;
  /** Where its passes fail as a whole: why, and since when what is shown of its templates is how it was. */
  readonly trouble: Trouble | null;
}

interface Trouble {
  readonly why: string;
  /** Null: nothing is known. */
  readonly knownAt: number | null;
  /** Templates of which nothing is known. */
  readonly unknown: number;
}

/** One pass that has ended. */
export interface PassEntry {
  readonly client: string;
  readonly trigger: Trigger;
  /** Ms since the epoch. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly status: Status;
  /** Differences that it wrote. */
  readonly written: number;
  /** Differences in all templates of the client after it; null where it did not come to look. */
  readonly left: number | null;
  /** Why it could not be made, or ended early. */
  readonly error: string | null;
}

/** A quarter of an hour, over all clients. */
export interface SummarySlot {
  /** Ms since the epoch. */
  readonly from: number;
  readonly passes: number;
  /** The worst that a pass in it ended with; null where there was none. */
  readonly worst: Status | null;
  readonly written: number;
  /** The most differences that were left at one time; null before the first pass. */
  readonly left: number | null;
  /** Those that were left at its end, or are now. */
  readonly leftAtEnd: number | null;
}

/** Of a slot, in milliseconds. */
export const slotLength = 15 * 60_000;

/** One write of the past, as `/api/history` has it. */
export interface WriteEntry {
  /** ISO 8601. */
  readonly at: string;
  readonly client: string;
  readonly template: string;
  readonly action: 'add' | 'update' | 'park';
  readonly recordId: number | null;
  readonly before: RecordData | null;
  readonly after: RecordData;
  readonly outcome: 'applied' | 'failed' | 'unknown' | 'duplicate';
  readonly error: string | null;
}
