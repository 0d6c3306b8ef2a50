import { edit } from '../../memory/memory.ts';
import { suspensionOf, suspensionText, type Suspension } from '../../model/suspension.ts';
import { isOpen, nextOpening } from '../../model/window.ts';
import type { Hold } from '../../plan/hold.ts';
import { planOf } from './plan-of.ts';
import { policyReasons } from './permit.ts';
import { isPaused, withBasis, withHold, type TemplateState } from './state.ts';

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
  const names = [desired.template, view.name, state.savedName];
  const suspension = suspensionOf(input.suspensions, { templateId: view.id, names });
  if (suspension !== null && state.suspension === null)
    return { ...withHold(withItsName(state, suspension), suspendedBy(suspension)), suspension };
  const { window } = desired;
  if (isPaused(state) || input.force || window === undefined || isOpen(window, input.now)) return state;
  const plan = planOf(state.basis);
  const reasons = policyReasons(plan, state, false);
  if (plan.steps.every((step) => reasons(step) !== null)) return state;
  return withHold(state, outsideOf(window.text, nextOpening(window, input.now)));
};

/** A template that is suspended by a name alone is saved under it, so that later passes find it under any name. */
const withItsName = (state: TemplateState, { template, templateId }: Suspension): TemplateState => {
  const { memory } = state.basis;
  if (template === null || templateId === memory.row.templateId || template === memory.row.template)
    return state;
  return withBasis(state, { memory: edit(memory, (draft) => draft.setRow({ template })) });
};

const suspendedBy = (suspension: Suspension): Hold => ({
  scope: 'template',
  cause: 'suspended',
  reason: suspensionText(suspension),
  retryAt: suspension.until,
});

const outsideOf = (windows: string, opening: number | null): Hold => ({
  scope: 'template',
  cause: 'window',
  reason: `outside of its window (${windows}): changes wait${opening === null ? '' : ` until ${new Date(opening).toISOString()}`}`,
  retryAt: opening,
});
