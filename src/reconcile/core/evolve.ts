import { plural } from '../../lib/plural.ts';
import { dataOf, type ActualRecord } from '../../model/record.ts';
import type { ActualTemplate } from '../../model/template.ts';
import { desiredKeysOf } from '../../plan/entry.ts';
import type { Hold, HoldCause } from '../../plan/hold.ts';
import { matchAdd } from '../../plan/match-add.ts';
import { parkedKey } from '../../plan/memory.ts';
import { actualOf, isPark, isRestore, resultOf, type ParkStep, type Step } from '../../plan/step.ts';
import type { Failure, Intent, RecordState } from '../../state/memory.ts';
import { stepKey, type Attempt } from './attempt.ts';
import { failureAfter, mayChangeUntil, type Instant } from '../../memory/backoff.ts';
import { commit, isKeptInPlace, assumeParked } from './commit.ts';
import { edit, isRemembered, recordOfId, type MemoryDraft } from '../../memory/memory.ts';
import { compare, showsTheSame, type Comparison } from './reading.ts';
import { change, bindTentatively, forgetDropped, noteCause, targetOf } from '../../memory/remembering.ts';
import { withBasis, withHold, type TemplateState } from './state.ts';
import { asAccepted } from './waits.ts';
import { existedBefore, isUnchanged, recordAsDesired, renamedRecord, writtenRecord } from './written.ts';

/** What happens to a template while a pass writes it. */
export type TemplateEvent =
  /** The intent of a step is on disk: it may be sent now. */
  | { readonly type: 'begun'; readonly step: Step; readonly intent: Intent }
  | { readonly type: 'answered'; readonly answer: ActualTemplate }
  /** The service refused this record. */
  | { readonly type: 'refused'; readonly error: string }
  /** It certainly had no effect, for a reason that concerns the whole client. */
  | { readonly type: 'not-sent'; readonly error: string; readonly retryAt: number | null }
  /** It has an unknown outcome. */
  | { readonly type: 'lost'; readonly error: string }
  /** The reading that decides its outcome; null if there is none. */
  | { readonly type: 'reread'; readonly reading: ActualTemplate | null };

/** The template after an event. The trust table is in reading.ts. */
export const evolve = (state: TemplateState, event: TemplateEvent, at: Instant): TemplateState => {
  if (event.type === 'begun') return begun(state, event);
  const attempt = underWay(state);
  switch (event.type) {
    case 'answered':
      return answered(state, attempt, event.answer, at);
    case 'refused':
      return withAttempt(state, { ...attempt, state: 'awaiting-read', by: 'refusal', error: event.error });
    case 'not-sent':
      return withAttempt(state, { ...attempt, state: 'failed', error: event.error, retryAt: event.retryAt });
    case 'lost':
      return lost(state, attempt, event.error, at);
    case 'reread': {
      const isRefused = attempt.state === 'awaiting-read' && attempt.by === 'refusal';
      // The answer in doubt is from after the record's earlier writes.
      const except = isRefused ? null : attempt.intent.recordId;
      const { memory } = state.basis;
      const reading = event.reading && asAccepted(event.reading, memory, state.basis, except);
      return isRefused
        ? rereadAfterRefusal(state, attempt, attempt.error, reading, at)
        : rereadAfterDoubt(state, attempt, reading, at);
    }
  }
};

/** The attempt in flight. A template is written one step at a time. */
export const underWay = ({ attempts }: TemplateState): Attempt => {
  const open = [...attempts.values()].find(({ state }) => state === 'intended' || state === 'awaiting-read');
  if (!open) throw new Error('no write is in flight in this template');
  return open;
};

const begun = (
  state: TemplateState,
  { step, intent }: Extract<TemplateEvent, { type: 'begun' }>,
): TemplateState => {
  const memory = edit(state.basis.memory, (draft) => {
    noteCause(draft, step);
    // From here on the last saved reading is out of date.
    draft.setRow({ lastReading: null });
  });
  return withAttempt(withBasis(state, { memory }), { step, intent, state: 'intended' });
};

const answered = (
  given: TemplateState,
  attempt: Attempt,
  answer: ActualTemplate,
  at: Instant,
): TemplateState => {
  const { view } = given.basis;
  const state = noteShown(given, attempt, answer);
  const expected = newRecordsOf(attempt.intent);
  const comparison = compare(view, answer, 'answer', expected);
  if (comparison.verdict !== 'take') {
    const doubt = describeDoubt(view, answer, comparison);
    const changed = changedIn(state, answer, attempt);
    return comparison.verdict === 'read-once'
      ? withAttempt(state, { ...attempt, state: 'awaiting-read', by: 'doubt', error: doubt, changed })
      : lost(state, attempt, doubt, at, changed);
  }
  const record = writtenRecord(state, answer, attempt.step);
  if (record !== null && isUnchanged(record, attempt.step)) {
    const error = 'the answer shows the record as it was';
    return withAttempt(state, { ...attempt, state: 'awaiting-read', by: 'stale', error });
  }
  if (record !== null) return applied(state, attempt, record, answer, at);
  return lost(state, attempt, 'the answer does not show the record', at);
};

