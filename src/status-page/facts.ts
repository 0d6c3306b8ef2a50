import { dataOf, hasPriority, type ActualRecord, type RecordData, type Place } from '../model/record.ts';
import type { PageClock } from '../report/html-words.ts';
import type { Commit, PassResult, Status, TemplateResult, Trigger } from '../result.ts';
import type { Excerpt, ShownTemplate } from './excerpt.ts';
import type { Notice, PageQuery } from './query.ts';

/** What all pages show. */
export interface PageFrame extends PageClock {
  /** The version of the shown state; the daemon has another one as soon as there is something new. */
  readonly version: string;
  readonly reader: Reader;
  /** What the reader has just done. */
  readonly notice: Notice | null;
  /** The way to the root of the pages, `./` or `../`, and the address of this one from there. */
  readonly root: string;
  readonly page: string;
}

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
  /** The id of the process that says this. */
  readonly isHere: string;
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

/** The content of the status page. */
export interface PageFacts extends PageFrame {
  /** Null: one process does everything. */
  readonly fleet: FleetSummary | null;
  readonly query: PageQuery;
  readonly newest: Excerpt;
  readonly clients: readonly ClientSummary[];
  readonly day: readonly SummarySlot[];
  /** The newest first. */
  readonly passes: readonly PassEntry[];
}

/** The newest first; or why they cannot be read. */
export type Writes = readonly WriteEntry[] | string;

/** The content of the page of one template, or of several with the same name. */
export interface TemplateSummary extends PageFrame {
  readonly name: string;
  readonly hasSeveralClients: boolean;
  readonly templates: readonly TemplateDetails[];
  /** Of their files. */
  readonly problems: PassResult['problems'];
  readonly commits: readonly Commit[];
  readonly clients: readonly ClientSummary[];
  readonly writes: Writes;
}

export interface TemplateDetails extends ShownTemplate {
  /** Nothing is written. */
  readonly dryRun: boolean;
  /** Of its file, or of the service if the file cannot be read. */
  readonly records: readonly ShownRecord[];
  readonly recordsOf: 'file' | 'service';
  readonly moreRecords: number;
  /** What to change in its files, so that they say what the service has. */
  readonly pastes: readonly ShownPaste[];
  readonly morePastes: number;
}

export interface ShownPaste {
  /** The place of its difference among those of the template, from 0. */
  readonly at: number;
  /** `FILE:LINE` of what the file says now; the template's file for a new entry. */
  readonly place: string;
  /** What the file says now; null: nothing. */
  readonly before: RecordData | null;
  /** The entry to paste; null if there is to be none. */
  readonly yaml: string | null;
}

/** A record of a file, and its state at the service; or one of the service. */
export interface ShownRecord {
  readonly record: RecordData;
  /** `FILE:LINE`, or the id at the service. */
  readonly place: string;
  /** Null: unknown. */
  readonly state: 'in-sync' | TemplateResult['differences'][number]['action'] | null;
  /** What the service has in its place, if that differs. */
  readonly actual: RecordData | null;
}

/** Times in ms since the epoch. */
export interface ClientSummary {
  readonly client: string;
  readonly health: 'starting' | 'healthy' | 'held' | 'denied' | 'failing';
  /** Why it is not healthy; null if it is. */
  readonly why: string | null;
  readonly running: Trigger | null;
  readonly waiting: Trigger | null;
  /** Failed passes since the last successful one. */
  readonly failures: number;
  readonly backoffUntil: number | null;
  readonly nextScheduled: number | null;
  readonly lastPass: PassEntry | null;
  /** Set if its passes fail as a whole: why, and how old the shown state is. */
  readonly trouble: Trouble | null;
}

interface Trouble {
  readonly why: string;
  /** Null: unknown. */
  readonly knownAt: number | null;
  /** Templates with unknown state. */
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
  /** Differences in all templates of the client after it; null if it compared nothing. */
  readonly left: number | null;
  /** Why it failed or ended early. */
  readonly error: string | null;
}

/** A quarter of an hour, over all clients. */
export interface SummarySlot {
  /** Ms since the epoch. */
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

/** The records of a file, each with its state from the differences; then those that the service alone has. */
export const recordStates = (
  records: readonly (RecordData & { readonly source: Place })[],
  { inSync, differences }: Pick<TemplateResult, 'inSync' | 'differences'>,
): readonly ShownRecord[] => {
  const open = new Map(
    differences.flatMap((one) => ('source' in one ? [[keyOf(one.desired, one.source), one] as const] : [])),
  );
  const wasCompared = inSync + differences.length > 0;
  const extra = differences.flatMap((one) => (one.action === 'surplus' || one.action === 'park' ? one : []));
  return [
    ...records.map((record): ShownRecord => {
      const difference = open.get(keyOf(record, record.source));
      return {
        record: dataOf(record),
        place: `${record.source.file}:${record.source.line}`,
        state: wasCompared ? (difference?.action ?? 'in-sync') : null,
        actual: (difference && 'current' in difference ? difference.current : null) ?? null,
      };
    }),
    ...extra.map(({ action, recordId, current }) => ({
      record: current,
      place: `record ${recordId}`,
      state: action,
      actual: null,
    })),
  ];
};

/** What the service has, where the file says nothing that can be read. */
export const serviceRecords = (records: readonly ActualRecord[]): readonly ShownRecord[] =>
  records.map(({ id, ...record }) => ({
    record: { ...dataOf(record), priority: hasPriority(record.type.toUpperCase()) ? record.priority : null },
    place: `record ${id}`,
    state: null,
    actual: null,
  }));

const keyOf = ({ type, content }: RecordData, { file, line, column }: Place): string =>
  JSON.stringify([file, line, column, type, content]);
