import { UserError } from '../errors.ts';
import type { IdRanges } from '../lib/id-ranges.ts';
import type { Place, RecordData } from '../model/record.ts';
import type { Cause } from '../plan/difference.ts';
import type { KnownRecord } from '../plan/memory.ts';
import type { Suspensions } from '../model/suspension.ts';

/** The state cannot be saved, and without that nothing may be sent. */
export class MemoryError extends UserError {
  override name = 'MemoryError';
}

/**
 * The saved state, so that no record is added twice and every difference has a cause. It may be lost; then
 * every record is new.
 */
export interface MemoryReader extends Pick<Suspensions, 'suspensions'> {
  /** Null for a template that has not been read yet. */
  template(templateId: number): Promise<StoredTemplate | null>;
  /** Every template that has been managed. */
  templates(): Promise<TemplateRow[]>;
  /** The journal of all its templates, the oldest entry first. */
  journal(): Promise<Entry[]>;
  /** The current revisions, if the store can tell. */
  revisions?(): Promise<Revisions>;
  /** By template: the name of another client of its base URL that has compared it within the last day. */
  comparedByOthers(templateIds: readonly number[]): Promise<ReadonlyMap<number, string>>;
}

/** Texts that change whenever the saved state may have changed, also by another process. */
export interface Revisions {
  /** The revision of one template's state. */
  readonly of: (templateId: number) => string;
}

export interface Memory extends MemoryReader {
  /** On disk, synced, before it returns: then the write may be sent. */
  begin(entry: NewEntry): Promise<Entry>;
  /** All or nothing. */
  save(changes: MemoryChanges): Promise<void>;
  /** The same as `comparedByOthers`, and notes that this client compares the other templates now. */
  compare(templateIds: readonly number[]): Promise<ReadonlyMap<number, string>>;
}

/** The state of one client, in a store that also has the state of others. */
export interface ClientMemory extends Memory, History, Suspensions {}

/** The saved state of one template. */
export interface StoredTemplate {
  readonly row: TemplateRow;
  readonly records: readonly SavedRecord[];
}

/** Without what is not known of it: there may be hundreds of thousands. */
export type SavedRecord = Pick<RecordState, 'key' | 'wanted'> & Partial<RecordState>;

export interface TemplateRow {
  readonly templateId: number;
  readonly template: string;
  readonly file: string;
  /** The ids that a reading has lost, if many, until another pass agrees. */
  readonly suspectIds: readonly number[] | null;
  /** Ids that existed at first contact and are in no file; null before the first pass. */
  readonly preexistingIds: readonly number[] | null;
  /** Ids of other records that readings have shown since, and that are in no file. */
  readonly otherIds: readonly number[];
  /** Ids that answers to our writes have shown, and no listing yet. */
  readonly unlistedIds: readonly number[];
  /** The newest reading, and since when all readings agree with it. */
  readonly lastReading: { readonly digest: string; readonly since: Instant } | null;
  /** When the last successful write was sent, in ms since the epoch; null if there was none. */
  readonly lastWriteAt: number | null;
  /** The keys of differences of its subdomains that were reported as drift and still exist. */
  readonly reportedDrift: readonly string[];
}

/** What is saved in one transaction: what was learnt of a template, and of entries of the journal. */
export interface MemoryChanges {
  /** Null if only the journal changes. */
  readonly row: TemplateRow | null;
  readonly records: readonly SavedRecord[];
  /** Keys of records to forget. */
  readonly forgotten: readonly string[];
  /** Entries of the journal as they are now. */
  readonly entries: readonly Entry[];
  /** Ids of entries that leave the journal. */
  readonly left: readonly number[];
  /** Writes whose outcome is known now. */
  readonly history: readonly HistoryEntry[];
}

export const noChanges: MemoryChanges = {
  row: null,
  records: [],
  forgotten: [],
  entries: [],
  left: [],
  history: [],
};

/** The state of one desired, or once desired, record. */
export interface RecordState extends KnownRecord {
  /** Adds that were sent and may have taken effect, since a person last allowed a retry. */
  readonly adds: number;
  readonly stored: Acceptance | null;
  /** What was sent and what the service stored, if they differ. */
  readonly rewritten: { readonly sent: RecordData; readonly stored: RecordData } | null;
  readonly failure: Failure | null;
}

/** That the service accepted a value. */
export interface Acceptance {
  readonly sent: RecordData;
  /** In ms since the epoch: the last three times. */
  readonly at: readonly number[];
}

