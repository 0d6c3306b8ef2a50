import { canonicalName } from '../model/canonical.ts';
import type { SkipCause } from '../plan/difference.ts';
import { setKey } from '../plan/entry.ts';
import { isPolicy, type Hold } from '../plan/hold.ts';
import { parkedKey } from '../plan/memory.ts';
import { placesIn } from '../plan/places.ts';
import { isParkedName } from '../plan/parked.ts';
import type { RecordData } from '../model/record.ts';
import type { Incomplete } from '../model/template.ts';
import type { TemplatePlan } from '../plan/plan.ts';
import { matchesPattern, type RecordPattern } from '../plan/record-pattern.ts';
import {
  actualOf,
  isPark,
  isRestore,
  isUpdate,
  movesName,
  resultOf,
  stepKey,
  writeKey,
  type Step,
} from '../plan/step.ts';
import { describeHold, reportedHold } from './client-holds.ts';
import { closedSets, type OpenEntry } from './journal.ts';
import { isSettled, planOf, type TemplateState } from './state.ts';
import { isoOf } from './times.ts';

/** What a client decides about the writes of all its templates. */
export interface ClientView {
  readonly holds: readonly Hold[];
  /** The program is shutting down. */
  readonly isEnding: boolean;
}

/** Why a step may not be written now. */
export interface Skip {
  readonly cause: SkipCause;
  /** For a person. */
  readonly text: string;
}

/** Null if it may be written now. */
export type SkipReason = (step: Step) => Skip | null;

/**
 * Whether a single step may be written now, decided only here. `client`: null for what a plan shows, which no accident of a
 * pass concerns. The first reason that applies:
 *
 * | because of                                             | steps                                                     |
 * | ------------------------------------------------------ | --------------------------------------------------------- |
 * | `mode: report`, `--only`, a guard, a suspension         | all, or those that are not selected                       |
 * | the template is not settled                            | what enters or leaves a name; the record sets concerned   |
 * | an answer that no listing has shown, lost memory       | what enters or leaves a name; the former but for undoing  |
 * | `mode: edits`                                          | what no edit of the file caused                           |
 * | a file that may still be on its way                    | what parks a record, or takes it from its place           |
 * | the client: an error, a wait, the end of the program   | all                                                       |
 * | the template: a write in doubt                         | all but the undoing of a write of this pass               |
 * | one reading is not enough                              | all but that                                              |
 * | once in a pass                                         | what was attempted                                        |
 */
export const permits = (state: TemplateState, client: ClientView | null): SkipReason => {
  const held = withLinked(state, (step) => policyReason(step, state));
  if (client === null) return held;
  return withLinked(state, (step) => {
    const reason = policyReason(step, state);
    if (reason !== null) return reason;
    const [linked, own] = [held(step), passReason(step, state, client)];
    // No later pass writes what waits for something that may not be written: a second reading is none of its reasons.
    return linked && own ? { ...own, text: linked.text } : (linked ?? own);
  });
};

/** The same for all steps of a plan: what is linked to another step is not written without it. */
const withLinked = (state: TemplateState, ownReason: SkipReason): SkipReason => {
  const { steps, links } = planOf(state);
  // Asked before each of thousands of writes: only what is linked is looked at before it is asked for.
  const reasons = new Map<Step, Skip>();
  for (const step of steps) {
    const reason = links.has(step) ? ownReason(step) : null;
    if (reason !== null) reasons.set(step, reason);
  }
  const waiting = new Set<Step>();
  // Entries added during the iteration are visited too.
  for (const [step, reason] of reasons)
    for (const other of links.get(step) ?? []) {
      if (reasons.has(other)) continue;
      const own = ownReason(other);
      const text = waiting.has(step) ? reason.text : `waits for ${describe(step)}: ${reason.text}`;
      reasons.set(other, own ?? { ...reason, text });
      if (own === null) waiting.add(other);
    }
  return (step) => reasons.get(step) ?? ownReason(step);
};

/** The next step to write; null if there is none. */
export const nextStep = (state: TemplateState, client: ClientView): Step | null => {
  const whyNot = permits(state, client);
  return planOf(state).steps.find((step) => whyNot(step) === null) ?? null;
};

const policyReason = (step: Step, state: TemplateState): Skip | null => {
  const { desired, holds, circumstances } = state;
  if (desired.mode === 'report') return { cause: 'mode-report', text: 'mode: report writes nothing' };
  if (!isChosen(step, circumstances.only)) return notSelected;
  const hold = firstPolicy(holds.filter((one) => one.scope === 'template' || holdsMove(one, step)));
  if (hold) return { cause: 'held', text: `held: ${hold.reason}` };
  const unsettled = unsettledReason(step, state);
  if (unsettled !== null) return { cause: 'held', text: `held: ${unsettled}` };
  if (desired.incomplete && mayDrop(step, desired.incomplete))
    return { cause: 'held', text: `held: ${incompleteText(desired.incomplete)}` };
  const { cause } = step.difference;
  if (desired.mode === 'edits' && !circumstances.force && cause !== 'edited' && cause !== 'both') {
    const text = `mode: edits writes only what an edit of the file caused; this cause is ${cause}`;
    return { cause: 'mode-edits', text };
  }
  return null;
};

/** Whether a step takes away what the file may say again when all of it has arrived. */
const mayDrop = (step: Step, { sets }: Incomplete): boolean => {
  const own = actualOf(step);
  if (own === null || isParkedName(own.name)) return false;
  return movesName(step) || sets.includes(setKey(own));
};

const incompleteText = ({ until }: Incomplete): string =>
  `its file changed a moment ago, and may still be on its way: what it lacks stays until ${isoOf(until)}`;

