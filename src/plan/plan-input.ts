import type { ActualRecord, RecordData } from '../model/record.ts';
import type { DesiredTemplate, ActualTemplate } from '../model/template.ts';
import type { BlockReason, Surplus } from './difference.ts';
import type { ActualEntry, DesiredEntry } from './entry.ts';
import type { PlanMemory } from './memory.ts';

export interface PlanInput {
  readonly desired: DesiredTemplate;
  readonly actual: ActualTemplate;
  readonly memory: PlanMemory;
  /** Adds that may still take effect, and updates that may have moved the record of an id. */
  readonly pending?: readonly PendingRecord[];
  /** Why a record is neither changed nor called in sync: no listing shows what was written to it. */
  readonly unshown?: ((id: number, isInSync: boolean) => Block | null) | undefined;
  /** The same records as the listing shows them: an update of one has to hold for both. */
  readonly listedAs?: ((id: number) => ActualRecord | null) | undefined;
  /** Why a desired record may not be written now, as an add (`actual` null) or by an update of an actual record. */
  readonly gate?: (desired: DesiredEntry, actual: ActualEntry | null) => Block | null;
  /** Why a desired record may not be added if no surplus record is reused for it. */
  readonly addGate?: (desired: DesiredEntry) => Block | null;
  /** Why a record may not be parked now, or changed to the given data. */
  readonly parkGate?: (actual: ActualEntry, sent?: RecordData) => Pick<Surplus, 'error' | 'retryAt'> | null;
}

export interface PendingRecord {
  /** Null for an add. */
  readonly id: number | null;
  readonly sent: RecordData;
}

export interface Block {
  readonly reason: Exclude<BlockReason, 'cname-conflict' | 'null-mx-conflict'>;
  readonly message: string;
  /** ISO 8601. */
  readonly retryAt?: string;
}
