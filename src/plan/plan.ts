import { canonicalName } from '../model/canonical.ts';
import { dataOf, isDescribable } from '../model/record.ts';
import type { DesiredTemplate } from '../model/template.ts';
import { blockedByConflict, blockOfAdd, blockOfUpdate, unmovedIn, type Unmoved } from './blocked.ts';
import { causeOfSurplus, type Wants } from './cause.ts';
import { exclude } from './conflict.ts';
import type { Blocked, Difference, Surplus } from './difference.ts';
import {
  byDesired,
  entryOf,
  none,
  recordKey,
  type Pair,
  type ActualEntry,
  type DesiredEntry,
} from './entry.ts';
import { matchesIgnore } from './ignore.ts';
import { addStep, parkStep, updateStep } from './make-step.ts';
import { keptItsName } from './memory.ts';
import { orderSteps, type BlockedStep, type Links, type OrderedSteps } from './order.ts';
import { pairRecords, type Unmatched } from './pairing.ts';
import { groupBy } from '../model/group.ts';
import { isParkedName, parkedForm } from './parked.ts';
import { placesIn, type Places } from './places.ts';
import type { PlanInput } from './plan-input.ts';
import { restoreParked, undoKeptNames } from './restore.ts';
import { reuseRecords } from './reuse.ts';
import { actualOf, isPark, type ParkStep, type Step } from './step.ts';
import { suspectsOf } from './suspicion.ts';

/** The differences of one template, and the writes that resolve them. */
export interface TemplatePlan {
  /** In the order of writing. */
  readonly steps: readonly Step[];
  readonly links: Links;
  /** By step that clears a name: the step that needs it. */
  readonly clearsFor: ReadonlyMap<Step, Step>;
  /** By step: one that has to be written before. */
  readonly waitsFor: ReadonlyMap<Step, Step>;
  readonly blocked: readonly Blocked[];
  readonly surplus: readonly Surplus[];
  readonly pairs: readonly Pair[];
  /** Records of the file that the service lacks, whatever is done about it. */
  readonly missing: readonly DesiredEntry[];
  /** Ids of records that may be missing ones. */
  readonly suspectIds: ReadonlySet<number>;
  readonly inSync: number;
  readonly parked: number;
  readonly ignored: number;
}

/**
 * Pure, and the same for any order of the records on either side. A name is frozen while a record of the file cannot be put
 * there: nothing leaves it, and nothing comes that conflicts with what is there; updates in place and adds beside it go on.
 */
export const planTemplate = (input: PlanInput): TemplatePlan => {
  const { desired, memory, isSuspicious = true } = input;
  const entries = desired.records.map(entryOf);
  const everything = input.actual.records.map(entryOf);
  const ours = everything.filter((entry) => !isOthers(entry, desired));
  const { pairs, missing, left } = pairRecords(entries, ours, memory);
  const changed = pairs
    .filter((pair) => pair.fields.length > 0)
    .sort((a, b) => byDesired(a.desired, b.desired));
  const places = placesIn(memory);
  const suspects = isSuspicious
    ? suspectsOf(missing, everything, pairs, memory)
    : new Map<DesiredEntry, ActualEntry>();
  const adopts = desired.adopt && desired.surplus === 'park';
  // Nobody can adopt what cannot be understood.
  const suspectOf = (entry: DesiredEntry): ActualEntry | undefined => {
    const suspect = suspects.get(entry);
    return adopts && suspect?.record.isUnreadable !== true ? undefined : suspect;
  };
  const unmoved = unmovedIn(input);
  const adds = split(missing.toSorted(byDesired), (entry) =>
    blockOfAdd(entry, suspectOf(entry), unmoved, input),
  );
  const others = left.map(({ actual }) => actual);
  const undone = undoKeptNames(
    memory.byId.size === 0 ? none : others.filter(({ record }) => keptItsName(memory, record)),
    input,
  );
  const isUndone = new Set(undone.map(({ actual }) => actual));
  const parked = others.filter(({ name }) => isParkedName(name));
  const work: Work = {
    changed,
    adds,
    unmoved,
    left: left.filter(({ actual }) => !isParkedName(actual.name) && !isUndone.has(actual)),
    parked,
    everything,
    pairs,
    places,
    suspectIds: new Set([...suspects.values()].map(({ record }) => record.id)),
    wants: wantsOf(entries),
  };
  const draft = draftSteps(work, input);
  const stranded = undoBeside(work, draft, input);
  const blocked = [...draft.blocked, ...adds.blocked, ...stranded.blocked];
  const restored = restoreParked(parked, everything, { steps: draft.steps, blocked, places }, input);
  const inUse = new Set([...draft.steps, ...restored].map(actualOf));
  return {
    // What is put back comes first: nothing that is refused may keep its name dark.
    steps: [...undone, ...restored, ...stranded.steps, ...draft.steps],
    links: draft.links,
    clearsFor: draft.clearsFor,
    waitsFor: draft.waitsFor,
    blocked,
    surplus: draft.surplus,
    pairs,
    missing,
    suspectIds: work.suspectIds,
    inSync: pairs.length - changed.length - stranded.steps.length,
    parked: parked.filter((entry) => !inUse.has(entry)).length,
    ignored: everything.length - ours.length,
  };
};

