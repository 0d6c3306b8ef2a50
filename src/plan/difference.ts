import type { Place, RecordData } from '../model/record.ts';

/** Which side changed: the file, the service, both, or unknown. */
export type Cause = 'edited' | 'drifted' | 'both' | 'unknown';

/** The outcome of a difference that a pass acted on or held back. */
export type Outcome = 'applied' | 'failed' | 'unknown' | 'skipped';

/**
 * Why a difference is skipped: the mode of its file, `--only`, what holds the template, or the pass itself, which waits for a
 * reading or for another write, or cannot go on.
 */
export type SkipCause = 'mode-report' | 'mode-edits' | 'not-selected' | 'held' | 'pass';

/** The parts of a record that an update can change. */
export type Field = 'name' | 'content' | 'priority' | 'ttl';

/** Ends the message of what is blocked, where a listing may only be from before an add, and a retry would repeat that. */
export const waitForListings = 'listings may be behind: wait';

export type BlockReason = 'cname-conflict' | 'null-mx-conflict' | 'not-converging' | 'refused' | 'vanished';

interface WriteOutcome {
  /** The id of the write that a pass has sent for it, as in log and history. */
  readonly write?: string;
  readonly outcome?: Outcome;
  /** Of a skipped one. */
  readonly skippedBy?: SkipCause;
  readonly error?: string;
  /** ISO 8601: when a failed write is retried. */
  readonly retryAt?: string;
}

/** One difference between file and service with both sides, as in the report. */
export type Difference = Add | Update | Park | Surplus | Blocked;

export interface Add extends WriteOutcome {
  readonly action: 'add';
  readonly desired: RecordData;
  readonly cause: Cause;
  readonly source: Place;
}

export interface Update extends WriteOutcome {
  readonly action: 'update';
  readonly recordId: number;
  readonly current: RecordData;
  readonly desired: RecordData;
  readonly fields: readonly Field[];
  readonly cause: Cause;
  readonly source: Place;
}

/** A surplus record that gets an unused name and inert content. */
export interface Park extends WriteOutcome {
  readonly action: 'park';
  readonly recordId: number;
  readonly current: RecordData;
  readonly desired: RecordData;
  readonly cause: Cause;
}

export interface Surplus extends WriteOutcome {
  readonly action: 'surplus';
  readonly recordId: number;
  readonly current: RecordData;
  /** `duplicate`: a copy of a record in use; `unlisted`: not in the file. */
  readonly reason: 'unlisted' | 'duplicate';
  readonly cause: Cause;
}

export interface Blocked extends WriteOutcome {
  readonly action: 'blocked';
  readonly reason: BlockReason;
  readonly desired: RecordData;
  readonly source: Place;
  readonly recordId?: number;
  readonly current?: RecordData;
  /** Ids of the conflicting records. */
  readonly conflicts?: readonly number[];
  readonly message: string;
}
