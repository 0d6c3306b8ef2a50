import type { ActualTemplate } from '../../model/template.ts';
import type { Suspension } from '../../model/suspension.ts';
import { isPause, isPolicy, type Hold } from '../../plan/hold.ts';
import type { RecordPattern } from '../../plan/record-pattern.ts';
import type { Intent, IntentResult, StoredTemplate } from '../../state/memory.ts';
import type { Attempt } from './attempt.ts';
import type { Instant } from '../../memory/backoff.ts';
import type { BoundTemplate } from '../../plan/bind.ts';
import { edit, openMemory, type TemplateMemory } from '../../memory/memory.ts';
import { recognizeRestored, correctForClockJump, takeListing } from '../../memory/remembering.ts';
import type { PlanBasis } from './basis.ts';
import { asAccepted } from './waits.ts';

/** How long readings have agreed with the newest one. */
export interface Agreement {
  /** The time of the first reading with which all later ones agree. */
  readonly since: Instant;
  /** The time of the newest reading. */
  readonly until: Instant;
  /** Whether there was more than one. */
  readonly isRepeated: boolean;
}

/** A write whose outcome is known. */
export interface EndedIntent {
  readonly intent: Intent;
  readonly result: IntentResult;
  /** The state after it. */
  readonly memory: TemplateMemory;
}

/** One template in a pass. A value: `evolve` makes the next one. */
export interface TemplateState {
  readonly basis: PlanBasis;
  /** Notes for people that block nothing. */
  readonly notes: readonly string[];
  /** By `stepKey`, in the order in which they were begun: each is attempted once in a pass. */
  readonly attempts: ReadonlyMap<string, Attempt>;
  /** By `writeKey`: the writes that two readings require. */
  readonly confirmed: ReadonlySet<string>;
  readonly agreement: Agreement;
  /**
   * In order: the writes whose outcome could not be saved yet. While there is one, the client is on hold, so that
   * nothing else is begun.
   */
  readonly unfinished: readonly EndedIntent[];
  readonly holds: readonly Hold[];
  /** By which name the state knew it before this pass; null if it did not. */
  readonly savedName: string | null;
  /** What suspends it; null if nothing does. */
  readonly suspension: Suspension | null;
  /** The records that this pass may write; empty: all. */
  readonly only: readonly RecordPattern[];
  /** The last listing, made for whichever template, that this one was compared with. */
  readonly comparedListing: ReadonlyMap<number, ActualTemplate> | null;
}

/** How a pass opens its templates. */
export interface TemplateOpening {
  /** When the first listing was asked for, and now. */
  readonly asked: Instant;
  readonly moment: Instant;
  /** Milliseconds. */
  readonly settle: number;
  readonly unknownPause: number;
  /** A person takes the listing's word for what earlier passes wrote. */
  readonly retry: boolean;
  /** The outcomes of its writes that earlier passes could not save. */
  readonly unfinished?: readonly EndedIntent[] | undefined;
  /** The records that the pass may write; empty: all. */
  readonly only?: readonly RecordPattern[] | undefined;
}

/** A template at the beginning of a pass, with its saved state. */
export const openTemplate = (
  { desired, actual, notes }: BoundTemplate,
  stored: StoredTemplate | null,
  { asked, moment, settle, unknownPause, retry, unfinished = [], only = [] }: TemplateOpening,
): TemplateState => {
  const row = { templateId: actual.id, template: desired.template, file: desired.source.file };
  const opened = edit(unfinished.at(-1)?.memory ?? openMemory(stored, row), (draft) => {
    correctForClockJump(draft, moment, settle);
    if (retry) takeListing(draft);
  });
  const { now } = moment;
  const view = asAccepted(actual, opened, { now, settle });
  const memory = edit(opened, (draft) => recognizeRestored(draft, view));
  return {
    basis: { desired, view, memory, pending: [], now, settle, unknownPause },
    notes,
    attempts: new Map(),
    confirmed: new Set(),
    agreement: { since: moment, until: asked, isRepeated: false },
    unfinished,
    holds: [],
    savedName: stored?.row.template ?? null,
    suspension: null,
    only,
    comparedListing: null,
  };
};

/** Changes what the next plan is made from. */
export const withBasis = (state: TemplateState, changes: Partial<PlanBasis>): TemplateState => ({
  ...state,
  basis: { ...state.basis, ...changes },
});

export const withHold = (state: TemplateState, hold: Hold): TemplateState => ({
  ...state,
  holds: [...state.holds, hold],
});

/** Whether it is suspended, or outside of its windows. */
export const isPaused = ({ holds }: TemplateState): boolean => holds.some(isPause);

/** Whether nothing more is written in a template, for another reason than a guard. */
export const isStopped = ({ holds }: TemplateState): boolean =>
  holds.some((hold) => hold.scope === 'template' && !isPolicy(hold));
