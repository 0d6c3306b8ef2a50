import type { RecordData } from '../model/record.ts';
import type { DesiredTemplate, ActualTemplate } from '../model/template.ts';
import type { BlockReason, Surplus } from './difference.ts';
import type { ActualEntry, DesiredEntry } from './entry.ts';
import type { PlanMemory } from './memory.ts';

export interface PlanInput {
  readonly desired: DesiredTemplate;
  readonly actual: ActualTemplate;
  readonly memory: PlanMemory;
  /** Whether nothing is added beside a record that may be the missing one. */
  readonly isSuspicious?: boolean;
  /** Whether a person lets records without a name make way first, which cannot come back. */
  readonly mayStrand?: boolean;
  /** Why a desired record may not be written now, as an add (`actual` null) or by an update of an actual record. */
  readonly blockOf?: (desired: DesiredEntry, actual: ActualEntry | null) => Block | null;
  /** Why a record may not be changed to these inert, or earlier, values now. */
  readonly parkBlockOf?: (actual: ActualEntry, sent: RecordData) => Pick<Surplus, 'error' | 'retryAt'> | null;
}

export interface Block {
  readonly reason: Exclude<BlockReason, 'cname-conflict' | 'null-mx-conflict'>;
  readonly message: string;
  /** ISO 8601. */
  readonly retryAt?: string;
}
