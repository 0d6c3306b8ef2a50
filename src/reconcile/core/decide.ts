import type { TemplatePlan } from '../../plan/plan.ts';
import { actualOf, isPark, type Step } from '../../plan/step.ts';
import { stepKey } from './attempt.ts';
import { nextRevert, nextStep, type ClientView } from './permit.ts';
import { planOf } from './basis.ts';
import type { TemplateState } from './state.ts';

/** The next command for a template. */
export type Command =
  | { readonly kind: 'write'; readonly step: Step; readonly makesWayFor: string | null }
  /** Another reading decides the outcome of the write in flight. */
  | { readonly kind: 'read' }
  | { readonly kind: 'done' };

/** One write at a time, each decided from the answer to the previous one. */
export const decide = (state: TemplateState, client: ClientView, force: boolean): Command =>
  commandBy(nextStep, state, client, force);

/** At the end of a pass: restores records that were parked for a write that did not happen. */
export const decideRevert = (state: TemplateState, client: ClientView, force: boolean): Command =>
  commandBy(nextRevert, state, client, force);

const commandBy = (
  next: typeof nextStep,
  state: TemplateState,
  client: ClientView,
  force: boolean,
): Command => {
  if (isQuestioned(state)) return { kind: 'read' };
  const plan = planOf(state.basis);
  const step = next(plan, state, client, force);
  if (step === null) return { kind: 'done' };
  return { kind: 'write', step, makesWayFor: isPark(step) ? needOf(step, plan) : null };
};

const isQuestioned = ({ attempts }: TemplateState): boolean =>
  [...attempts.values()].some(({ state }) => state === 'awaiting-read');

/** A park of a nameless record is for good: no update could restore it. */
const needOf = (step: Step, { needs }: TemplatePlan): string | null => {
  if (actualOf(step)?.name === '') return null;
  const needing = [...needs].findLast(([, needed]) => needed.includes(step));
  return needing ? stepKey(needing[0]) : null;
};