interface Split<Thing, Found> {
  readonly free: Thing[];
  readonly blocked: Found[];
}

/** What has to be done in a template, before it is known what can be written. */
interface Work {
  readonly changed: readonly Pair[];
  readonly adds: Split<DesiredEntry, Blocked>;
  readonly unmoved: Unmoved;
  readonly left: readonly Unmatched[];
  readonly parked: readonly ActualEntry[];
  /** Every record of the template, ignored and unknown ones too. */
  readonly everything: readonly ActualEntry[];
  readonly pairs: readonly Pair[];
  readonly places: Places;
  readonly suspectIds: ReadonlySet<number>;
  readonly wants: Wants;
}

interface Draft extends Pick<OrderedSteps, 'links' | 'clearsFor' | 'waitsFor'> {
  readonly steps: readonly Step[];
  readonly blocked: readonly Blocked[];
  readonly surplus: readonly Surplus[];
}

/** More names are frozen until none is by what those leave undone. */
const draftSteps = (work: Work, input: PlanInput): Draft => {
  const { places } = work;
  const placeOf = ({ desired }: Pick<Blocked, 'desired'>): string =>
    places.ofName(canonicalName(desired.name));
  const frozen = new Set(work.adds.blocked.map(placeOf));
  // A blocked record uses nothing that may stand in the way of another one.
  const unserved = new Set<DesiredEntry>();
  const missing = new Set(work.adds.free);
  // What is left in a frozen name is not what froze it.
  const conflicts = new Map<DesiredEntry, readonly number[]>();
  for (;;) {
    const before = frozen.size + unserved.size;
    const { conflicting, ...draft } = draftBeside({ frozen, unserved }, work, input);
    for (const one of conflicting) {
      const { step } = one;
      if (!conflicts.has(step.desired)) conflicts.set(step.desired, one.conflicts);
      frozen.add(placeOf(step.difference));
      if (missing.has(step.desired)) unserved.add(step.desired);
    }
    for (const one of draft.blocked) {
      const isInPlace =
        one.current !== undefined && places.ofName(canonicalName(one.current.name)) === placeOf(one);
      if (!isInPlace) frozen.add(placeOf(one));
    }
    if (frozen.size + unserved.size > before) continue;
    const blocked = conflicting.map((one) =>
      blockedByConflict({ ...one, conflicts: conflicts.get(one.step.desired)! }),
    );
    return { ...draft, blocked: [...blocked, ...draft.blocked] };
  }
};

const draftBeside = (
  {
    frozen,
    unserved,
  }: { readonly frozen: ReadonlySet<string>; readonly unserved: ReadonlySet<DesiredEntry> },
  { changed, adds, unmoved, left, parked, everything, pairs, places, suspectIds, wants }: Work,
  input: PlanInput,
): Draft & { readonly conflicting: readonly BlockedStep[] } => {
  const { desired, memory, parkBlockOf, mayStrand = false } = input;
  const isFrozen = (actual: ActualEntry): boolean => frozen.has(places.of(actual));
  const isAwaited = ({ record }: ActualEntry): boolean => {
    const was = memory.byId.get(record.id)?.displaced?.was;
    return was !== undefined && frozen.has(places.ofName(canonicalName(was.name)));
  };
  const use = reuseRecords(
    desired,
    {
      missing: adds.free.filter((entry) => !unserved.has(entry)),
      left,
      parked: parked.filter((entry) => !isAwaited(entry)),
      isFrozen,
    },
    memory,
  );
  const updates = split([...changed, ...use.served], (pair) => blockOfUpdate(pair, unmoved, input));
  const surplusOf = ({ actual, reason }: Unmatched): Surplus => ({
    action: 'surplus',
    recordId: actual.record.id,
    current: dataOf(actual.record),
    reason,
    // Nobody knows yet whose it is.
    cause: suspectIds.has(actual.record.id) ? 'unknown' : causeOfSurplus(actual, memory, wants),
  });
  const parks = split(use.parks, (entry) => {
    const block = parkBlockOf?.(entry.actual, parkedForm(entry.actual.record, entry.actual.type));
    return block ? { ...surplusOf(entry), ...block } : null;
  });
  const { ready, blocked, ...order } = orderSteps(
    [
      ...updates.free.map((pair) => updateStep(pair, memory)),
      ...[...use.missing, ...unserved].map((entry) => addStep(entry, memory)),
      ...parks.free.map(({ actual }) => parkStep(actual, memory, wants)),
    ],
    {
      actual: everything,
      kept: new Set(pairs.map(({ actual }) => actual)),
      used: new Set(use.served.map(({ actual }) => actual)),
      places,
      mayStrand,
      temporaryPark: (actual) => {
        const isPossible = desired.surplus === 'park' && actual.name !== '' && !isFrozen(actual);
        const step = isPossible ? parkStep(actual, memory, wants) : null;
        return step && !parkBlockOf?.(actual, step.difference.desired) ? step : null;
      },
    },
  );
  const waitsFor = withoutCycles(new Map([...order.waitsFor, ...untilReplaced(ready, memory)]), order.links);
  return {
    ...order,
    waitsFor,
    steps: afterOthers(ready, waitsFor),
    conflicting: blocked,
    blocked: updates.blocked,
    surplus: [...use.surplus.map(surplusOf), ...parks.blocked].sort((a, b) => a.recordId - b.recordId),
  };
};

