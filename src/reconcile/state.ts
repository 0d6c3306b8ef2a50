import { createHash } from 'node:crypto';
import { canonicalName, sameData } from '../model/canonical.ts';
import type { ActualRecord } from '../model/record.ts';
import type { ActualTemplate, DesiredTemplate } from '../model/template.ts';
import type { Suspension } from '../model/suspension.ts';
import type { BoundTemplate } from '../plan/bind.ts';
import { desiredKeysOf } from '../plan/entry.ts';
import { lossIn } from '../plan/guard.ts';
import { isPolicy, type Hold, type HoldCause } from '../plan/hold.ts';
import { isRemembered } from '../plan/memory.ts';
import { isParkedName } from '../plan/parked.ts';
import type { RecordPattern } from '../plan/record-pattern.ts';
import type { TemplatePlan } from '../plan/plan.ts';
import { planTemplate } from '../plan/plan.ts';
import { isPark, isRestore, type Step } from '../plan/step.ts';
import {
  historyEntryOf,
  type Entry,
  type HistoryEntry,
  type Instant,
  type StoredTemplate,
} from '../state/memory.ts';
import { blockOf, parkBlockOf, pausesOf } from './blocks.ts';
import { openEntries, settle, takeWord, type OpenEntry, type EntryOutcome } from './journal.ts';
import { openMemory, remember, withRow, type MemoryChange, type TemplateMemory } from './memory.ts';
import { liftObstacles, takeOutcome } from './outcomes.ts';
import type { Asked, Times } from './times.ts';

/** A step of this pass, and what became of it. */
export interface Attempt {
  readonly step: Step;
  readonly entry: Entry;
  readonly outcome: 'applied' | 'failed' | 'unknown';
  readonly error: string | null;
}

/** One template in a pass. A value: each function here makes the next one. */
export interface TemplateState {
  readonly desired: DesiredTemplate;
  /** Notes for people that block nothing. */
  readonly notes: readonly string[];
  /** The newest listing, or a whole answer to a write of ours since. */
  readonly view: ActualTemplate;
  /** When all of that was asked for, and came. */
  readonly viewed: Asked;
  /** When the listing was asked for, and since when all readings agree with it. */
  readonly asked: Instant;
  readonly since: Instant;
  readonly memory: TemplateMemory;
  readonly journal: readonly Entry[];
  /** Because of which it is not settled. */
  readonly open: readonly OpenEntry[];
  /** Ids that the listing lacks, if they are suspiciously many; and whether it is believed. */
  readonly lost: readonly number[] | null;
  readonly isWhole: boolean;
  /** Whether an answer since lacks a part of it: a listing has to show it before anything is said of it. */
  readonly isUnproven: boolean;
  /** As the store has both. */
  readonly saved: { readonly memory: TemplateMemory | null; readonly journal: readonly Entry[] };
  /** Writes whose outcome is known and not saved yet; and how many of those were told. */
  readonly history: readonly HistoryEntry[];
  readonly told: number;
  /** By the key of their entries, in the order in which they were begun: each is attempted once in a pass. */
  readonly attempts: ReadonlyMap<string, Attempt>;
  /** By `writeKey`: the writes that two readings require. */
  readonly confirmed: ReadonlySet<string>;
  /** Ids that two readings lack. */
  readonly isGone: (id: number) => boolean;
  readonly holds: readonly Hold[];
  /** By which name the state knew it before this pass; null if it did not. */
  readonly savedName: string | null;
  /** What suspends it; null if nothing does. */
  readonly suspension: Suspension | null;
  /** The last listing, made for whichever template, that this one was compared with. */
  readonly comparedListing: ReadonlyMap<number, ActualTemplate> | null;
  readonly circumstances: Circumstances;
}

/** What is the same for all templates of a pass. */
export interface Circumstances {
  readonly run: string;
  readonly times: Times;
  /** When the pass began: later retries wait for the next pass. */
  readonly began: Instant;
  readonly force: boolean;
  readonly retry: boolean;
  readonly acceptLoss: boolean;
  /** A write that is not in the saved state may still appear. */
  readonly isForgetful: boolean;
  /** A command does not wait for the backoff after refusals. */
  readonly isCommand: boolean;
  /** The records that this pass may write; empty: all. */
  readonly only: readonly RecordPattern[];
}

