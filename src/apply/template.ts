import { dataOf } from '../model/record.ts';
import { entryOf, setKey } from '../plan/entry.ts';
import { planTemplate, type TemplatePlan } from '../plan/plan.ts';
import { isPark, resultOf, type ParkStep, type Step } from '../plan/step.ts';
import type { ApplyContext, Fate, TemplateWork } from './context.ts';
import { gate, parkGate } from './gate.ts';
import { holdAgainstLatest } from './listing.ts';
import { stepKey, writeStep } from './write.ts';

export interface Permission {
  /** Told of each plan before anything of it is written. */
  readonly review: (plan: TemplatePlan) => void;
  /** What a mode, the guards and the readings so far leave to be written. */
  readonly permits: (step: Step) => boolean;
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
    gate: gate({ ledger, pendingSets, now }),
    parkGate: parkGate({ ledger, now }),
  });
  work.planned = { plan, present, pending, version: ledger.version };
  return plan;
};

/** Writes one template, one write at a time, each planned from the answer to the one before. */
export const applyTemplate = async (
  work: TemplateWork,
  { review, permits }: Permission,
  context: ApplyContext,
): Promise<void> => {
  while (!isOver(work, context)) {
    const plan = planWork(work, context.clock.now());
    review(plan);
    holdAgainstLatest(work, context);
    const step = plan.steps.find((candidate) => isNext(candidate, plan, work, permits));
    if (!step) break;
    noteWhatItClears(step, plan, work);
    await writeStep(work, step, context);
    await undoParks(work, step, context);
  }
};

const isOver = (work: TemplateWork, { signal, halt }: ApplyContext): boolean =>
  signal.aborted || halt.reason !== null || work.stopped !== null;

/** A step that needs others first is written when a later plan no longer says so. */
const isNext = (
  step: Step,
  plan: TemplatePlan,
  work: TemplateWork,
  permits: Permission['permits'],
): boolean =>
  !work.fates.has(stepKey(step)) &&
  !plan.needs.has(step) &&
  !(work.addsStopped !== null && step.difference.action === 'add') &&
  permits(step);

const noteWhatItClears = (step: Step, plan: TemplatePlan, work: TemplateWork): void => {
  if (!isPark(step)) return;
  for (const [needing, needs] of plan.needs) {
    if (!needs.includes(step)) continue;
    const key = stepKey(needing);
    work.madeWay.set(key, [...(work.madeWay.get(key) ?? []), step]);
  }
};

/** What made way for a write that was then refused goes back to its place. A nameless record cannot. */
const undoParks = async (work: TemplateWork, step: Step, context: ApplyContext): Promise<void> => {
  const fate = work.fates.get(stepKey(step));
  if (fate?.outcome !== 'failed') return;
  for (const park of work.madeWay.get(stepKey(step)) ?? []) {
    if (isOver(work, context) || park.difference.current.name === null) continue;
    await undoPark(work, park, fate, context);
  }
};

const undoPark = async (
  work: TemplateWork,
  park: ParkStep,
  why: Fate,
  context: ApplyContext,
): Promise<void> => {
  const { recordId, current } = park.difference;
  const parked = work.present.records.find((record) => record.id === recordId);
  if (!parked || work.fates.get(stepKey(park))?.outcome !== 'applied') return;
  const undo: ParkStep = {
    difference: { ...park.difference, current: dataOf(parked), desired: current },
    present: entryOf(parked),
  };
  await writeStep(work, undo, context);
  if (work.fates.get(stepKey(undo))?.outcome !== 'applied') return;
  const error = `taken back: the write it made way for was refused (${resultOf(why.step).type})`;
  work.fates.set(stepKey(park), { step: park, outcome: 'failed', error, retryAt: why.retryAt });
};