/** Each directly after the one that it waits for, or later. */
const afterOthers = (steps: readonly Step[], waitsFor: ReadonlyMap<Step, Step>): readonly Step[] => {
  if (waitsFor.size === 0) return steps;
  const all = new Set(steps);
  const waits = (step: Step): boolean => all.has(waitsFor.get(step)!);
  const waiting = groupBy(steps.filter(waits), (step) => waitsFor.get(step)!);
  const placed: Step[] = [];
  const place = (step: Step): void => {
    placed.push(step);
    for (const other of waiting.get(step) ?? []) place(other);
  };
  for (const step of steps) if (!waits(step)) place(step);
  return placed;
};

/** Of steps that wait for each other, also by what is written together with them, the first goes on. */
const withoutCycles = (waitsFor: Map<Step, Step>, links: Links): Map<Step, Step> => {
  if (waitsFor.size === 0) return waitsFor;
  const groupOf = groupsIn(links);
  const waiting = groupBy([...waitsFor.keys()], groupOf);
  const leadsTo = (group: Step, own: Step, seen = new Set<Step>()): boolean => {
    if (group === own) return true;
    if (seen.has(group)) return false;
    seen.add(group);
    return (waiting.get(group) ?? []).some((step) => {
      const next = waitsFor.get(step);
      return next !== undefined && leadsTo(groupOf(next), own, seen);
    });
  };
  for (const [step, first] of waitsFor) if (leadsTo(groupOf(first), groupOf(step))) waitsFor.delete(step);
  return waitsFor;
};

/** Steps that are written together have the same one. */
const groupsIn = (links: Links): ((step: Step) => Step) => {
  const groups = new Map<Step, Step>();
  for (const start of links.keys()) {
    if (groups.has(start)) continue;
    const open = [start];
    for (let step = open.pop(); step; step = open.pop()) {
      if (groups.has(step)) continue;
      groups.set(step, start);
      open.push(...(links.get(step) ?? []));
    }
  }
  return (step) => groups.get(step) ?? step;
};

/** A record that made way serves nothing else before what needed its place is there. */
const untilReplaced = (steps: readonly Step[], { byId }: PlanInput['memory']): [Step, Step][] => {
  const byKey = new Map(steps.map((step) => [isPark(step) ? '' : recordKey(step.desired), step]));
  return steps.flatMap((step): [Step, Step][] => {
    const key = isPark(step) ? undefined : byId.get(actualOf(step)?.record.id ?? -1)?.displaced?.key;
    const other = key === undefined ? undefined : byKey.get(key);
    return other && other !== step ? [[step, other]] : [];
  });
};

/**
 * A record without a name stays until what needs its place is there. If it cannot be parked then, that one is parked instead.
 */
const undoBeside = (
  { left, pairs, places, wants }: Work,
  { steps }: Draft,
  { desired, memory, parkBlockOf }: PlanInput,
): { readonly steps: readonly ParkStep[]; readonly blocked: readonly Blocked[] } => {
  const leaving = new Set(steps.map(actualOf));
  const stuck = left.filter(({ actual }) => {
    if (actual.name !== '' || leaving.has(actual) || desired.surplus !== 'park') return false;
    return parkBlockOf?.(actual, parkedForm(actual.record, actual.type)) != null;
  });
  if (stuck.length === 0) return { steps: none, blocked: none };
  const undone = pairs.flatMap((pair) => {
    const { actual } = pair;
    const isWritten = memory.byId.get(actual.record.id)?.keptName != null;
    const isNew = isWritten && pair.fields.length === 0 && places.of(actual) === '' && !leaving.has(actual);
    const by = isNew ? stuck.filter((one) => exclude(actual, one.actual)) : none;
    return by.length === 0 ? [] : [{ pair, by }];
  });
  return {
    steps: undone.map(({ pair }) => parkStep(pair.actual, memory, wants)),
    blocked: undone.map(({ pair, by }) => {
      const step = addStep(pair.desired, memory);
      const [first] = by;
      return blockedByConflict({
        step,
        reason:
          first!.actual.type === 'MX' && pair.actual.type === 'MX' ? 'null-mx-conflict' : 'cname-conflict',
        conflicts: by.map(({ actual }) => actual.record.id).sort((a, b) => a - b),
      });
    }),
  };
};

const split = <Thing, Found>(
  things: readonly Thing[],
  blockOf: (thing: Thing) => Found | null,
): Split<Thing, Found> => {
  const free: Thing[] = [];
  const blocked: Found[] = [];
  for (const thing of things) {
    const found = blockOf(thing);
    if (found) blocked.push(found);
    else free.push(thing);
  }
  return { free, blocked };
};

/** Lazy: most plans do not need it. */
const wantsOf = (desired: readonly DesiredEntry[]): Wants => {
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
