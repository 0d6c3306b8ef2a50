import type { DesiredState, PresentTemplate } from '../model/template.ts';
import type { TemplateResult, Trigger } from '../result.ts';
import type { Revisions } from '../state/memory.ts';

/** What one pass is about, and who asked for it. */
export interface Request {
  readonly client: string;
  readonly run: string;
  readonly trigger: Trigger;
  /** Before files were read; ms since the epoch. */
  readonly startedAt: number;
  /** Only these templates; all where empty. */
  readonly templates: readonly string[];
  /** All that the files describe, where the pass is about a part: two descriptions may turn out to be of one template. */
  readonly described?: DesiredState;
  /** The first reading of the service, where it was asked before the pass began; under the same lock. */
  readonly listing: Promise<readonly PresentTemplate[]> | null;
  /** Why there may be adds that nobody remembers, so that none is sent. */
  readonly holdsAdds?: string | null;
  /** Recovers what earlier passes left open and shows what a pass would write, as `approve` would be shown it. */
  readonly isRehearsal?: boolean;
  /** Shown what is about to be written, before the first write. It throws where that may not be. */
  readonly approve?: (planned: readonly TemplateResult[]) => void;
}

/** How a pass reads and writes. */
export interface Policy {
  /** Milliseconds between two readings of which both have to ask for a write. */
  readonly settle: number;
  /** Milliseconds. */
  readonly unknownPause: number;
  readonly subdomainGrace: number;
  readonly maxAddsPerPass: number;
  /** Templates written side by side. */
  readonly concurrency: number;
  readonly ignoreSubdomains: boolean;
}

/** What a person said for this pass alone. */
export interface Overrides {
  /** Guards, but that of lost records, and `mode: edits` do not hold. */
  readonly force: boolean;
  /** What waits for a person's word is tried again. */
  readonly retry: boolean;
  /** What is missing is truly gone. */
  readonly acceptLoss: boolean;
}

/** What a pass begins with. */
export interface PassInputs {
  /** What the pass is about, and all that the files describe. */
  readonly desired: DesiredState;
  readonly described: DesiredState;
  readonly actual: readonly PresentTemplate[];
  /** Null where memory cannot tell. */
  readonly revisions: Revisions | null;
}