/** A template at the beginning of a pass, with the first listing. */
export const openTemplate = (
  { desired, actual, notes }: BoundTemplate,
  stored: StoredTemplate | null,
  journal: readonly Entry[],
  asked: Asked,
  circumstances: Circumstances,
): TemplateState => {
  const row = { templateId: actual.id, template: desired.template, file: desired.source.file };
  const memory = openMemory(stored, row);
  const isSaved = stored?.row.template === row.template && stored.row.file === row.file;
  const state: TemplateState = {
    desired,
    notes,
    view: actual,
    viewed: asked,
    asked: asked.asked,
    since: asked.read,
    memory,
    journal,
    open: [],
    isUnproven: false,
    lost: null,
    isWhole: true,
    saved: { memory: isSaved ? memory : null, journal },
    history: [],
    told: 0,
    attempts: new Map(),
    confirmed: new Set(),
    isGone: () => false,
    holds: [],
    savedName: stored?.row.template ?? null,
    suspension: null,
    comparedListing: null,
    circumstances,
  };
  const settled = withListing(state, actual, asked);
  if (!circumstances.retry) return settled;
  const { entries, outcomes } = takeWord(settled.journal, circumstances.run, actual.records);
  const taken = withOutcomes({ ...settled, journal: entries }, outcomes, asked.read);
  return changed(withOpen(taken, asked.read), liftObstacles);
};

/** The memory after something that is remembered. */
export const changed = (state: TemplateState, change: MemoryChange): TemplateState => {
  const memory = remember(state.memory, change, desiredKeysOf(state.desired));
  return memory === state.memory ? state : { ...state, memory };
};

/**
 * With a listing, which settles the journal. The view changes here, in `withAnswer`, and where answers are newer than a listing
 * (write.ts, `settleBy`).
 */
export const withListing = (
  state: TemplateState,
  listing: ActualTemplate,
  { asked, read }: Asked,
): TemplateState => {
  const { desired, memory, journal, circumstances } = state;
  const loss = lossIn({ desired, actual: listing, memory }, memory.row.suspectIds);
  const isWhole = circumstances.acceptLoss || loss.isWhole;
  // One that has them all says that the earlier one was not whole.
  const suspectIds = loss.lost === null ? null : memory.row.suspectIds;
  const { entries, outcomes } = settle(
    journal,
    { records: listing.records, asked, read, isWhole },
    {
      isKnown: (id) => memory.byId.has(id),
      isRemembered: (id) => isRemembered(memory, id),
      desiredKeys: desiredKeysOf(desired),
    },
    circumstances.times,
  );
  const since = digestOf(listing) === digestOf(state.view) ? state.since : read;
  const settled = withOutcomes(
    {
      ...state,
      view: listing,
      viewed: { asked, read },
      isUnproven: false,
      isWhole,
      lost: loss.lost,
      since,
      asked,
      journal: entries,
    },
    outcomes,
    read,
  );
  const ids = new Set(listing.records.map(({ id }) => id));
  const unlistedIds = settled.memory.row.unlistedIds.filter((id) => !ids.has(id));
  return withOpen(changed(settled, withRow({ suspectIds, unlistedIds })), read);
};

/** With what an answer to a write of ours shows, whole or of that record alone. */
export const withAnswer = (
  state: TemplateState,
  view: ActualTemplate,
  isWhole: boolean,
  of: ActualRecord,
  viewed: Asked,
): TemplateState => {
  const { read } = viewed;
  const before = new Map(state.view.records.map((record) => [record.id, record]));
  const isAsBefore = view.records.every(
    (record) => record.id === of.id || isSameText(record, before.get(record.id)),
  );
  const since = isAsBefore ? state.since : read;
  const shown = isWhole ? { view, viewed } : { view, isUnproven: true };
  return withOpen({ ...state, ...shown, since }, read);
};

const isSameText = (one: ActualRecord, other: ActualRecord | undefined): boolean =>
  one.content === other?.content &&
  one.name === other.name &&
  one.type === other.type &&
  one.ttl === other.ttl &&
  one.priority === other.priority;

/** With what is open in its journal, by its view. */
export const withOpen = (state: TemplateState, now: Instant): TemplateState => {
  const open = openEntries(state.journal, state.view.records, now, state.circumstances.times);
  return open.length + state.open.length === 0 ? state : { ...state, open };
};

