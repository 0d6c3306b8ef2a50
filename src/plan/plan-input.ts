import type { RecordData } from '../model/record.ts';
import type { DesiredTemplate, PresentTemplate } from '../model/template.ts';
import type { BlockReason, Surplus } from './difference.ts';
import type { Present, Wanted } from './entry.ts';
import type { PlanMemory } from './memory.ts';

export interface PlanInput {
  readonly desired: DesiredTemplate;
  readonly present: PresentTemplate;
  readonly memory: PlanMemory;
  /** Adds whose outcome is unknown: they may still come. */
  readonly pending?: readonly RecordData[];
  /** Tells why a wanted record may not be written now, as an add (`present` null) or over a present record. */
  readonly gate?: (wanted: Wanted, present: Present | null) => Obstruction | null;
  /** Tells why a wanted record that no surplus serves may not be added. */
  readonly addGate?: (wanted: Wanted) => Obstruction | null;
  /** Tells why a record may not be parked now, or changed to what is given. */
  readonly parkGate?: (present: Present, sent?: RecordData) => Pick<Surplus, 'error' | 'retryAt'> | null;
}

export interface Obstruction {
  readonly reason: Exclude<BlockReason, 'cname-conflict' | 'null-mx-conflict'>;
  readonly message: string;
  /** ISO 8601. */
  readonly retryAt?: string;
}
