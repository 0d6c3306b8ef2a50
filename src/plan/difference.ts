import type { Place, RecordData } from '../model/record.ts';

/** Whose change made the difference: the file's, the service's, both, or nobody can tell (semantics §6). */
export type Cause = 'edited' | 'drifted' | 'both' | 'unknown';

/** What became of a difference that a pass acted on, or held back. */
export type Outcome = 'applied' | 'failed' | 'unknown' | 'skipped';

/** The parts of a record that an update can change. */
export type Field = 'name' | 'content' | 'priority' | 'ttl';

export type BlockReason =
  | 'cname-conflict'
  | 'null-mx-conflict'
  | 'pending-write'
  | 'not-converging'
  | 'refused'
  | 'vanished';

interface Fate {
  readonly outcome?: Outcome;
  readonly error?: string;
  /** ISO 8601: when a failed write is tried again. */
  readonly retryAt?: string;
}

/** One difference between a file and the service, holding both sides: the values of the report. */
export type Difference = Add | Update | Park | Surplus | Blocked;

export interface Add extends Fate {
  readonly action: 'add';
  readonly desired: RecordData;
  readonly cause: Cause;
  readonly source: Place;
}

export interface Update extends Fate {
  readonly action: 'update';
  readonly recordId: number;
  readonly current: RecordData;
  readonly desired: RecordData;
  readonly fields: readonly Field[];
  readonly cause: Cause;
  readonly source: Place;
}

/** A surplus record moved out of the way, to a name and content that serve nobody (semantics §4). */
export interface Park extends Fate {
  readonly action: 'park';
  readonly recordId: number;
  readonly current: RecordData;
  readonly desired: RecordData;
  readonly cause: Cause;
}

export interface Surplus extends Fate {
  readonly action: 'surplus';
  readonly recordId: number;
  readonly current: RecordData;
  /** `duplicate`: a copy of a record in use; `unlisted`: the file does not name it. */
  readonly reason: 'unlisted' | 'duplicate';
  readonly cause: Cause;
}

export interface Blocked extends Fate {
  readonly action: 'blocked';
  readonly reason: BlockReason;
  readonly desired: RecordData;
  readonly source: Place;
  readonly recordId?: number;
  readonly current?: RecordData;
  /** Ids of the records that stand in the way. */
  readonly conflicts?: readonly number[];
  readonly message: string;
}