/** Notes what became of entries, in memory and history, and of the steps of this pass. */
export const withOutcomes = (
  given: TemplateState,
  outcomes: readonly EntryOutcome[],
  at: Instant,
): TemplateState => {
  const { view } = given;
  let state = given;
  for (const outcome of outcomes) {
    const { entry } = outcome;
    const isOvertaken =
      outcome.kind === 'lost' &&
      state.journal.some(
        (one) => one.id > entry.id && one.recordId === entry.recordId && one.state === 'accepted',
      );
    if (!isOvertaken) state = changed(state, takeOutcome(outcome, view, at));
    state = {
      ...state,
      history: [...state.history, historyOf(outcome)],
      attempts: attemptsAfter(state, outcome),
    };
  }
  return state;
};

const historyOf = (outcome: EntryOutcome): HistoryEntry => {
  const { entry } = outcome;
  if (outcome.kind !== 'accepted')
    return historyEntryOf(entry, { outcome: 'failed', recordId: entry.recordId, error: entry.error });
  const { record, copies } = outcome;
  const result = copies.length > 0 ? 'duplicate' : 'applied';
  return historyEntryOf(entry, { outcome: result, recordId: record.id, error: null });
};

const attemptsAfter = ({ attempts }: TemplateState, outcome: EntryOutcome): ReadonlyMap<string, Attempt> => {
  const { entry } = outcome;
  const attempt = attempts.get(entry.key);
  if (attempt?.entry.id !== entry.id) return attempts;
  const error =
    outcome.kind === 'accepted' ? keptNameText(attempt.step, outcome.record) : (entry.error ?? '');
  const result = error === null ? 'applied' : 'failed';
  return new Map(attempts).set(entry.key, { ...attempt, entry, outcome: result, error });
};

/** A park, or the undoing of one, may leave the record as it was, or at its name, as an answer or a reading shows. */
const keptNameText = (step: Step, record: ActualRecord): string | null => {
  const { name, type, content } = record;
  if (!isPark(step)) return null;
  const is = `${name ?? '@'} ${type} ${content}`;
  if (isRestore(step) && sameData(step.difference.current, record))
    return `the service left it as it was: ${is}`;
  return isParkedName(canonicalName(name)) === isRestore(step)
    ? `the service kept its name, and stored ${is}`
    : null;
};

export const isSettled = ({ open }: TemplateState): boolean => open.length === 0;

/** Nothing more is written in it, but for the undoing of a write of this pass. */
export const stop = (state: TemplateState, cause: HoldCause, reason: string): TemplateState =>
  withHold(state, { scope: 'template', cause, reason, retryAt: null });

export const withHold = (state: TemplateState, hold: Hold): TemplateState => ({
  ...state,
  holds: [...state.holds, hold],
});

/** Whether it is suspended. */
export const isSuspended = ({ suspension }: TemplateState): boolean => suspension !== null;

/** Whether nothing more is written in a template, because of an error. */
export const isStopped = ({ holds }: TemplateState): boolean =>
  holds.some((hold) => hold.scope === 'template' && !isPolicy(hold));

/** The current plan of a template. */
export const planOf = (state: TemplateState): TemplatePlan => {
  const { desired, view: actual, memory, circumstances } = state;
  const known = plans.get(memory);
  const missed = state.journal.filter(({ action, state: of }) => of === 'missed' && action === 'add');
  const what = `${isSettled(state)} ${missed.map(({ id }) => id).join()}`;
  if (known?.desired === desired && known.actual === actual && known.what === what) return known.plan;
  const { began, force, retry, isCommand } = circumstances;
  const pauses = pausesOf([...state.attempts.values()], began, isCommand);
  const plan = planTemplate({
    desired,
    actual,
    memory,
    isSuspicious: isSettled(state) && !retry,
    mayStrand: force,
    blockOf: blockOf(memory, missed, desiredKeysOf(desired), began, pauses, isSettled(state)),
    parkBlockOf: parkBlockOf(memory, began, pauses),
  });
  plans.set(memory, { desired, actual, what, plan });
  return plan;
};

const plans = new WeakMap<
  TemplateMemory,
  {
    readonly desired: DesiredTemplate;
    readonly actual: ActualTemplate;
    readonly what: string;
    readonly plan: TemplatePlan;
  }
>();

/** The same text for the same ids and values, in any order. */
export const digestOf = (reading: ActualTemplate): string => {
  const known = digests.get(reading);
  if (known !== undefined) return known;
  const rows = reading.records
    .map(({ id, type, name, content, ttl, priority }) => [id, type, name, content, ttl, priority] as const)
    .sort(([one], [other]) => one - other);
  const digest = createHash('sha256').update(JSON.stringify(rows)).digest('base64');
  digests.set(reading, digest);
  return digest;
};

/** An unchanged answer is the same object. */
const digests = new WeakMap<ActualTemplate, string>();
