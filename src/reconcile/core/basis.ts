import type { ActualRecord } from '../../model/record.ts';
import type { ActualTemplate, DesiredTemplate } from '../../model/template.ts';
import type { Intent } from '../../state/memory.ts';
import type { TemplateMemory } from '../../memory/memory.ts';

/** A reading with our own accepted writes, where it does not show them yet. */
export interface CorrectedView extends ActualTemplate {
  /** By id: the records that the listing does not show as they were written. */
  readonly unshown?: ReadonlyMap<number, Unshown>;
}

export interface Unshown {
  readonly isAdd: boolean;
  /** As the listing shows it; null if it does not. */
  readonly listed: ActualRecord | null;
  /** Ms since the epoch: when it was written, and until when a listing may be behind it. */
  readonly at: number;
  readonly until: number;
}

/** Everything that a plan is made from. */
export interface PlanBasis {
  readonly desired: DesiredTemplate;
  /** The newest trusted reading. */
  readonly view: CorrectedView;
  readonly memory: TemplateMemory;
  /** Adds of unknown outcome. */
  readonly pending: readonly Intent[];
  /** When the pass opened the template, ms since the epoch: later retries wait for the next pass. */
  readonly now: number;
  /** The wait between two readings, and the time in which a write may take effect, in milliseconds. */
  readonly settle: number;
  readonly unknownPause: number;
}
