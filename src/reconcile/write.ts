import { HostingError } from '../hosting/errors.ts';
import { rangesOf, type IdRanges } from '../lib/id-ranges.ts';
import { dataOf, type ActualRecord } from '../model/record.ts';
import { canonicalType } from '../model/canonical.ts';
import type { ActualTemplate } from '../model/template.ts';
import { isRemembered } from '../plan/memory.ts';
import { actualOf, additionOf, changeOf, resultOf, stepKey, writeKey, type Step } from '../plan/step.ts';
import { historyEntryOf, type Entry, type NewEntry } from '../state/memory.ts';
import { acceptedAs, judgeAnswer, openEntries, withoutContradicted, type OpenEntry } from './journal.ts';
import { shownElsewhere } from './memory.ts';
import { nextStep } from './permit.ts';
import type { ClientRun, Listing } from './run.ts';
import { ageOf, longestView } from './times.ts';
import {
  changed,
  digestOf,
  planOf,
  stop,
  withAnswer,
  withListing,
  withOpen,
  withOutcomes,
  type Attempt,
  type TemplateState,
} from './state.ts';

/*
 * The only place that sends: next permitted step ─ entry on disk, synced ─ permit again ─ send ─ answer ─ saved. Each step is
 * attempted once in a pass, so this ends.
 */

/** Writes one template, one write at a time, each decided from the answer to the previous one. */
export const writeTemplate = async (given: TemplateState, run: ClientRun): Promise<TemplateState> => {
  let state = given;
  for (;;) {
    const [next, step] = look(state, run);
    state = next;
    if (step === null) return state;
    state = await write(state, step, run);
  }
};

/** A template before its next step, and that step. None is decided by an old view, the undoing of a write neither. */
const look = (given: TemplateState, run: ClientRun): readonly [TemplateState, Step | null] => {
  const state = run.look(given);
  const step = nextStep(state, run.view);
  const age = ageOf(state.viewed, run.moment);
  if (step === null || age <= longestView) return [state, step];
  const reason = `what it was to be written by is ${Math.round(age / 1_000)} s old: it is read again first`;
  return [isInDoubt(state) ? state : inDoubt(state, reason), null];
};

const write = async (before: TemplateState, step: Step, run: ClientRun): Promise<TemplateState> => {
  const entry = await run.begin(entryFor(before, step, run));
  if (entry === null) return before;
  const begun = withEntry(before, entry);
  // Whoever suspends the template from now on sees this entry.
  await run.readSuspensions();
  const [state, again] = look(begun, run);
  if (again === null || writeKey(again) !== writeKey(step)) return run.keep(withoutEntry(state, entry));
  const next = await send(state, step, entry, run);
  const kept = await run.keep(next);
  return next.journal.some(({ id, refusedAt }) => id === entry.id && refusedAt !== null)
    ? readAfterRefusal(kept, entry, run)
    : kept;
};

/** The entry, as the store has it. It opens nothing yet: its own step would wait for it. */
const withEntry = (state: TemplateState, entry: Entry): TemplateState => {
  const { journal, saved } = state;
  return { ...state, journal: [...journal, entry], saved: { ...saved, journal: [...saved.journal, entry] } };
};

const withoutEntry = (state: TemplateState, { id }: Entry): TemplateState => ({
  ...state,
  journal: state.journal.filter((entry) => entry.id !== id),
});

const send = async (
  state: TemplateState,
  step: Step,
  entry: Entry,
  run: ClientRun,
): Promise<TemplateState> => {
  try {
    const answer = await call(step, state.view.id, run);
    return answered(state, step, entry, answer, run);
  } catch (error) {
    if (!(error instanceof HostingError)) throw error;
    return failed(state, step, entry, error, run);
  }
};

const call = (step: Step, templateId: number, { pass: { service } }: ClientRun): Promise<ActualTemplate> =>
  'actual' in step
    ? service.updateDnsTemplateRecord(templateId, changeOf(step))
    : service.addDnsTemplateRecord(templateId, additionOf(step));

