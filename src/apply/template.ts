import { entryOf, setKey } from '../plan/entry.ts';
import { parkedKey } from '../plan/memory.ts';
import { planTemplate, type TemplatePlan } from '../plan/plan.ts';
import { isPark, isRestore, resultOf, type Step } from '../plan/step.ts';
import type { ApplyContext, TemplateWork } from './context.ts';
import { gate, parkGate } from './gate.ts';
import { holdAgainstLatest } from './listing.ts';
import { withPlaces, type SkipReason } from './permit.ts';
import { stepKey, writeKey, writeStep } from './write.ts';

export interface Permission {
  /** Told of each plan before anything of it is written. */
  readonly review: (plan: TemplatePlan) => void;
  /** Why a mode, the guards or the readings so far keep a step from being written. */
  readonly skipReason: SkipReason;
}

/** Plans a template as it stands, with all that is remembered of earlier writes. */
export const planWork = (work: TemplateWork, now: number): TemplatePlan => {
  const { present, ledger, pending, planned } = work;
  const isStill =
    planned?.present === present && planned.pending === pending && planned.version === ledger.version;
  if (isStill) return planned.plan;
  const pendingSets = new Set(pending.map((intent) => setKey(entryOf(intent.after))));
  const plan = planTemplate({
    desired: work.desired,
    present,
    memory: ledger.view,
    pending: pending.map((intent) => intent.after),
    gate: gate({ ledger, pendingSets, present, adopt: work.desired.adopt, now }),
    parkGate: parkGate({ ledger, now }),
  });
  work.planned = { plan, present, pending, version: ledger.version };
  return plan;
};

/** Writes one template, one write at a time, each planned from the answer to the one before. */
export const applyTemplate = async (
  work: TemplateWork,
  { review, skipReason }: Permission,
  context: ApplyContext,
): Promise<void> => {
  while (!isOver(work, context)) {
    const plan = planWork(work, context.clock.now());
    review(plan);
    holdAgainstLatest(work, context);
    const whyNot = withPlaces(plan, (step) =>
      isTried(step, work) ? 'tried' : (stoppedAdd(step, work) ?? skipReason(step)),
    );
    // A step that needs others first is written when a later plan no longer says so.
    const step = plan.steps.find((candidate) => !plan.needs.has(candidate) && whyNot(candidate) === null);
    if (!step) break;
    noteWhatItClears(step, plan, work);
    await writeStep(work, step, context);
    noteRestored(work, step);
  }
};

const isOver = (work: TemplateWork, { signal, halt }: ApplyContext): boolean =>
  signal.aborted || halt.reason !== null || work.stopped !== null;

/** Why nothing is added any more in this pass; null of other steps. */
export const stoppedAdd = (step: Step, { addsStopped }: TemplateWork): string | null =>
  step.difference.action === 'add' ? addsStopped : null;

/** Each wanted record is written once in a pass. */
const isTried = (step: Step, { fates }: TemplateWork): boolean => fates.has(stepKey(step));

/** Should the write that it makes way for not come, it goes back to its place. */
const noteWhatItClears = (step: Step, plan: TemplatePlan, work: TemplateWork): void => {
  for (const [needing, needs] of plan.needs) {
    if (!needs.includes(step)) continue;
    // It was sure enough for that.
    work.confirmed.add(writeKey(needing));
    if (isPark(step)) work.madeWay.set(step.present.record.id, stepKey(needing));
  }
};

/** After all is known that can be: what made way for a write that did not come goes back to its place. */
export const restoreDisplaced = async (
  work: TemplateWork,
  skipReason: SkipReason,
  context: ApplyContext,
): Promise<void> => {
  for (const step of planWork(work, context.clock.now()).steps) {
    if (!isPark(step) || !isRestore(step) || isTried(step, work) || skipReason(step) !== null) continue;
    if (context.signal.aborted || context.halt.reason !== null) return;
    await writeStep(work, step, context);
    noteRestored(work, step);
  }
};

/** Of a park and its way back in one pass, a report tells what it came to. */
const noteRestored = (work: TemplateWork, step: Step): void => {
  if (!isPark(step) || !isRestore(step) || work.fates.get(stepKey(step))?.outcome !== 'applied') return;
  const { id } = step.present.record;
  const park = work.fates.get(parkedKey(id));
  if (!park) return;
  work.fates.delete(stepKey(step));
  if (park.outcome !== 'applied') return;
  const why = work.fates.get(work.madeWay.get(id) ?? '');
  const cause = why ? ` (${resultOf(why.step).type}): ${why.error}` : '';
  work.fates.set(parkedKey(id), {
    ...park,
    outcome: 'failed',
    error: `taken back: the write it made way for was not accepted${cause}`,
    retryAt: why?.retryAt ?? null,
  });
};