/**
 * What an answer shows is there, believed or not: a listing that never shows it is not whole. What an add made keeps
 * being its record whatever name or content somebody gives it before a listing shows it.
 */
const noteShown = (state: TemplateState, { intent }: Attempt, answer: ActualTemplate): TemplateState => {
  const { view, memory } = state.basis;
  if (answer.id !== view.id) return state;
  const { answeredIds = [], addedIds } = memory.row;
  const shown = new Set(view.records.map(({ id }) => id));
  const isOld = (id: number): boolean => shown.has(id) || isRemembered(memory, id);
  const known = new Set(answeredIds);
  const more = answer.records.map(({ id }) => id).filter((id) => !isOld(id) && !known.has(id));
  const match = intent.action === 'add' ? matchAdd(intent.after, isOld, answer, 'exact') : null;
  const added = match?.kind === 'matched' ? { [intent.key]: match.record.id } : null;
  if (more.length === 0 && added === null) return state;
  const row = {
    ...(more.length > 0 ? { answeredIds: [...answeredIds, ...more].slice(-maxAnswered) } : {}),
    ...(added ? { addedIds: { ...addedIds, ...added } } : {}),
  };
  return withBasis(state, { memory: edit(memory, (draft) => draft.setRow(row)) });
};

/** One is enough to hold the adds; the others are for the message. */
const maxAnswered = 1_000;

/** An answer may lack part of the template: a trusted reading may show it. */
const rereadAfterDoubt = (
  state: TemplateState,
  attempt: Attempt,
  reading: ActualTemplate | null,
  at: Instant,
): TemplateState => {
  const { view } = state.basis;
  const { verdict } = reading
    ? compare(view, reading, 'after-doubt', newRecordsOf(attempt.intent))
    : { verdict: 'unknown' };
  const record =
    reading && verdict === 'take-if-as-desired'
      ? (recordAsDesired(existedBefore(state), reading, attempt.step) ??
        renamedRecord(reading, attempt.step) ??
        ignoredChange(reading, attempt))
      : null;
  if (reading && record) return applied(state, attempt, record, reading, at);
  const { error = '', changed = null } = attempt.state === 'awaiting-read' ? attempt : {};
  return lost(state, attempt, error, at, changed);
};

/** The record that an update changed, as its answer shows it, whatever else that answer shows. */
const changedIn = (state: TemplateState, answer: ActualTemplate, { step }: Attempt): ActualRecord | null =>
  actualOf(step) !== null && answer.id === state.basis.view.id
    ? recordAsDesired(existedBefore(state), answer, step)
    : null;

/** Where both the answer and a reading show an updated record as it was, the service ignores the change. */
const ignoredChange = (reading: ActualTemplate, attempt: Attempt): ActualRecord | null => {
  const { step, intent } = attempt;
  if (attempt.state !== 'awaiting-read' || attempt.by !== 'stale' || isPark(step)) return null;
  const record = reading.records.find(({ id }) => id === intent.recordId);
  return record && isUnchanged(record, step) ? record : null;
};

/** A refusal may hide that the record is there already. */
const rereadAfterRefusal = (
  state: TemplateState,
  attempt: Attempt,
  error: string,
  reading: ActualTemplate | null,
  at: Instant,
): TemplateState => {
  const { view } = state.basis;
  const ids = new Set(view.records.map(({ id }) => id));
  const record = reading && recordAsDesired((id) => ids.has(id), reading, attempt.step);
  const comparison = reading && compare(view, reading, 'after-refusal', newRecordsOf(attempt.intent));
  const stop = (reason: string): TemplateState =>
    hold(state, 'template', 'changed-meanwhile', `stopped after a refusal: ${reason}`);
  const isTaken = comparison?.verdict === 'take-if-as-desired';
  let next = state;
  // It shows unexpected records: earlier readings are out of date.
  if (reading && comparison?.verdict === 'hold') next = stop(describeDoubt(view, reading, comparison));
  // It may be older than the previous reading, or newer: that is unknown.
  else if (reading && isTaken && !record && !showsTheSame(view, reading))
    next = stop('the next reading shows other values');
  // It shows the record, and lacks another one.
  else if (reading && comparison && record && !isTaken) next = stop(describeDoubt(view, reading, comparison));
  if (reading && record) return applied(next, attempt, record, isTaken ? reading : view, at);
  // Without a whole reading, the add may have had an effect nevertheless.
  const isShown = comparison !== null && comparison.verdict !== 'keep';
  return isShown || attempt.intent.action !== 'add'
    ? refused(next, attempt, error, at)
    : lost(next, attempt, error, at);
};