const failed = (
  state: TemplateState,
  step: Step,
  entry: Entry,
  error: HostingError,
  run: ClientRun,
): TemplateState => {
  const { kind, message } = error;
  switch (kind) {
    case 'refused':
      return leftUnknown(state, step, { ...entry, error: message, refusedAt: run.moment }, run);
    case 'rate-limited':
    case 'not-sent':
    case 'unauthorized':
      run.fail(error);
      return certainlyFailed(
        withAttempt(state, { step, entry, outcome: 'failed', error: message }),
        entry,
        message,
      );
    case 'unknown':
    case 'unavailable':
    case 'bad-answer':
      return leftUnknown(state, step, { ...entry, error: message }, run);
  }
};

/** It had no effect. */
const certainlyFailed = (state: TemplateState, entry: Entry, error: string): TemplateState => {
  const failure = historyEntryOf(entry, { outcome: 'failed', recordId: entry.recordId, error });
  return { ...withoutEntry(state, entry), history: [...state.history, failure] };
};

const answered = (
  state: TemplateState,
  step: Step,
  entry: Entry,
  answer: ActualTemplate,
  run: ClientRun,
): TemplateState => {
  const { view, memory } = state;
  const at = run.moment;
  const verdict = judgeAnswer(entry, view, answer, (id) => isRemembered(memory, id));
  const ids = new Set(view.records.map(({ id }) => id));
  const isShown = answer.id === view.id;
  const newIds = isShown
    ? answer.records.map(({ id }) => id).filter((id) => !ids.has(id) && !memory.byId.has(id))
    : [];
  const noted = newIds.length > 0 ? changed(state, shownElsewhere(newIds)) : state;
  if (verdict.kind !== 'accepted') {
    const unchangedAt = verdict.kind === 'unchanged' ? at : null;
    return leftUnknown(noted, step, { ...entry, error: verdict.error, unchangedAt }, run);
  }
  const { record, copies, isOnlyCounted, isWhole } = verdict;
  const accepted = acceptedAs(entry, record, at, isOnlyCounted);
  const tried = withAttempt(withEntryAs(noted, accepted), {
    step,
    entry: accepted,
    outcome: 'applied',
    error: null,
  });
  const outcome = { kind: 'accepted', entry: accepted, record, copies, wasLost: false } as const;
  const shown = isWhole ? answer : withRecord(view, record);
  const journal = isWhole ? withoutContradicted(tried.journal, answer, accepted) : tried.journal;
  const done = withAnswer(withOutcomes({ ...tried, journal }, [outcome], at), shown, isWhole, record, {
    asked: entry.sentAt,
    read: at,
  });
  const others = newIds.filter((id) => id !== record.id).length;
  return others > 0 ? inDoubt(done, `the answer shows ${others} records that no listing has shown`) : done;
};

/** Believed of one record: the others are as before. */
const withRecord = (view: ActualTemplate, record: ActualRecord): ActualTemplate => {
  const isThere = view.records.some(({ id }) => id === record.id);
  const records = isThere
    ? view.records.map((one) => (one.id === record.id ? record : one))
    : [...view.records, record];
  return { ...view, records };
};

/** What is unknown is in doubt until a reading. */
const leftUnknown = (state: TemplateState, step: Step, entry: Entry, run: ClientRun): TemplateState => {
  const error = entry.error ?? '';
  const tried = withAttempt(withEntryAs(state, entry), { step, entry, outcome: 'unknown', error });
  const next = withOpen(tried, run.moment);
  // The reading after a refusal decides.
  if (entry.refusedAt) return next;
  run.tellUnknown(entry, error);
  return inDoubt(next, `stopped after a write of unknown outcome: ${error}`);
};

const withEntryAs = (state: TemplateState, entry: Entry): TemplateState => ({
  ...state,
  journal: state.journal.map((one) => (one.id === entry.id ? entry : one)),
});

const withAttempt = (state: TemplateState, attempt: Attempt): TemplateState => ({
  ...state,
  attempts: new Map(state.attempts).set(stepKey(attempt.step), attempt),
});

const inDoubt = (state: TemplateState, reason: string): TemplateState =>
  stop(state, 'unknown-outcome', reason);

export const isInDoubt = ({ holds, isUnproven }: TemplateState): boolean =>
  isUnproven || holds.some(({ cause }) => cause === 'unknown-outcome');

