import { canonicalName } from '../model/canonical.ts';
import { isDescribable } from '../model/record.ts';
import type { DesiredTemplate } from '../model/template.ts';
import type { Wants } from './cause.ts';
import { blockedByConflict, blockOfAdd, blockOfUnshown } from './blocked.ts';
import type { Blocked, Difference, Surplus } from './difference.ts';
import { draftSteps, splitBlocked, surplusOf } from './draft.ts';
import {
  byDesired,
  entryOf,
  none,
  pairOf,
  recordKey,
  type Pair,
  type ActualEntry,
  type DesiredEntry,
} from './entry.ts';
import { matchesIgnore } from './ignore.ts';
import { keptNamesOf, type KeptNames } from './kept-names.ts';
import { addStep } from './make-step.ts';
import { keptItsName } from './memory.ts';
import { pairRecords } from './pairing.ts';
import type { PlanInput } from './plan-input.ts';
import type { Step } from './step.ts';
import { restoreParked, undoKeptNames } from './restore.ts';
import { isParkedName } from './parked.ts';

/** The differences of one template, and the writes that resolve them. */
export interface TemplatePlan {
  /** In the order of writing. */
  readonly steps: readonly Step[];
  /** By step: the steps that must be written first. */
  readonly needs: ReadonlyMap<Step, readonly Step[]>;
  readonly keptNames: KeptNames;
  /** Surplus and parked records that are reused. */
  readonly used: ReadonlySet<ActualEntry>;
  /** Steps that a conflict blocks; they are in `blocked` too. */
  readonly conflicting: readonly Step[];
  /** Adds that wait because of earlier writes; they are in `blocked` too. */
  readonly waiting: readonly Step[];
  readonly blocked: readonly Blocked[];
  readonly surplus: readonly Surplus[];
  readonly pairs: readonly Pair[];
  readonly inSync: number;
  readonly parked: number;
  readonly ignored: number;
}

/** Pure, and the same for any order of the records on either side. */
export const planTemplate = (input: PlanInput): TemplatePlan => {
  const { desired, memory } = input;
  const entries = desired.records.map(entryOf);
  const everything = input.actual.records.map(entryOf);
  const ours = everything.filter((entry) => !isOthers(entry, desired));
  const { pairs, missing, left } = pairRecords(entries, ours, memory);
  // Nearly always every write is shown, and a plan may have a hundred thousand pairs.
  const { free: shown, blocked: unshown } = input.unshown
    ? splitBlocked(pairs, (pair) => blockOfUnshown(pair, input))
    : { free: pairs, blocked: none };
  const changed = shown.filter((pair) => pair.fields.length > 0).map((pair) => asListed(pair, input));
  const others = missing.length > 0 ? everything : none;
  const present = {
    byId: new Map(others.map(({ record }) => [record.id, record])),
    unreadable: others.filter(({ record }) => record.isUnreadable),
  };
  const adds = splitBlocked(missing.toSorted(byDesired), (entry) => blockOfAdd(entry, present, input));
  const free = new Set(adds.free);
  const keptNames = keptNamesOf(memory, unpairedOf(everything, pairs));
  const unmoved = left.map(({ actual }) => actual).filter(({ record }) => keptItsName(memory, record));
  const undone = undoKeptNames(unmoved, input);
  const isUndone = new Set(undone.map(({ actual }) => actual));
  const parked = left.map(({ actual }) => actual).filter(isParked);
  const draft = draftSteps(
    {
      changed: changed.sort((a, b) => byDesired(a.desired, b.desired)),
      missing: adds.free,
      left: left.filter(({ actual }) => !isParked(actual) && !isUndone.has(actual)),
      parked,
      everything,
      wants: desiredIn(entries),
      keptNames,
    },
    new Set(adds.blocked.map((blocked) => canonicalName(blocked.desired.name))),
    input,
  );
  const idle = parked.filter((entry) => !draft.used.has(entry));
  const blocked = [
    ...draft.conflicting.map(blockedByConflict),
    ...draft.blocked,
    ...adds.blocked,
    ...unshown,
  ];
  const restored = restoreParked(parked, everything, { steps: draft.steps, blocked, keptNames }, input);
  const isRestored = new Set(restored.map(({ actual }) => actual));
  return {
    steps: undone.length + restored.length === 0 ? draft.steps : [...undone, ...draft.steps, ...restored],
    keptNames,
    used: draft.used,
    needs: draft.needs,
    conflicting: draft.conflicting.map(({ step }) => step),
    waiting: missing.filter((entry) => !free.has(entry)).map((entry) => addStep(entry, memory)),
    blocked,
    surplus: draft.surplus.concat(unshownParks(idle, desiredIn(entries), input)),
    pairs,
    inSync: shown.length - changed.length,
    parked: idle.filter((entry) => !isRestored.has(entry)).length,
    ignored: everything.length - ours.length,
  };
};

/** Also ignored records, and those of unknown types. */
const unpairedOf = (everything: readonly ActualEntry[], pairs: readonly Pair[]): readonly ActualEntry[] => {
  if (pairs.length === everything.length) return none;
  const paired = new Set(pairs.map(({ actual }) => actual));
  return everything.filter((entry) => !paired.has(entry));
};

/** Also the fields that differ from what the listing shows: it may be behind, or somebody changed the record back. */
const asListed = (pair: Pair, { listedAs }: PlanInput): Pair => {
  const listed = listedAs?.(pair.actual.record.id);
  if (!listed) return pair;
  const fields = new Set([...pair.fields, ...pairOf(pair.desired, entryOf(listed)).fields]);
  return { ...pair, fields: [...fields] };
};

/** A park that no listing shows yet leaves a difference. */
const unshownParks = (parked: readonly ActualEntry[], wants: Wants, input: PlanInput): Surplus[] =>
  parked
    .filter(({ record }) => input.unshown?.(record.id, true))
    .map((actual) => surplusOf({ actual, reason: 'unlisted' }, wants, input));

/** Lazy: most plans do not need it. */
const desiredIn = (desired: readonly DesiredEntry[]): Wants => {
  let keys: ReadonlySet<string> | undefined;
  return (key) => (keys ??= new Set(desired.map(recordKey))).has(key);
};

/** All differences of a plan in the order of a report: writes, blocked, surplus. */
export const differencesOf = (plan: TemplatePlan): Difference[] => [
  ...plan.steps.map((step) => step.difference),
  ...plan.blocked,
  ...plan.surplus,
];

/** Records that no file can describe and ignored ones are only counted. */
const isOthers = (entry: ActualEntry, { ignore }: DesiredTemplate): boolean =>
  !isDescribable(entry.record) || matchesIgnore(ignore, entry.record);

const isParked = ({ name }: ActualEntry): boolean => isParkedName(name);
