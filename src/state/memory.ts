import { UserError } from '../errors.ts';
import type { Place, RecordData } from '../model/record.ts';
import type { Cause } from '../plan/difference.ts';
import type { Displaced } from '../plan/memory.ts';
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
  /** Writes that were sent and have an unknown outcome. */
  openIntents(): Promise<Intent[]>;
  history(filter?: HistoryFilter): Promise<HistoryEntry[]>;
  /** The current revisions, if the store can tell. */
  revisions?(): Promise<Revisions>;
}

/** Texts that change whenever the saved state may have changed, also by another process. */
export interface Revisions {
  /** The revision of one template's state. */
  readonly of: (templateId: number) => string;
}

export interface Memory extends MemoryReader {
  /** On disk, synced, before it returns: then the write may be sent. */
  begin(intent: Omit<Intent, 'id'>): Promise<Intent>;
  /**
   * Closes an intent, notes it and saves the changes of its outcome, in one transaction. It may be called again, by who
   * cannot know that it was done: the same outcome is noted once.
   */
  finish(intent: Intent, outcome: IntentResult, changes: MemoryChanges): Promise<void>;
  save(changes: MemoryChanges): Promise<void>;
  close(): Promise<void>;
}

/** The saved state of one template. */
export interface StoredTemplate {
  readonly row: TemplateRow;
  readonly records: readonly RecordState[];
}

export interface TemplateRow {
  readonly templateId: number;
  readonly template: string;
  readonly file: string;
  /** The ids that a reading has lost, if many, until another pass agrees. */
  readonly suspectIds: readonly number[] | null;
  /** Ids that existed at first contact and are in no file; null before the first pass. */
  readonly strangers: readonly number[] | null;
  /** The newest reading, and since when all readings agree with it. */
  readonly lastReading?: {
    /** The digest of ids and values. */
    readonly digest: string;
    /** `now`: ms since the epoch. */
    readonly since: { readonly now: number; readonly uptime: Uptime };
  } | null;
  /** Ids of other records of the template that readings have shown since, and that are in no file. */
  readonly others?: readonly number[];
  /** In state of older versions, instead of those: the highest id ever seen. */
  readonly highestId?: number;
  /** Ids that answers to our writes have shown, and no listing yet. */
  readonly answeredIds?: readonly number[];
  /** By key: the record that the answer to an add showed, though the answer was not whole and the outcome is open. */
  readonly addedIds?: Readonly<Record<string, number>>;
  /** Adds of unknown outcome that were bound to a record which somebody else may have made: they may still appear. */
  readonly matchedAdds?: readonly MatchedAdd[];
  /** At first contact a record may have been a desired one in the service's spelling, and nobody has decided that yet. */
  readonly isSpellingDoubtful?: boolean;
  /** When the last successful write was sent, in ms since the epoch; null if there was none. */
  readonly lastWriteAt: number | null;
  /** The keys of differences of its subdomains that were reported as drift and still exist. */
  readonly reportedDrift?: readonly string[];
}

export interface MatchedAdd {
  readonly key: string;
  readonly sent: RecordData;
  readonly idsBefore: readonly number[];
  /** When it was sent, in ms since the epoch, and by the monotonic clock. */
  readonly at: number;
  readonly since?: Uptime | undefined;
  /** A reading was taken after the time in which it may appear. */
  readonly isOver?: boolean;
}

export interface MemoryChanges {
  readonly row: TemplateRow;
  readonly records: readonly RecordState[];
  /** Keys of records to forget. */
  readonly forgotten: readonly string[];
}

/** The outcome of a write, for the history. */
export interface IntentResult {
  readonly outcome: HistoryEntry['outcome'];
  readonly recordId: number | null;
  readonly error: string | null;
}

/** The state of one desired, or once desired, record. */
export interface RecordState {
  /** Identifies the desired record, without its TTL; `#ID` once it was parked. */
  readonly key: string;
  /** The id of the actual record. */
  readonly recordId: number | null;
  /** Ids of other records that its adds made: while one of them exists, nothing more is added. */
  readonly copies?: readonly number[];
  /** Both sides as they last agreed, or as they were first seen. State files call the desired one `wanted`. */
  readonly wanted: RecordData;
  readonly seen: RecordData | null;
  /** Its canonical name in the answer to a write of it; absent if no answer showed it. */
  readonly keptName?: string;
  /** Adds that were sent and may have taken effect, since a person last allowed a retry. */
  readonly adds: number;
  readonly stored: Acceptance | null;
  /** For a record that was parked to make way: the desired record it made way for, and its previous state. */
  readonly displaced?: Displaced | null;
  /** What was sent and what the service stored, if they differ. */
  readonly rewritten: { readonly sent: RecordData; readonly stored: RecordData } | null;
  readonly failure: Failure | null;
  /** When its record was first missing, in ms since the epoch; if another reading lacks it too, it is gone. */
  readonly missedAt?: number | null;
  /** The first cause of the difference; null once both sides agreed. */
  readonly cause: Cause | null;
}

