import type { Suspension } from '../../model/suspension.ts';
import { isOpen, nextOpening } from '../../model/window.ts';
import type { Hold } from '../../plan/hold.ts';
import { planOf } from './basis.ts';
import { policyReasons } from './permit.ts';
import { isPaused, withHold, type TemplateState } from './state.ts';

/** What a person or a time of the week decides about writing, whatever differs. */
export interface PauseInput {
  /** Those in effect for the client. */
  readonly suspensions: readonly Suspension[];
  /** Ms since the epoch. */
  readonly now: number;
  readonly force: boolean;
}

/**
 * Holds a template from the moment on at which it is suspended, or outside of its windows, to the end of the pass: guards
 * have not judged what it would write. `force` opens windows, and ends no suspension.
 */
export const pause = (state: TemplateState, input: PauseInput): TemplateState => {
  const { desired, view } = state.basis;
  const suspension = suspensionOf(input.suspensions, { template: desired.template, templateId: view.id });
  if (suspension !== null && state.suspension === null)
    return { ...withHold(state, suspendedBy(suspension)), suspension };
  const { window } = desired;
  if (isPaused(state) || input.force || window === undefined || isOpen(window, input.now)) return state;
  const plan = planOf(state.basis);
  const reasons = policyReasons(plan, state, false);
  if (plan.steps.every((step) => reasons(step) !== null)) return state;
  return withHold(state, outsideOf(window.text, nextOpening(window, input.now)));
};

/** The one that suspends a template the longest; null if none does. */
export const suspensionOf = (
  suspensions: readonly Suspension[],
  one: Pick<Suspension, 'template' | 'templateId'>,
): Suspension | null =>
  suspensions
    .filter(({ template, templateId }) => {
      const isOfId = templateId !== null && templateId === one.templateId;
      return template === null || template === one.template || isOfId;
    })
    .toSorted((a, b) => (b.until ?? Infinity) - (a.until ?? Infinity) || a.since - b.since)[0] ?? null;

const suspendedBy = ({ by, reason, until }: Suspension): Hold => ({
  scope: 'template',
  cause: 'suspended',
  reason: `suspended by ${by}${until === null ? '' : ` until ${timeOf(until)}`}: ${reason}`,
  retryAt: until,
});

const outsideOf = (windows: string, opening: number | null): Hold => ({
  scope: 'template',
  cause: 'window',
  reason: `outside of its window (${windows}): changes wait${opening === null ? '' : ` until ${timeOf(opening)}`}`,
  retryAt: opening,
});

const timeOf = (time: number): string => new Date(time).toISOString();
