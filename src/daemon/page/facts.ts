import type { RecordData } from '../../model/record.ts';
import type { Excerpt } from '../../report/excerpt.ts';
import type { ClientState } from '../client-state.ts';
import type { PassEntry, Slot } from '../journal.ts';

/** All that the status page shows. */
export interface PageFacts {
  /** Of what is shown; another one at the daemon means that there is something new. */
  readonly version: string;
  /** Ms since the epoch. */
  readonly now: number;
  readonly newest: Excerpt;
  readonly clients: readonly ClientFacts[];
  readonly day: readonly Slot[];
  /** The newest first. */
  readonly passes: readonly PassEntry[];
  /** The newest first; a text says why they cannot be read. */
  readonly writes: readonly WriteEntry[] | string;
}

/** Times in ms since the epoch. */
export interface ClientFacts extends Pick<
  ClientState,
  'client' | 'health' | 'why' | 'running' | 'waiting' | 'failures'
> {
  readonly pausedUntil: number | null;
  readonly nextScheduled: number | null;
  readonly lastPass: PassEntry | null;
}

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
