import { isPause, isPolicy, type Hold } from '../../plan/hold.ts';
import { parkedKey } from '../../plan/memory.ts';
import type { TemplatePlan } from '../../plan/plan.ts';
import { matchesPattern, type RecordPattern } from '../../plan/record-pattern.ts';
import { actualOf, isPark, isRestore, type Step } from '../../plan/step.ts';
import { stepKey, writeKey } from './attempt.ts';
import { planOf } from './plan-of.ts';
import { describeHold, reportedHold } from './client-holds.ts';
import { withDependentWaits, type Skip, type SkipReason } from '../../plan/place.ts';
import type { TemplateState } from './state.ts';

/** What a client decides about the writes of all its templates. */
export interface ClientView {
  readonly holds: readonly Hold[];
  /** The program is shutting down. */
  readonly isEnding: boolean;
  /** A person lifts guards and `mode: edits`. */
  readonly force: boolean;
}

/** Why a mode or a guard skips each step of a plan. */
export const policyReasons = (plan: TemplatePlan, state: TemplateState, force: boolean): SkipReason =>
  withDependentWaits(plan, (step) => policyReason(step, state, force));

/** Why each planned step is not written now, for any reason. */
export const skipReasons = (state: TemplateState, client: ClientView): SkipReason =>
  withDependentWaits(planOf(state.basis), (step) => skipReasonOf(step, state, client));

/** The next step to write; null if there is none. Each is attempted once in a pass. */
export const nextStep = (state: TemplateState, client: ClientView): Step | null => {
  const plan = planOf(state.basis);
  const whyNot = withDependentWaits(plan, (step) =>
    state.attempts.has(stepKey(step)) ? byPass('already attempted') : skipReasonOf(step, state, client),
  );
  return plan.steps.find((step) => whyNot(step) === null) ?? null;
};

/**
 * The step that restores a record that this pass parked for a write that did not happen, whatever else than a suspension
 * holds the template.
 */
export const nextRevert = (
  { basis, attempts, suspension }: TemplateState,
  client: ClientView,
): Step | null => {
  if (suspension !== null || clientReason(client) !== null) return null;
  // Records that an earlier pass parked need two readings, like every other step.
  const isOfThisPass = (step: Step): boolean =>
    isPark(step) && attempts.has(parkedKey(step.actual.record.id)) && !attempts.has(stepKey(step));
  return planOf(basis).steps.find(isOfThisPass) ?? null;
};

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

/** Why a single step may not be written, decided only here; a revert (`nextRevert`) is needed in a stopped template, too. */
export const skipReasonOf = (step: Step, state: TemplateState, client: ClientView): Skip | null =>
  policyReason(step, state, client.force) ??
  byPass(
    clientReason(client) ??
      state.holds.find((hold) => !isPolicy(hold) && hold.scope === 'template')?.reason ??
      (state.confirmed.has(writeKey(step)) ? null : unconfirmed) ??
      state.holds.find((hold) => !isPolicy(hold) && holdsStep(hold, step))?.reason ??
      null,
  );

const byPass = (text: string | null): Skip | null => (text === null ? null : { cause: 'pass', text });

const policyReason = (step: Step, { basis, holds, only }: TemplateState, force: boolean): Skip | null => {
  const { mode } = basis.desired;
  if (mode === 'report') return { cause: 'mode-report', text: 'mode: report writes nothing' };
  if (!isChosen(step, only)) return notSelected;
  const hold = firstPolicy(holds, ({ scope }) => scope === 'template' || isAdd(step));
  if (hold) return { cause: 'held', text: `held: ${hold.reason}` };
  const { cause } = step.difference;
  if (mode === 'edits' && !force && cause !== 'edited' && cause !== 'both') {
    const text = `mode: edits writes only what an edit of the file caused; this cause is ${cause}`;
    return { cause: 'mode-edits', text };
  }
  return null;
};

const notSelected: Skip = { cause: 'not-selected', text: 'not selected by --only' };

/** Pauses first: guards have not judged what a paused template would write. */
export const firstPolicy = (
  holds: readonly Hold[],
  concerns: (hold: Hold) => boolean = () => true,
): Hold | undefined => {
  const concerned = holds.filter((hold) => isPolicy(hold) && concerns(hold));
  const [first] = concerned;
  return concerned.find(({ cause }) => cause === 'suspended') ?? concerned.find(isPause) ?? first;
};

/** By the record that a step makes, or by the one that it parks. */
const isChosen = (step: Step, only: readonly RecordPattern[]): boolean => {
  const { difference } = step;
  const parked = isPark(step) && !isRestore(step) ? step.difference.current : difference.desired;
  return only.length === 0 || matchesPattern(only, parked);
};

/** The part of its plan that `--only` selects, without what waits for the rest. */
export const chosenPart = ({ basis, only }: TemplateState): TemplatePlan => {
  const plan = planOf(basis);
  if (only.length === 0) return plan;
  const reasons = withDependentWaits(plan, (step) => (isChosen(step, only) ? null : notSelected));
  return { ...plan, steps: plan.steps.filter((step) => reasons(step) === null) };
};

const clientReason = ({ holds, isEnding }: ClientView): string | null => {
  const hold = reportedHold(holds);
  if (hold) return `no more writes for this client: ${describeHold(hold)}`;
  return isEnding ? 'the program is shutting down' : null;
};

/** Of a hold on adds. After a failover what may still come is not known, and may have the name that a record would get. */
const holdsStep = ({ scope, cause }: Hold, step: Step): boolean =>
  scope === 'adds' && (isAdd(step) || (cause === 'forgotten' && givesName(step)));

/** Whether it puts a record at a name of the file. */
export const givesName = (step: Step): boolean => {
  if (isPark(step)) return isRestore(step);
  return isAdd(step) || (step.difference.action === 'update' && step.difference.fields.includes('name'));
};

const isAdd = (step: Step): boolean => step.difference.action === 'add';

const unconfirmed = 'waits until a second reading shows the same';

/** Planned steps that were not sent and that are still planned at the end, or blocked by then. */
export const unwrittenSteps = (planned: readonly Step[], { attempts, basis }: TemplateState): Step[] => {
  const { steps, blocked } = planOf(basis);
  const open = new Set(steps.map(stepKey));
  const sources = new Set(blocked.map(({ source }) => source));
  return planned.filter((step) => {
    const { difference } = step;
    const isBlocked = 'source' in difference && sources.has(difference.source);
    return !attempts.has(stepKey(step)) && (open.has(stepKey(step)) || isBlocked);
  });
};