/** A refusal may hide that the record is there already; and what else the reading shows decides whether the template goes on. */
const readAfterRefusal = async (
  state: TemplateState,
  entry: Entry,
  run: ClientRun,
): Promise<TemplateState> => {
  const listing = await run.readTemplates();
  const { records = [] } = listing?.templates.get(state.view.id) ?? {};
  // A listing from before our other writes does not show what the refusal may hide: a later one decides.
  const isBehind = openEntries(state.journal, records, run.moment, state.circumstances.times).some(
    showsEarlier,
  );
  const read = isBehind ? state : await settleBy(state, listing, run);
  const attempt = read.attempts.get(entry.key)!;
  if (attempt.outcome !== 'unknown') return read;
  run.tellUnknown(entry, attempt.error ?? '');
  return inDoubt(read, `stopped after a refusal: ${attempt.error}`);
};

/** Settles a template in doubt by a later listing. If that shows exactly what is expected, the other steps go on. */
export const settleBy = async (
  state: TemplateState,
  listing: Listing | null,
  run: ClientRun,
): Promise<TemplateState> => {
  const shown = listing?.templates.get(state.view.id);
  if (!listing || !shown) return state;
  const next = withListing({ ...state, comparedListing: listing.templates }, shown, listing);
  const ended = [...next.attempts.values()].filter(
    ({ entry, outcome }) => outcome !== state.attempts.get(entry.key)?.outcome,
  );
  const expected = ended.reduce((view, { entry, outcome }) => {
    const record = outcome === 'applied' ? shown.records.find(({ id }) => id === entry.recordId) : undefined;
    return record ? withRecord(view, record) : view;
  }, state.view);
  const settled = await run.keep(next);
  const holds = settled.holds.filter(({ cause }) => cause !== 'unknown-outcome');
  // What answers show and this listing does not may be what is still to be added.
  const isAll = settled.memory.row.unlistedIds.length === 0;
  if (isAll && digestOf(expected) === digestOf(shown)) return { ...settled, holds };
  const reason = `stopped: a listing shows ${isAll ? 'other' : 'fewer'} records than expected`;
  const stopped = stop({ ...settled, holds }, 'changed-meanwhile', reason);
  // The answers are newer than a listing from before them: by those, what made way in vain is put back at once.
  const isBehind = !state.open.some(showsEarlier) && stopped.open.some(showsEarlier);
  const byAnswers = isBehind ? run.look(withOpen({ ...stopped, view: expected }, listing.read)) : stopped;
  return nextStep(byAnswers, run.view) === null ? stopped : byAnswers;
};

const showsEarlier = ({ isBehind }: OpenEntry): boolean => isBehind;

/** The entry, which is on disk before its step is sent. */
const entryFor = (state: TemplateState, step: Step, { pass, moment }: ClientRun): NewEntry => {
  const { desired, view, memory } = state;
  const { source } = desired;
  const own = actualOf(step);
  const clearing = planOf(state).clearsFor.get(step);
  return {
    ...nothingKnown,
    run: pass.run,
    trigger: pass.trigger,
    sentAt: moment,
    templateId: view.id,
    template: desired.template,
    file: source.file,
    action: step.difference.action,
    key: stepKey(step),
    recordId: own?.record.id ?? null,
    before: own ? dataOf(own.record) : null,
    after: resultOf(step),
    cause: step.difference.cause,
    source: 'source' in step.difference ? step.difference.source : null,
    revision: pass.revisionOf(source.file),
    // A record without a name does not come back.
    makesWayFor: clearing && own?.name !== '' ? stepKey(clearing) : null,
    idsBefore: own ? [] : idsBefore(view, canonicalType(resultOf(step).type), memory),
  };
};

const nothingKnown = {
  state: 'sent',
  error: null,
  refusedAt: null,
  unchangedAt: null,
  acceptedAt: null,
  missedAt: null,
  stored: null,
  isOnlyCounted: false,
} as const;

/** Includes known ids that no reading shows now, and those that earlier passes saw. */
const idsBefore = (view: ActualTemplate, type: string, { byId, row }: TemplateState['memory']): IdRanges => {
  const shown = view.records.filter((record) => canonicalType(record.type) === type).map(({ id }) => id);
  return rangesOf([...shown, ...byId.keys(), ...(row.preexistingIds ?? []), ...row.otherIds]);
};