/** That the service accepted a value. */
export interface Acceptance {
  readonly sent: RecordData;
  /** In ms since the epoch: the last three times. */
  readonly at: readonly number[];
  /** The last one of them, by the monotonic clock. */
  readonly since?: Uptime | undefined;
  /** What listings that are behind may still show instead: null for no record. Absent in state of older versions. */
  readonly replaced?: readonly (RecordData | null)[];
}

/**
 * `refused`: the service refused it; `unknown`: an add of unknown outcome is in no reading; `unseen`: the
 * effect of an update of unknown outcome has not been seen yet.
 */
export interface Failure {
  readonly kind: 'refused' | 'unknown' | 'unseen';
  readonly message: string;
  readonly count: number;
  /** The values that failed; an edit of the record starts again. */
  readonly sent: RecordData;
  /** Ms since the epoch; no retry before that. */
  readonly retryAt: number;
  /** Milliseconds. */
  readonly pause: number;
  /** When it failed, by the monotonic clock. */
  readonly since?: Uptime;
  /** For an add of unknown outcome: the ids from before it, so that what it made late is recognised. */
  readonly idsBefore?: readonly number[];
  /** A later add was refused: the time in which this one may take effect is over, and the pause is that of the refusal. */
  readonly isOver?: boolean;
}

/** A monotonic time within one boot of the machine. */
export interface Uptime {
  readonly boot: string;
  /** Milliseconds. */
  readonly at: number;
}

/** Identifies a write from its intent to its last outcome, also over passes and processes: its run, and its number there. */
export const writeIdOf = ({ run, id }: { readonly run: string; readonly id: number }): string =>
  `${run}/${id}`;

/** A write that is about to be sent, or was sent. */
export interface Intent {
  readonly id: number;
  readonly run: string;
  readonly at: number;
  /** The same, by the monotonic clock. */
  readonly uptime?: Uptime;
  readonly templateId: number;
  readonly template: string;
  readonly file: string;
  readonly action: 'add' | 'update' | 'park';
  /** The key of the desired record; `#ID` for a park. */
  readonly key: string;
  readonly recordId: number | null;
  readonly before: RecordData | null;
  readonly after: RecordData;
  readonly cause: Cause;
  /** Why it is sent, for log and history: what started the pass, where the file asks for it, and its commit. */
  readonly trigger?: string;
  readonly source?: Place | null;
  readonly revision?: string | null;
  /** For a park: the key of the desired record that it makes way for; null if there is none. */
  readonly makesWayFor?: string | null;
  /** For an add: the ids from before it, so that a new one is recognised. */
  readonly idsBefore: readonly number[];
}

export interface HistoryEntry extends Pick<Intent, 'trigger' | 'source' | 'revision'> {
  readonly at: number;
  readonly run: string;
  /** Its id; older entries have none, and no cause. */
  readonly write?: string;
  readonly cause?: Cause;
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
  readonly templates?: readonly string[];
  readonly since?: number;
  readonly outcome?: HistoryEntry['outcome'];
}

/** The position of a write in the history of a client: by time, then by the order of saving. */
export interface HistoryPlace {
  readonly at: number;
  readonly id: number;
}

export interface PagedHistory {
  /** Takes the same time however long the history is. */
  historySlice(slice: HistorySlice): Promise<FoundSlice>;
}

/** A slice of the history, backwards: the next so many writes before a position. */
export interface HistorySlice extends HistoryFilter {
  readonly before: HistoryPlace;
  readonly rows: number;
}

export interface FoundSlice {
  /** The entries that match the filter, the newest first. */
  readonly entries: readonly (HistoryEntry & HistoryPlace)[];
  /** Where it ends; null if there is nothing before it. */
  readonly end: HistoryPlace | null;
}

/** Without saved state. */
export const noMemories: MemoryReader = {
  template: () => Promise.resolve(null),
  templates: () => Promise.resolve([]),
  openIntents: () => Promise.resolve([]),
  history: () => Promise.resolve([]),
  suspensions: () => Promise.resolve([]),
  revisions: () => Promise.resolve({ of: () => 'none' }),
};

/** The history entry of a finished write. */
export const historyEntryOf = (intent: Intent, { outcome, recordId, error }: IntentResult): HistoryEntry => {
  const { at, run, templateId, template, action, before, after, cause, trigger, source, revision } = intent;
  const what = { at, run, write: writeIdOf(intent), templateId, template, action, recordId, before, after };
  return { ...what, outcome, error, cause, ...(trigger === undefined ? {} : { trigger, source, revision }) };
};