/** While a template is not settled nothing enters or leaves a name, and nothing is written in a record set concerned. */
const unsettledReason = (step: Step, state: TemplateState): string | null => {
  if (isSettled(state)) return null;
  const own = actualOf(step);
  const isFree = !movesName(step) && !isPark(step) && own !== null;
  const sets = isFree ? closedSets(state.open) : null;
  return sets !== null && !sets.has(setKey(own!)) && !(!isPark(step) && sets.has(setKey(step.desired)))
    ? null
    : unsettledText(state.open);
};

/** Whether something waits because it is not settled; else it says nothing about the template. */
export const waitsToSettle = (state: TemplateState): boolean =>
  !isSettled(state) &&
  (state.open.some(({ isBehind }) => isBehind) ||
    planOf(state).steps.some((step) => unsettledReason(step, state) !== null));

/** What is waited for, and until when. */
export const unsettledText = (open: readonly OpenEntry[]): string => {
  const [last, ...others] = open.toSorted((a, b) => b.until - a.until);
  if (!last) return '';
  const { entry, isBehind, until } = last;
  const { type, name, content } = entry.after;
  const what = `${type} ${name ?? '@'} ${content}, sent at ${isoOf(entry.sentAt.now)}`;
  const more = others.length > 0 ? `; and ${others.length} more` : '';
  return isBehind
    ? `the listing is from before an earlier write: ${what}; listings may be behind until ${isoOf(until)}${more}`
    : `an earlier write has not settled: ${what}, may still appear until ${isoOf(until)}${more}`;
};

/** Where nothing can be added, nothing leaves a name either: it might stay empty. */
const holdsMove = ({ scope, cause }: Hold, step: Step): boolean =>
  scope === 'adds' && movesName(step) && (cause === 'forgotten' || !isPark(step) || !isRestore(step));

const passReason = (step: Step, state: TemplateState, client: ClientView): Skip | null => {
  const isUndoing = undoesOwnWrite(step, state);
  const reason =
    clientReason(client) ??
    (state.attempts.has(stepKey(step)) ? 'already attempted' : null) ??
    (isUndoing ? null : state.holds.find((hold) => !isPolicy(hold) && hold.scope === 'template')?.reason) ??
    (isUndoing || isConfirmed(step, state) ? null : unconfirmedText(state));
  return reason === null ? null : { cause: 'pass', text: reason };
};

/** A command tries again what was refused, and comes to the same point each time. */
const unconfirmedText = ({ attempts }: TemplateState): string => {
  const hasFailure = [...attempts.values()].some(({ outcome }) => outcome === 'failed');
  const more = hasFailure ? '; if it goes on waiting, correct the write that failed before it' : '';
  return `waits until a second reading shows the same${more}`;
};

/** What this pass has parked itself is as good as new, or as what else was to be put to use: two readings lacked the result. */
const isConfirmed = (step: Step, { confirmed, attempts }: TemplateState): boolean => {
  if (confirmed.has(writeKey(step))) return true;
  const own = actualOf(step);
  const isParkedNow = own !== null && attempts.get(parkedKey(own.record.id))?.outcome === 'applied';
  return isParkedNow && isUpdate(step) && confirmed.has(`new ${stepKey(step)}`);
};

/**
 * Whether it restores a record that this pass parked, or for a write that this pass tried in vain; or parks one that this pass
 * put beside a record without a name that cannot be parked.
 */
const undoesOwnWrite = (step: Step, { attempts, memory }: TemplateState): boolean => {
  if (!isPark(step)) return false;
  const { id } = step.actual.record;
  if (!isRestore(step))
    return [...attempts.values()].some(
      (one) => one.outcome === 'applied' && one.entry.action === 'add' && one.entry.recordId === id,
    );
  const placeOf = ({ name }: RecordData): string => placesIn(memory).ofName(canonicalName(name));
  const place = placeOf(step.difference.desired);
  const isTriedThere = [...attempts.values()].some(
    ({ outcome, entry }) => outcome === 'failed' && entry.action !== 'park' && placeOf(entry.after) === place,
  );
  return attempts.has(parkedKey(id)) || isTriedThere;
};

const clientReason = ({ holds, isEnding }: ClientView): string | null => {
  const hold = reportedHold(holds);
  if (hold) return `no more writes for this client: ${describeHold(hold)}`;
  return isEnding ? 'the program is shutting down' : null;
};

const notSelected: Skip = { cause: 'not-selected', text: 'not selected by --only' };

/** Suspensions first: guards have not judged what a suspended template would write. */
export const firstPolicy = (holds: readonly Hold[]): Hold | undefined => {
  const policies = holds.filter(isPolicy);
  return policies.find(({ cause }) => cause === 'suspended') ?? policies[0];
};

/** By the record that a step makes, or by the one that it parks. */
const isChosen = (step: Step, only: readonly RecordPattern[]): boolean => {
  const { difference } = step;
  const parked = isPark(step) && !isRestore(step) ? step.difference.current : difference.desired;
  return only.length === 0 || matchesPattern(only, parked);
};

/** The part of its plan that `--only` selects, without what waits for the rest. */
export const chosenPart = (state: TemplateState): TemplatePlan => {
  const plan = planOf(state);
  const { only } = state.circumstances;
  if (only.length === 0) return plan;
  const left = new Set(plan.steps.filter((step) => !isChosen(step, only)));
  for (const step of left) for (const other of plan.links.get(step) ?? []) left.add(other);
  return { ...plan, steps: plan.steps.filter((step) => !left.has(step)) };
};

const describe = (step: Step): string => {
  const { type, name } = resultOf(step);
  return `${type} ${name ?? '@'}`;
};
