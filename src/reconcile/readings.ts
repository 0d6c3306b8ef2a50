import { canonicalName, canonicalType } from '../model/canonical.ts';
import type { ActualRecord } from '../model/record.ts';
import type { ActualTemplate } from '../model/template.ts';
import type { Bound } from '../plan/bind.ts';
import { desiredKeysOf } from '../plan/entry.ts';
import { isPolicy } from '../plan/hold.ts';
import { movesName, writeKey } from '../plan/step.ts';
import { openEntries } from './journal.ts';
import { withRow } from './memory.ts';
import { nextStep, type ClientView } from './permit.ts';
import { changed, digestOf, isSettled, planOf, stop, withListing, type TemplateState } from './state.ts';
import type { TemplateRow } from '../state/memory.ts';
import { elapsed, type Asked } from './times.ts';

/*
 * The rule of two readings: a step is written only if two readings of its template, at least `settle` apart, require it. The
 * older one may be saved by an earlier pass: while all readings since then agree with it, there is no wait. Missing is what
 * two readings lack.
 */

/** Whether a second listing would let anything be written. */
export const awaitsReading = (state: TemplateState, client: ClientView): boolean => {
  const confirmed = confirmAll(state);
  if (nextStep(confirmed, client) !== null) return true;
  // Where only the listing is behind, a newer one may not be.
  const isOnlyBehind = !isSettled(state) && state.open.every(({ isBehind }) => isBehind);
  return isOnlyBehind && nextStep({ ...confirmed, open: [] }, client) !== null;
};

/** Confirms everything if the saved reading is the same, and old enough. */
export const confirmBySaved = (state: TemplateState): TemplateState | null => {
  const lastReading = savedReading(state);
  const { settle } = state.circumstances.times;
  if (!isSettled(state) || lastReading?.digest !== digestOf(state.view) || lacksDesired(state)) return null;
  if (elapsed(lastReading.since, state.asked) < settle) return null;
  return confirmAll({ ...state, since: lastReading.since, isGone: lackedBy(state.view) });
};

/** None from before a write of unknown outcome: a process that died since may have written after it. */
const savedReading = ({ memory, journal }: TemplateState): TemplateRow['lastReading'] => {
  const { lastReading } = memory.row;
  const isEarlier = journal.some(
    ({ state, sentAt }) =>
      lastReading !== null && state !== 'accepted' && elapsed(lastReading.since, sentAt) > 0,
  );
  return isEarlier ? null : lastReading;
};

/** A missing record of the file takes two listings of one pass: while the file had errors, others may have gone by unnoticed. */
const lacksDesired = ({ desired, view, memory }: TemplateState): boolean => {
  const ids = new Set(view.records.map(({ id }) => id));
  const keys = desiredKeysOf(desired);
  return [...memory.byId].some(([id, { key }]) => keys.has(key) && !ids.has(id));
};

const lackedBy = (...readings: readonly ActualTemplate[]): ((id: number) => boolean) => {
  const shown = new Set(readings.flatMap(({ records }) => records.map(({ id }) => id)));
  return (id) => !shown.has(id);
};

/**
 * A second listing, in which the file is `bound` anew, confirms what both require; if it lacks a record that the first one
 * showed, or shows it at another name or of another type, only updates in place.
 */
export const confirmBy = (
  state: TemplateState,
  listing: ActualTemplate | undefined,
  bound: Bound,
  asked: Asked,
): TemplateState => {
  if (!listing) return stop(state, 'changed-meanwhile', 'the template was missing in a second listing');
  // It may be public by now, or have another name.
  if (!('actual' in bound) || bound.actual !== listing) {
    const reason = 'reason' in bound ? bound.reason : `'${state.desired.template}' is another template`;
    return stop(state, 'changed-meanwhile', `in a second listing: ${reason}`);
  }
  const first = writeKeysOf(state);
  // A first listing from before an earlier write does not agree with the saved reading: that one counts no more.
  const begun = isSettled(state) ? state : changed(state, withRow({ lastReading: null }));
  const next = withListing(begun, listing, asked);
  const later = new Map(listing.records.map((record) => [record.id, record]));
  // If only the first one was from before an earlier write, it required nothing that enters or leaves a name.
  const isAlike = isSettled(state) || !isSettled(next);
  const isInPlace =
    isAlike && state.view.records.every((record) => isSamePlace(record, later.get(record.id)));
  const steps = planOf(next).steps.filter(
    (step) => first.has(writeKey(step)) && (isInPlace || !movesName(step)),
  );
  return { ...next, confirmed: new Set(steps.map(writeKey)), isGone: lackedBy(state.view, listing) };
};

const isSamePlace = (one: ActualRecord, other: ActualRecord | undefined): boolean =>
  other !== undefined &&
  canonicalName(one.name) === canonicalName(other.name) &&
  canonicalType(one.type) === canonicalType(other.type);

const confirmAll = (state: TemplateState): TemplateState => ({ ...state, confirmed: writeKeysOf(state) });

const writeKeysOf = (state: TemplateState): ReadonlySet<string> => new Set(planOf(state).steps.map(writeKey));

/** A listing that was made for another template. Nothing more is written if it shows this one otherwise than its view. */
export const compareListing = (
  state: TemplateState,
  listing: ReadonlyMap<number, ActualTemplate> | null,
  { read }: Asked,
): TemplateState => {
  if (listing === null || listing === state.comparedListing) return state;
  const next = { ...state, comparedListing: listing };
  const other = listing.get(state.view.id);
  if (other === undefined || digestOf(other) === digestOf(state.view)) return next;
  const isBehind = openEntries(state.journal, other.records, read, state.circumstances.times).some(
    (one) => one.isBehind,
  );
  return isBehind
    ? next
    : stop(next, 'changed-meanwhile', 'another listing shows other records than this one did');
};

/**
 * Saves the newest reading for the next pass: not while the template is not settled, or in doubt, nor while a write that was
 * forgotten may still appear. One that differs from the saved one ends that in any case.
 */
export const rememberReading = (state: TemplateState): TemplateState => {
  const { isForgetful } = state.circumstances;
  const digest = digestOf(state.view);
  if (isForgetful ? state.memory.row.lastReading === null : digest === savedReading(state)?.digest)
    return state;
  const isSure = isSettled(state) && !state.isUnproven && !state.holds.some((hold) => !isPolicy(hold));
  const next = isSure && !isForgetful ? { digest, since: state.since } : null;
  return changed(state, withRow({ lastReading: next }));
};
