import type { ActualTemplate } from '../../model/template.ts';
import { isPolicy } from '../../plan/hold.ts';
import { elapsedSince, type Instant } from '../../memory/backoff.ts';
import { writeKey } from './attempt.ts';
import { edit } from '../../memory/memory.ts';
import { desiredKeysOf } from '../../plan/entry.ts';
import { lostIds } from '../../plan/guard.ts';
import { nextStep, type ClientView } from './permit.ts';
import { compare, digestOf } from './reading.ts';
import { planOf } from './plan-of.ts';
import { claimArrived } from './arrivals.ts';
import type { CorrectedView } from './basis.ts';
import { asAccepted, mayStillCome } from './waits.ts';
import { withBasis, withHold, type TemplateState } from './state.ts';

/**
 * The rule of two readings: a step is written only if two readings of its template, at least `settle` apart,
 * require it. The older one may be saved by an earlier pass: while all readings since then agree with it,
 * there is no wait.
 */

/**
 * Restores from the saved reading since when readings agree. Not where a record of the file is missing: while the file
 * could not be used, readings that showed it may have gone by unnoticed.
 */
export const recallReading = (state: TemplateState): TemplateState => {
  const { desired, memory, view } = state.basis;
  const { lastReading } = memory.row;
  if (!lastReading || lastReading.digest !== digestOf(view)) return state;
  const keys = desiredKeysOf(desired);
  const lost = lostIds({ actual: view, memory: memory.view });
  if (lost.some((id) => keys.has(memory.view.byId.get(id)!.key))) return state;
  return { ...state, agreement: { ...state.agreement, since: lastReading.since, isRepeated: true } };
};

/** Adds a newer trusted reading, and binds what has arrived in it. */
export const withView = (state: TemplateState, reading: CorrectedView, at: Instant): TemplateState => {
  const view = asAccepted(reading, state.basis.memory, state.basis);
  const isSame = digestOf(view) === digestOf(state.basis.view);
  const since = isSame ? state.agreement.since : at;
  const agreement = { since, until: at, isRepeated: isSame };
  const memory = claimArrived({ ...state.basis, view }, at);
  return { ...withBasis(state, { view, memory }), agreement };
};

/** Whether the newest reading is as good as two. */
export const isSettled = ({ agreement, basis: { settle } }: TemplateState): boolean => {
  const { since, until, isRepeated } = agreement;
  return isRepeated && (elapsedSince(since.uptime, until.uptime) ?? until.now - since.now) >= settle;
};

/** Whether a second reading would let anything be written, or may show what the first one did not show yet. */
export const awaitsReading = (state: TemplateState, client: ClientView): boolean =>
  nextStep(confirmAll(state), client) !== null || hasUnshown(state);

/** Whether the newest listing is behind our own writes. */
export const hasUnshown = ({ basis }: TemplateState): boolean => basis.view.unshown !== undefined;

/** Confirms everything that the newest reading requires. */
export const confirmAll = (state: TemplateState): TemplateState => ({
  ...state,
  confirmed: writeKeysOf(state),
});

/** Whether a second reading shows all that the first one did. */
export const isConfirming = ({ basis }: TemplateState, reading: ActualTemplate | undefined): boolean =>
  reading !== undefined && compare(basis.view, reading, 'confirming').verdict === 'take';

/** A second reading confirms what both require, unless it lacks records of the first. */
export const confirmBy = (
  state: TemplateState,
  reading: ActualTemplate | undefined,
  at: Instant,
): TemplateState => {
  if (!reading) return disagree(state, 'the template was missing in a second reading');
  const { verdict, lacks } = compare(state.basis.view, reading, 'confirming');
  if (verdict !== 'take')
    return disagree(state, `a second reading lacked ${lacks} of the records that the first one showed`);
  const first = writeKeysOf(state);
  const next = withView(state, reading, at);
  return { ...next, confirmed: new Set([...writeKeysOf(next)].filter((key) => first.has(key))) };
};

/** Disagreeing readings do not show what is missing; no step is written from them. */
export const disagree = (state: TemplateState, reason: string): TemplateState =>
  withHold(state, { scope: 'template', cause: 'disagreement', reason, retryAt: null });

/**
 * Saves the newest reading for comparison in the next pass; not after a refused add, and not while an add may still come:
 * only later readings can show it.
 */
export const rememberReading = (state: TemplateState): TemplateState => {
  const { lastReading = null } = state.basis.memory.row;
  const digest = digestOf(state.basis.view);
  const mayCome = mayStillCome(state.basis);
  const isDoubtful = state.holds.some((hold) => !isPolicy(hold)) || hasFailedAdd(state) || mayCome;
  const isNew = digest !== lastReading?.digest;
  const next = isDoubtful ? null : isNew ? { digest, since: state.agreement.since } : lastReading;
  if (next === lastReading) return state;
  return withBasis(state, {
    memory: edit(state.basis.memory, (draft) => draft.setRow({ lastReading: next })),
  });
};

const hasFailedAdd = ({ attempts }: TemplateState): boolean =>
  [...attempts.values()].some(({ state, intent }) => state === 'failed' && intent.action === 'add');

const writeKeysOf = ({ basis }: TemplateState): ReadonlySet<string> =>
  new Set(planOf(basis).steps.map(writeKey));

/** A listing for another template may be newer. Adds wait for the next pass if it shows this one otherwise than its view. */
export const compareListing = (
  state: TemplateState,
  listing: ReadonlyMap<number, ActualTemplate> | null,
): TemplateState => {
  if (listing === state.comparedListing) return state;
  const next = { ...state, comparedListing: listing };
  const { view, memory } = state.basis;
  const reading = listing?.get(view.id);
  const isHeld = state.holds.some(({ cause }) => cause === 'unexplained' || cause === 'disagreement');
  if (reading === undefined || isHeld) return next;
  if (digestOf(asAccepted(reading, memory, state.basis)) === digestOf(view)) return next;
  const reason = 'another listing shows other records than this one did';
  return withHold(next, { scope: 'adds', cause: 'unexplained', reason, retryAt: null });
};
