import type { PresentTemplate } from '../../model/template.ts';
import { isGuard, type Hold } from '../../plan/hold.ts';
import type { StoredTemplate } from '../../state/memory.ts';
import type { Attempt } from './attempt.ts';
import { onSteadyTime, type Moment } from './backoff.ts';
import type { PlanBasis } from './basis.ts';
import type { BoundTemplate } from './bind.ts';
import { edit, openMemory } from './memory.ts';
import { retime, takeBack } from './remembering.ts';

/** How well the newest reading is borne out. */
export interface Agreement {
  /** When the first reading was made with which all since have agreed. */
  readonly since: Moment;
  /** When the newest one was made. */
  readonly until: Moment;
  /** Whether there was more than that one. */
  readonly isRepeated: boolean;
}

/** One template in a pass. A value: `evolve` makes the next one. */
export interface TemplateState {
  readonly basis: PlanBasis;
  /** What a person should know, though it hinders nothing. */
  readonly notes: readonly string[];
  /** By `stepKey`, in the order in which they were begun: each is attempted once in a pass. */
  readonly attempts: ReadonlyMap<string, Attempt>;
  /** By `writeKey`: what two readings ask for. */
  readonly confirmed: ReadonlySet<string>;
  readonly agreement: Agreement;
  readonly holds: readonly Hold[];
  /** The last listing, made for whichever template, that this one was compared with. */
  readonly comparedListing: ReadonlyMap<number, PresentTemplate> | null;
}

/** A template at the beginning of a pass, with what the store holds of it. */
export const openTemplate = (
  { desired, present, notes }: BoundTemplate,
  stored: StoredTemplate | null,
  moment: Moment,
): TemplateState => {
  const facts = { templateId: present.id, template: desired.template, file: desired.source.file };
  const memory = edit(openMemory(stored, facts), (draft) => {
    retime(draft, (failure) => onSteadyTime(failure, moment));
    takeBack(draft, present);
  });
  return {
    basis: { desired, view: present, memory, pending: [], now: moment.now },
    notes,
    attempts: new Map(),
    confirmed: new Set(),
    agreement: { since: moment, until: moment, isRepeated: false },
    holds: [],
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

/** Whether nothing more at all is written in a template, for whatever but a guard. */
export const isStopped = ({ holds }: TemplateState): boolean =>
  holds.some((hold) => hold.scope === 'template' && !isGuard(hold));