/** A write that the service refused, or that was lost; it is sent again after a pause. */
export interface Failure {
  readonly kind: 'refused' | 'lost';
  readonly message: string;
  readonly count: number;
  /** The values that failed; an edit of the record starts again. */
  readonly sent: RecordData;
  readonly since: Instant;
  /** Milliseconds. */
  readonly pause: number;
}

/** A monotonic time within one boot of the machine. */
export interface Uptime {
  readonly boot: string;
  /** Milliseconds. */
  readonly at: number;
}

/** A point in time, by the wall clock (ms since the epoch), which may jump, and by the monotonic clock. */
export interface Instant {
  readonly now: number;
  readonly uptime: Uptime;
}

/** Identifies a write from its beginning to its last outcome, also over passes and processes: its run, and its number there. */
export const writeIdOf = ({ run, id }: { readonly run: string; readonly id: number }): string =>
  `${run}/${id}`;

/** A write that left or is about to leave: it is in the journal, on disk, before it is sent. */
export interface Entry {
  readonly id: number;
  readonly run: string;
  readonly sentAt: Instant;
  readonly templateId: number;
  readonly template: string;
  readonly file: string;
  readonly action: 'add' | 'update' | 'park';
  /** The key of the desired record; `#ID` for a park, `#ID back` for its undoing. */
  readonly key: string;
  /** The record that it changes, or that it made. */
  readonly recordId: number | null;
  /** As the listing showed it. */
  readonly before: RecordData | null;
  readonly after: RecordData;
  readonly cause: Cause;
  /** Why it is sent, for log and history: what started the pass, where the file asks for it, and its commit. */
  readonly trigger: string;
  readonly source: Place | null;
  readonly revision: string | null;
  /** For a park: the key of the desired record that it makes way for; null if there is none. */
  readonly makesWayFor: string | null;
  /** For an add whose outcome is unknown: the ids from before it. */
  readonly idsBefore: IdRanges;
  /**
   * `sent`: the outcome is unknown; `accepted`: an answer or a reading showed it; `missed`: it is unknown, and a reading after
   * the time in which it may appear did not show it; `failed`: a second one did not, or a person takes the listing's word.
   */
  readonly state: 'sent' | 'accepted' | 'missed' | 'failed';
  /** Why its outcome is unknown. */
  readonly error: string | null;
  /** When the service refused it: the next whole reading decides. */
  readonly refusedAt: Instant | null;
  /** When an answer showed its record as it was before. */
  readonly unchangedAt: Instant | null;
  readonly acceptedAt: Instant | null;
  readonly missedAt: Instant | null;
  /** Its record, as the service stored it. */
  readonly stored: RecordData | null;
  /** The answer showed one new record of its type with other values: it counts, and may be somebody else's. */
  readonly isOnlyCounted: boolean;
}

/** An entry that is about to be sent. */
export type NewEntry = Omit<Entry, 'id'>;

export interface HistoryEntry extends Pick<Entry, 'trigger' | 'source' | 'revision' | 'cause'> {
  readonly at: number;
  readonly run: string;
  readonly write: string;
  readonly templateId: number;
  readonly template: string;
  readonly action: 'add' | 'update' | 'park';
  readonly recordId: number | null;
  readonly before: RecordData | null;
  readonly after: RecordData;
  readonly outcome: 'applied' | 'failed' | 'unknown' | 'duplicate';
  readonly error: string | null;
}

export interface HistoryFilter {
  /** None: all. */
  readonly templates?: readonly string[];
  readonly since?: number;
  readonly outcome?: HistoryEntry['outcome'] | null;
  /** The newest so many. */
  readonly limit: number;
}

/** Milliseconds for which an entry is kept. */
export const historyAge = 90 * 86_400_000;

export interface History {
  /** The oldest first. */
  history(filter: HistoryFilter): Promise<readonly HistoryEntry[]>;
}

/** Without saved state. */
export const noMemories: MemoryReader = {
  template: () => Promise.resolve(null),
  templates: () => Promise.resolve([]),
  journal: () => Promise.resolve([]),
  suspensions: () => Promise.resolve([]),
  revisions: () => Promise.resolve({ of: () => 'none' }),
  comparedByOthers: () => Promise.resolve(new Map()),
};

/** The history entry of a write whose outcome is known. */
export const historyEntryOf = (
  entry: Entry,
  result: Pick<HistoryEntry, 'outcome' | 'recordId' | 'error'>,
): HistoryEntry => {
  const { sentAt, run, templateId, template, action, before, after, cause, trigger, source, revision } =
    entry;
  const what = { at: sentAt.now, run, write: writeIdOf(entry), templateId, template, action, before, after };
  return { ...what, ...result, cause, trigger, source, revision };
};
