import type { TemplatePlan } from '../plan/plan.ts';
import type { Step } from '../plan/step.ts';
import type { TemplateWork } from './context.ts';
import { stepKey } from './write.ts';

/** What was to be written, was not sent, and is still to be done at the end or blocked by now. */
export const unwrittenSteps = (
  planned: readonly Step[],
  { fates }: TemplateWork,
  { steps, blocked }: TemplatePlan,
): Step[] => {
  const open = new Set(steps.map(stepKey));
  const sources = new Set(blocked.map(({ source }) => source));
  return planned.filter((step) => {
    const { difference } = step;
    const isBlocked = 'source' in difference && sources.has(difference.source);
    return !fates.has(stepKey(step)) && (open.has(stepKey(step)) || isBlocked);
  });
};
