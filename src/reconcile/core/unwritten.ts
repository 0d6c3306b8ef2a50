import type { TemplatePlan } from '../../plan/plan.ts';
import type { Step } from '../../plan/step.ts';
import { stepKey } from './attempt.ts';
import type { TemplateState } from './state.ts';

/** Planned steps that were not sent and that are still planned at the end, or blocked by then. */
export const unwrittenSteps = (
  planned: readonly Step[],
  { attempts }: TemplateState,
  { steps, blocked }: TemplatePlan,
): Step[] => {
  const open = new Set(steps.map(stepKey));
  const sources = new Set(blocked.map(({ source }) => source));
  return planned.filter((step) => {
    const { difference } = step;
    const isBlocked = 'source' in difference && sources.has(difference.source);
    return !attempts.has(stepKey(step)) && (open.has(stepKey(step)) || isBlocked);
  });
};
