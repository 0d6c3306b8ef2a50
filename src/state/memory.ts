import { UserError } from '../errors.ts';
import type { RecordData } from '../model/record.ts';
import type { Cause } from '../plan/difference.ts';
import type { Displaced } from '../plan/memory.ts';

/** What has to be remembered cannot be, and without that nothing may be sent. */
export class MemoryError extends UserError {
  override name = 'MemoryError';
}

/**
 * What is remembered between passes, so that no record is added twice and every difference can name its cause.
 * All of it can be lost: then records are met as for the first time.
 */
export interface MemoryReader {
  /** Null for a template that was never read. */
  template(templateId: number): Promise<StoredTemplate | null>;
  /** Every template that was ever managed. */
  templates(): Promise<TemplateFacts[]>;
  /** Writes that left and whose outcome nobody knows yet. */
  openIntents(): Promise<Intent[]>;
  history(filter?: HistoryFilter): Promise<HistoryEntry[]>;
  /** As of now, and only where that can be told. */
  revisions?(): Promise<Revisions>;
}

/** Another text whenever what is remembered may have been changed, by whomever. */
export interface Revisions {
  /** What is remembered of one template. */
  readonly of: (templateId: number) => string;
}

export interface Memory extends MemoryReader {
  /** On disk, synced, before it returns: from here on the write may leave. */
  begin(intent: Omit<Intent, 'id'>): Promise<Intent>;
  /** Closes an intent together with what its outcome changes; all of it or nothing. */
  finish(intent: Intent, outcome: Ending, changes: MemoryChanges): Promise<void>;
  save(changes: MemoryChanges): Promise<void>;
  close(): Promise<void>;
}

/** One template as memory knows it. */
export interface StoredTemplate {
  readonly facts: TemplateFacts;
  readonly records: readonly RecordMemory[];
}

export interface TemplateFacts {
  readonly templateId: number;
  readonly template: string;
  readonly file: string;
  /** The ids of a reading that had lost many, waiting for another pass to agree. */
  readonly suspectIds: readonly number[] | null;
  /** Ids that were there when the template was first met, and that the file did not want; null until a pass saw it. */
  readonly strangers: readonly number[] | null;
  /** The newest reading, and since when all readings have agreed with it. */
  readonly lastReading?: {
    /** Of ids and values. */
    readonly digest: string;
    /** `now`: ms since the epoch. */
    readonly since: { readonly now: number; readonly uptime: Uptime };
  } | null;
  /** The highest id that was ever seen in it: what stands under a higher one has come since. */
  readonly highestId?: number;
  /** When the last write that landed was sent, in ms since the epoch; null where this program never wrote it. */
  readonly lastWriteAt: number | null;
  /** Differences of its subdomains that were reported as drift and are there since, each as its key. */
  readonly reportedDrift?: readonly string[];
}

export interface MemoryChanges {
  readonly facts: TemplateFacts;
  readonly records: readonly RecordMemory[];
  /** Keys of records to forget. */
  readonly forgotten: readonly string[];
}

/** How a write ended, for the history. */
export interface Ending {
  readonly outcome: HistoryEntry['outcome'];
  readonly recordId: number | null;
  readonly error: string | null;
}

/** What is known of one wanted, or once wanted, record. */
export interface RecordMemory {
  /** Identifies the wanted record, TTL aside; `#ID` once the record was parked. */
  readonly key: string;
  /** The record at the service that stands for it. */
  readonly recordId: number | null;
  /** Ids of other records that adds of it left: while one of them is there, no more are added. */
  readonly copies?: readonly number[];
  /** Both sides as they last agreed, or as they were first met. */
  readonly wanted: RecordData;
  readonly seen: RecordData | null;
  /** Its name, in canonical form, by the answer to a write of it; absent where none told. */
  readonly keptName?: string;
  /** Adds that were sent and may have landed, since a person last said to try again. */
  readonly adds: number;
  /** When the same value was stored, in ms since the epoch: the last three times. */
  readonly stored: { readonly sent: RecordData; readonly at: readonly number[] } | null;
  /** Of a record that was parked to make way: for which wanted record, and what it was. */
  readonly displaced?: Displaced | null;
  /** What was sent and what the service made of it, where that differs. */
  readonly rewritten: { readonly sent: RecordData; readonly stored: RecordData } | null;
  readonly failure: Failure | null;
  /** When what stands for it was first missed, in ms since the epoch: once more, and it is gone. */
  readonly missedAt?: number | null;
  /** Why the record was first found to differ; null once file and service agreed on it. */
  readonly cause: Cause | null;
}

/**
 * `refused`: the service said no; `unknown`: an add of unknown outcome was found in no reading; `unseen`: an update
 * of unknown outcome, whose effect nobody has seen so far.
 */
export interface Failure {
  readonly kind: 'refused' | 'unknown' | 'unseen';
  readonly message: string;
  readonly count: number;
  /** The values that failed: an edit of the record starts anew. */
  readonly sent: RecordData;
  /** Ms since the epoch; not tried again before. */
  readonly retryAt: number;
  /** Milliseconds. */
  readonly pause: number;
  /** When it came to that, by a clock that never jumps. */
  readonly since?: Uptime;
}

/** Times of one boot can be told apart in order and distance, whatever the clock was set to meanwhile. */
export interface Uptime {
  readonly boot: string;
  /** Milliseconds. */
  readonly at: number;
}

/** A write that is about to leave, or has left. */
export interface Intent {
  readonly id: number;
  readonly run: string;
  readonly at: number;
  readonly templateId: number;
  readonly template: string;
  readonly file: string;
  readonly action: 'add' | 'update' | 'park';
  /** Of the wanted record; `#ID` for a park. */
  readonly key: string;
  readonly recordId: number | null;
  readonly before: RecordData | null;
  readonly after: RecordData;
  readonly cause: Cause;
  /** Of a park: the key of the wanted record that it makes way for; null where it makes way for none. */
  readonly makesWayFor?: string | null;
  /** Of an add: the ids that were there before, of its type and strangers, so that a new one can be told. */
  readonly idsBefore: readonly number[];
}

export interface HistoryEntry {
  readonly at: number;
  readonly run: string;
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

/** The place of a write in the history of a client: by time, then by the order in which they were kept. */
export interface HistoryPlace {
  readonly at: number;
  readonly id: number;
}

export interface PagedHistory {
  /** Takes the same short time however long the history is. */
  historySlice(slice: HistorySlice): Promise<FoundSlice>;
}

/** A piece of the history, going back: the next so many writes before a place. */
export interface HistorySlice extends HistoryFilter {
  readonly before: HistoryPlace;
  readonly rows: number;
}

export interface FoundSlice {
  /** Those of them that the filter asks for, the newest first. */
  readonly entries: readonly (HistoryEntry & HistoryPlace)[];
  /** Where it ends; null where there is nothing before. */
  readonly end: HistoryPlace | null;
}

/** For a program that cannot, or may not, remember. */
export const noMemories: MemoryReader = {
  template: () => Promise.resolve(null),
  templates: () => Promise.resolve([]),
  openIntents: () => Promise.resolve([]),
  history: () => Promise.resolve([]),
};
