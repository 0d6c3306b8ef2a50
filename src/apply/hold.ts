import type { Mode } from '../model/template.ts';
import { applying, countAdds, guardTemplate, type Hold } from '../plan/guard.ts';
import type { TemplatePlan } from '../plan/plan.ts';
import type { Step } from '../plan/step.ts';
import type { TemplateWork } from './context.ts';
import { stepKey } from './write.ts';

export interface GuardOptions {
  readonly maxAddsPerPass: number;
  readonly force: boolean;
  readonly acceptLoss: boolean;
}

/** Which templates hold instead of writing; the limit of adds per pass holds the adds of all that have some. */
export const holdWorks = (
  plans: ReadonlyMap<TemplateWork, TemplatePlan>,
  options: GuardOptions,
): Map<TemplateWork, Hold> => {
  const holds = new Map<TemplateWork, Hold>();
  for (const [work, plan] of plans) {
    const hold = holdWork(work, plan, options);
    if (hold) holds.set(work, hold);
  }
  const free = [...plans].filter(([work]) => !holds.has(work) && work.desired.mode !== 'report');
  const adds = free.reduce((sum, [, plan]) => sum + countAdds(plan), 0);
  if (options.force || adds <= options.maxAddsPerPass) return holds;
  for (const [work, plan] of free) if (countAdds(plan) > 0) holds.set(work, manyAdds(work, adds, options));
  return holds;
};

/** Why a template holds that has more to be done than there was at first, as answers may show; the widest hold wins. */
export const holdMore = (
  work: TemplateWork,
  plan: TemplatePlan,
  holds: Map<TemplateWork, Hold>,
  works: readonly TemplateWork[],
  options: GuardOptions,
): void => {
  const before = holds.get(work);
  if (before?.scope === 'all' || work.desired.mode === 'report') return;
  const hold = holdWork(work, plan, options) ?? holdAdds(work, plan, works, options);
  if (hold && (!before || hold.scope === 'all')) holds.set(work, hold);
};

const holdAdds = (
  work: TemplateWork,
  plan: TemplatePlan,
  works: readonly TemplateWork[],
  options: GuardOptions,
): Hold | null => {
  const untried = countAdds({ steps: untriedSteps(work, plan) });
  if (options.force || untried === 0) return null;
  const tried = works.flatMap(({ fates }) => [...fates.values()].map(({ step }) => step));
  const adds = countAdds({ steps: tried }) + untried;
  return adds > options.maxAddsPerPass ? manyAdds(work, adds, options) : null;
};

/** Why a template holds as it stands now, what was written in this pass counted in. */
const holdWork = (work: TemplateWork, plan: TemplatePlan, options: GuardOptions): Hold | null => {
  const { desired, present, ledger, fates } = work;
  if (desired.mode === 'report') return null;
  const steps = untriedSteps(work, plan);
  const tried = [...fates.values()];
  return guardTemplate({
    ...options,
    desired,
    present,
    memory: ledger.view,
    plan: { ...plan, steps },
    written: tried.map(({ step }) => step),
    added: tried.filter(({ step, outcome }) => outcome === 'applied' && step.difference.action === 'add')
      .length,
    suspectIds: ledger.facts.suspectIds,
  });
};

/** A step planned anew after it was tried in this pass is counted once, as what was tried. */
const untriedSteps = ({ fates }: TemplateWork, { steps }: TemplatePlan): readonly Step[] =>
  steps.filter((step) => !fates.has(stepKey(step)));

const manyAdds = ({ desired }: TemplateWork, adds: number, { maxAddsPerPass }: GuardOptions): Hold => ({
  guard: 'adds',
  scope: 'adds',
  reason: `${adds} records to add in this pass, more than limits.maxAddsPerPass (${maxAddsPerPass}): raise it, or run ${applying('--force', desired)}`,
});

/** Why policy keeps a step from being written; null where it may be. */
export const heldByPolicy = (
  step: Step,
  mode: Mode,
  hold: Hold | undefined,
  force: boolean,
): string | null => {
  if (mode === 'report') return 'mode: report writes nothing';
  if (hold && (hold.scope === 'all' || step.difference.action === 'add')) return `held: ${hold.reason}`;
  const { cause } = step.difference;
  if (mode === 'edits' && !force && cause !== 'edited' && cause !== 'both') {
    return `mode: edits writes only what an edit of the file caused, and this is ${cause}`;
  }
  return null;
};