/** The write succeeded, unless the service kept a parked record at its name. */
const applied = (
  state: TemplateState,
  attempt: Attempt,
  record: ActualRecord,
  view: ActualTemplate,
  at: Instant,
): TemplateState => {
  const { step } = attempt;
  const memory = edit(state.basis.memory, (draft) => {
    const before = draft.ofId(record.id);
    commit(draft, attempt, record, at);
    // At once, since nothing may be saved after this: if the file lists it again, that is an edit.
    const isDropped = before && !desiredKeysOf(state.basis.desired).has(before.key);
    if (isDropped && !isPark(step)) forgetDropped(draft, before.key);
  });
  const next = withBasis(state, { memory, view });
  if (isPark(step) && isKeptInPlace(step, record)) {
    const error = `the service kept its name, and stored ${record.name ?? '@'} ${record.type} ${record.content}`;
    return withAttempt(next, { ...attempt, state: 'failed', error, retryAt: null });
  }
  const done = withAttempt(next, { ...attempt, state: 'applied', recordId: record.id });
  return isPark(step) && isRestore(step) ? asReverted(done, step) : done;
};

/** If a park is reverted in the same pass, the report shows only the result. */
const asReverted = (state: TemplateState, step: ParkStep): TemplateState => {
  const parked = state.attempts.get(parkedKey(step.actual.record.id));
  if (parked?.state !== 'applied') return state;
  const write = state.attempts.get(parked.intent.makesWayFor ?? '');
  const why = write && 'error' in write ? ` (${resultOf(write.step).type}): ${write.error}` : '';
  return withAttempt(state, {
    ...parked,
    state: 'reverted',
    error: `restored: the write that needed its name was not accepted${why}`,
    retryAt: write && 'retryAt' in write ? write.retryAt : null,
  });
};

/**
 * It is unknown whether the write took effect. An add waits until that is resolved; an update is planned
 * again from the next reading, at once the first time and then with backoff. If its answer shows the record as
 * `changed`, a listing that shows it as it was is behind: no other desired record takes it, and no add repeats it.
 */
const lost = (
  state: TemplateState,
  attempt: Attempt,
  error: string,
  at: Instant,
  changed: ActualRecord | null = null,
): TemplateState => {
  const { step, intent } = attempt;
  const reason = `stopped after a write of unknown outcome: ${error}`;
  const held = hold(state, 'template', 'unknown-outcome', reason);
  const next = withAttempt(held, { ...attempt, state: 'unknown', error });
  if (intent.action === 'add') return withBasis(next, { pending: [...next.basis.pending, intent] });
  const memory = edit(next.basis.memory, (draft) => {
    if (changed) return commit(draft, attempt, changed, at);
    const earlier = rememberedOf(step, draft)?.failure ?? null;
    const failure = failureAfter(earlier, { kind: 'unseen', message: error, sent: resultOf(step) }, at);
    const target = targetOf(intent);
    if (target) bindTentatively(draft, target, { failure });
    else if (!assumeParked(draft, intent, failure)) rememberFailure(step, failure, draft);
  });
  return withBasis(next, { memory });
};

const refused = (state: TemplateState, attempt: Attempt, error: string, at: Instant): TemplateState => {
  let retryAt: number | null = null;
  const memory = edit(state.basis.memory, (draft) => {
    // An earlier write of unknown outcome still counts, and what it made is still recognised.
    const earlier = rememberedOf(attempt.step, draft)?.failure ?? null;
    const isPerhapsAdded = earlier?.kind === 'unknown';
    const { unknownPause } = state.basis;
    const mayChange = mayChangeUntil(earlier, { now: at.now, unknownPause }) !== null;
    const kind = earlier && (isPerhapsAdded || mayChange) ? earlier.kind : 'refused';
    const failure = failureAfter(earlier, { kind, message: error, sent: resultOf(attempt.step) }, at);
    rememberFailure(attempt.step, isPerhapsAdded ? { ...failure, isOver: true } : failure, draft);
    ({ retryAt } = failure);
  });
  return withAttempt(withBasis(state, { memory }), { ...attempt, state: 'failed', error, retryAt });
};

const rememberFailure = (step: Step, failure: Failure, draft: MemoryDraft): void => {
  const desired = isPark(step) ? dataOf(step.actual.record) : dataOf(step.desired.record);
  change(draft, rememberedOf(step, draft)?.key ?? stepKey(step), desired, { failure });
};

const rememberedOf = (step: Step, draft: MemoryDraft): RecordState | undefined =>
  (isPark(step) ? recordOfId(draft.now, step.actual.record.id) : undefined) ?? draft.get(stepKey(step));

const describeDoubt = (view: ActualTemplate, answer: ActualTemplate, { lacks }: Comparison): string => {
  if (answer.id !== view.id) return `the answer is template ${answer.id}, not ${view.id}`;
  if (lacks > 0) return `the answer lacks ${lacks} of the template's records`;
  return `the answer has ${plural(answer.records.length - view.records.length, 'unexpected record')}`;
};

const newRecordsOf = ({ action }: Intent): number => (action === 'add' ? 1 : 0);

const hold = (state: TemplateState, scope: Hold['scope'], cause: HoldCause, reason: string): TemplateState =>
  withHold(state, { scope, cause, reason, retryAt: null });

const withAttempt = (state: TemplateState, attempt: Attempt): TemplateState => ({
  ...state,
  attempts: new Map(state.attempts).set(stepKey(attempt.step), attempt),
});
