import type { TemplatePlan } from '../../plan/plan.ts';
import { actualOf, isPark, type Step } from '../../plan/step.ts';
import { stepKey } from './attempt.ts';
import type { ClientView, nextStep } from './permit.ts';
import { planOf } from './plan-of.ts';
import type { TemplateState } from './state.ts';

/** The next command for a template. */
export type Command =
  | { readonly kind: 'write'; readonly step: Step; readonly makesWayFor: string | null }
  /** Another reading decides the outcome of the write in flight. */
  | { readonly kind: 'read' }
  | { readonly kind: 'done' };

/** One write at a time, each decided from the answer to the previous one. `next`: which steps are written. */
export const decide = (next: typeof nextStep, state: TemplateState, client: ClientView): Command => {
  if (isQuestioned(state)) return { kind: 'read' };
  const step = next(state, client);
  if (step === null) return { kind: 'done' };
  return { kind: 'write', step, makesWayFor: isPark(step) ? needOf(step, planOf(state.basis)) : null };
};

const isQuestioned = ({ attempts }: TemplateState): boolean =>
  [...attempts.values()].some(({ state }) => state === 'awaiting-read');

/** A park of a nameless record is for good: no update could restore it. */
const needOf = (step: Step, { needs }: TemplatePlan): string | null => {
  if (actualOf(step)?.name === '') return null;
  const needing = [...needs].findLast(([, needed]) => needed.includes(step));
  return needing ? stepKey(needing[0]) : null;
};
