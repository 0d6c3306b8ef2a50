import type { DesiredState, ActualTemplate } from '../model/template.ts';
import type { TemplateResult, Trigger } from '../result.ts';
import type { Revisions } from '../state/memory.ts';
import type { Instant } from './core/backoff.ts';

/** The scope of one pass, and its trigger. */
export interface Request {
  readonly client: string;
  readonly run: string;
  readonly trigger: Trigger;
  /** Before files were read; ms since the epoch. */
  readonly startedAt: number;
  /** Only these templates; empty: all. */
  readonly templates: readonly string[];
  /** Everything that the files describe, if the pass is about a part: two descriptions may be of one template. */
  readonly described?: DesiredState;
  /** The first listing, if it was requested before the pass began, under the same lock. */
  readonly listing: Promise<readonly ActualTemplate[]> | null;
  /** When that listing was asked for, if it was before the pass began. */
  readonly askedAt?: Instant;
  /** Why there may be unknown adds, so that none is sent. */
  readonly holdsAdds?: string | null;
  /** Resolves open writes of earlier passes and shows what a pass would write, as for `approve`. */
  readonly isRehearsal?: boolean;
  /** Called before the first write with the plan; throws if it must not be written. */
  readonly approve?: (planned: readonly TemplateResult[]) => void;
}

/** How a pass reads and writes. */
export interface Policy {
  /** Milliseconds between the two readings that a write needs. */
  readonly settle: number;
  /** Milliseconds. */
  readonly unknownPause: number;
  readonly subdomainGrace: number;
  readonly maxAddsPerPass: number;
  /** Templates written at the same time. */
  readonly concurrency: number;
  readonly ignoreSubdomains: boolean;
}

/** A person's options for this pass. */
export interface Overrides {
  /** Lifts the guards, except that of lost records, and `mode: edits`. */
  readonly force: boolean;
  /** Retries what waits for a person. */
  readonly retry: boolean;
  /** Missing records are gone. */
  readonly acceptLoss: boolean;
}

/** The inputs of a pass. */
export interface PassInputs {
  /** The part that the pass is about, and everything that the files describe. */
  readonly desired: DesiredState;
  readonly described: DesiredState;
  readonly actual: readonly ActualTemplate[];
  /** Null if the store does not know. */
  readonly revisions: Revisions | null;
}
