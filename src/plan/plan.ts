import { canonicalName } from '../model/canonical.ts';
import { groupBy } from '../model/group.ts';
import { dataOf, isDescribable, type RecordData } from '../model/record.ts';
import type { DesiredTemplate } from '../model/template.ts';
import { blockBeside, blockedByConflict, blockOfAdd, blockOfUpdate, parkBlockIn } from './blocked.ts';
import { causeOfSurplus } from './cause.ts';
import { exclude, excludes, kindOf } from './conflict.ts';
import type { ConflictKind } from '../model/types/definition.ts';
import type { Blocked, Surplus } from './difference.ts';
import {
  byDesired,
  dataKey,
  desiredKeysOf,
  entryOf,
  none,
  type Pair,
  type ActualEntry,
  type DesiredEntry,
} from './entry.ts';
import { matchesIgnore } from './ignore.ts';
import { addStep, parkStep, updateStep } from './make-step.ts';
import { isOwn, keptItsName } from './memory.ts';
import { orderSteps, type Links } from './order.ts';
import { pairRecords, type Unmatched } from './pairing.ts';
import { isParkedName, parkedForm } from './parked.ts';
import { placesIn, type Places } from './places.ts';
import type { PlanInput } from './plan-input.ts';
import { madeWayFor, restoreParked, undoKeptNames } from './restore.ts';
import { reuseRecords } from './reuse.ts';
import { actualOf, type ParkStep, type Step } from './step.ts';
import { suspectsOf } from './suspicion.ts';

/** The differences of one template, and the writes that resolve them. */
export interface TemplatePlan {
  /** In the order of writing. */
  readonly steps: readonly Step[];
  readonly links: Links;
  /** By step that clears a name: the step that needs it. */
  readonly clearsFor: ReadonlyMap<Step, Step>;
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
    ? suspectsOf(missing, everything, pairs, memory, (actual) => isOthers(actual, desired))
    : new Map<DesiredEntry, ActualEntry>();
  const adopts = desired.adopt && desired.surplus === 'park';
  // Nobody can adopt what cannot be understood, or is ignored.
  const suspectOf = (entry: DesiredEntry): ActualEntry | undefined => {
    const suspect = suspects.get(entry);
    return adopts && suspect && !isOthers(suspect, desired) ? undefined : suspect;
  };
  const adds = split(missing.toSorted(byDesired), (entry) => blockOfAdd(entry, suspectOf(entry), input));
  const others = left.map(({ actual }) => actual);
  const undone = undoKeptNames(
    memory.byId.size === 0 ? none : others.filter(({ record }) => keptItsName(memory, record)),
    input,
  );
  const isUndone = new Set(undone.map(({ actual }) => actual));
  const parked = others.filter(({ name }) => isParkedName(name));
  const lacking = [...missing, ...changed.map((pair) => pair.desired)];
  const lackingAt = groupBy(lacking, ({ name }) => places.ofName(name));
  const isAwaited = madeWayFor(lackingAt, places);
  const work: Work = {
    changed,
    blocks: new Map(changed.map((pair) => [pair, blockOfUpdate(pair, input)])),
    adds,
    left: left.filter(({ actual }) => !isParkedName(actual.name) && !isUndone.has(actual)),
    reusable: parked.filter(({ record }) => {
      const displaced = memory.byId.get(record.id)?.displaced;
      return !displaced || !isAwaited(displaced);
    }),
    homeOf: ({ record }) => {
      const displaced = memory.byId.get(record.id)?.displaced;
      if (!displaced) return null;
      const home = places.ofName(canonicalName(displaced.was.name));
      return lackingAt.has(home) ? home : null;
    },
    inWay: inWayOf(entries, others, places),
    everything,
    pairs,
    places,
    suspectIds: new Set([...suspects.values()].map(({ record }) => record.id)),
  };
  const draft = draftSteps(work, input);
  const stranded = undoBeside(work, draft.steps, input);
  const blocked = [...draft.blocked, ...adds.blocked, ...stranded.blocked];
  const restored = restoreParked(parked, everything, { steps: draft.steps, blocked, places }, input);
  const inUse = new Set([...draft.steps, ...restored].map(actualOf));
  return {
    // What is put back comes first: nothing that is refused may keep its name dark.
    steps: [...undone, ...restored, ...stranded.steps, ...draft.steps],
    links: draft.links,
    clearsFor: draft.clearsFor,
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
  /** Why each of them cannot be now; null if it can. */
  readonly blocks: ReadonlyMap<Pair, Blocked | null>;
  readonly adds: Split<DesiredEntry, Blocked>;
  readonly left: readonly Unmatched[];
  /** Parked ones, without those that made way for what is not there yet. */
  readonly reusable: readonly ActualEntry[];
  /** Where alone a record that made way may be used, since its place lacks something; null: anywhere. */
  readonly homeOf: (parked: ActualEntry) => string | null;
  /** Every record of the template, ignored and unknown ones too. */
  readonly everything: readonly ActualEntry[];
  readonly pairs: readonly Pair[];
  readonly places: Places;
  readonly suspectIds: ReadonlySet<number>;
  /** Of those that are left: what a record of the file needs the place of. */
  readonly inWay: ReadonlySet<ActualEntry>;
}

/** More names are frozen until none is by what those leave undone. */
const draftSteps = (work: Work, input: PlanInput) => {
  const { places } = work;
  const placeOf = ({ name }: RecordData): string => places.ofName(canonicalName(name));
  const frozen = new Set(work.adds.blocked.map(({ desired }) => placeOf(desired)));
  const missing = new Set(work.adds.free);
  // What stands in the way of another record leaves the plan, and uses nothing. What is left in a frozen name is not what froze it.
  const conflicting = new Map<DesiredEntry, Blocked>();
  // Of records that wait for each other, one is parked, and is there for a later step.
  const displaced = new Set<DesiredEntry>();
  for (;;) {
    const before = frozen.size + conflicting.size;
    const { conflicts, ...draft } = draftBeside({ frozen, conflicting, displaced }, work, input);
    const circles = displaced.size;
    if (input.desired.surplus === 'park')
      for (const { step, isCircular } of conflicts) if (isCircular) displaced.add(step.desired);
    if (displaced.size > circles) continue;
    for (const one of conflicts) {
      const { desired } = one.step;
      const step = missing.has(desired) ? addStep(desired, input.memory) : one.step;
      conflicting.set(desired, blockedByConflict({ ...one, step }));
      frozen.add(placeOf(desired.record));
    }
    for (const { desired, current } of draft.blocked)
      if (current === undefined || placeOf(current) !== placeOf(desired)) frozen.add(placeOf(desired));
    if (frozen.size + conflicting.size === before)
      return { ...draft, blocked: [...conflicting.values(), ...draft.blocked] };
  }
};

interface Obstacles {
  readonly frozen: ReadonlySet<string>;
  readonly conflicting: ReadonlyMap<DesiredEntry, Blocked>;
  readonly displaced: ReadonlySet<DesiredEntry>;
}

const draftBeside = ({ frozen, conflicting, displaced }: Obstacles, work: Work, input: PlanInput) => {
  const { adds, blocks, reusable: parked, everything, homeOf, pairs, places, suspectIds } = work;
  const { desired, memory, mayStrand = false } = input;
  const keys = desiredKeysOf(desired);
  const isFrozen = (actual: ActualEntry): boolean => frozen.has(places.of(actual));
  const isOpen = (entry: DesiredEntry): boolean => !conflicting.has(entry);
  const changed = work.changed.filter((pair) => isOpen(pair.desired));
  const away = changed.filter((pair) => displaced.has(pair.desired));
  const stuck = new Map(
    work.changed
      .filter((pair) => !isOpen(pair.desired) || blocks.get(pair) !== null)
      .map(({ actual }) => [keyAt(places.of(actual), actual), actual]),
  );
  const { free, blocked: twins } = split(adds.free.filter(isOpen), (entry) =>
    blockBeside(entry, stuck.get(keyAt(places.ofName(entry.name), entry))),
  );
  const missing = away.length === 0 ? free : [...free, ...away.map((pair) => pair.desired)].sort(byDesired);
  const left = [...work.left, ...away.map(({ actual }) => ({ actual, reason: 'unlisted' as const }))];
  const inWay = new Set([...work.inWay, ...away.map(({ actual }) => actual)]);
  const use = reuseRecords(desired, { missing, left, parked, isFrozen, inWay, homeOf, places }, memory);
  const open = [...changed.filter((pair) => !displaced.has(pair.desired)), ...use.served];
  const updates = split(open, (pair) => {
    const block = blocks.get(pair);
    return block === undefined ? blockOfUpdate(pair, input) : block;
  });
  const surplusOf = ({ actual, reason }: Unmatched): Surplus => ({
    action: 'surplus',
    recordId: actual.record.id,
    current: dataOf(actual.record),
    reason,
    // Nobody knows yet whose it is.
    cause: suspectIds.has(actual.record.id) ? 'unknown' : causeOfSurplus(actual, memory, keys),
  });
  // What stays because its name is frozen says why it could not leave in any case: that may be what froze the name.
  const stayingOf = (entry: Unmatched): Surplus => ({
    ...surplusOf(entry),
    ...(desired.surplus === 'park' && isOwn(memory, entry.actual.record)
      ? parkBlockIn(entry.actual, input)
      : null),
  });
  const parks = split(use.parks, (entry) => {
    const block = parkBlockIn(entry.actual, input);
    return block ? { ...surplusOf(entry), ...block } : null;
  });
  const { ready, blocked, ...order } = orderSteps(
    [
      ...updates.free.map((pair) => updateStep(pair, memory)),
      ...use.missing.map((entry) => addStep(entry, memory)),
      ...parks.free.map(({ actual }) => parkStep(actual, memory, keys)),
    ],
    { actual: everything, kept: new Set(pairs.map(({ actual }) => actual)), places, mayStrand },
  );
  return {
    ...order,
    steps: ready,
    conflicts: blocked,
    blocked: [...twins, ...updates.blocked],
    surplus: [...use.surplus.map(stayingOf), ...parks.blocked].sort((a, b) => a.recordId - b.recordId),
  };
};

/**
 * A record without a name stays until what needs its place is there. If it cannot be parked then, that one is parked instead.
 */
const undoBeside = (
  { left, pairs, places }: Work,
  steps: readonly Step[],
  input: PlanInput,
): { readonly steps: readonly ParkStep[]; readonly blocked: readonly Blocked[] } => {
  const { desired, memory, parkBlockOf } = input;
  const leaving = new Set(steps.map(actualOf));
  const keys = desiredKeysOf(desired);
  const stuck = left.filter(({ actual }) => {
    if (actual.name !== '' || leaving.has(actual) || desired.surplus !== 'park') return false;
    // Somebody else's was not to be parked, and an ignore rule is no refusal.
    return (
      isOwn(memory, actual.record) && parkBlockOf?.(actual, parkedForm(actual.record, actual.type)) != null
    );
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
    steps: undone.map(({ pair }) => parkStep(pair.actual, memory, keys)),
    blocked: undone.map(({ pair, by }) => {
      const step = addStep(pair.desired, memory);
      const [first] = by;
      return blockedByConflict({
        step,
        reason:
          first!.actual.type === 'MX' && pair.actual.type === 'MX' ? 'null-mx-conflict' : 'cname-conflict',
        conflicts: by.map(({ actual }) => actual.record.id).sort((a, b) => a - b),
        isCircular: false,
      });
    }),
  };
};

/** What a record of the file excludes at its place makes way, and serves nothing else, also once that one is there. */
const inWayOf = (
  entries: readonly DesiredEntry[],
  left: readonly ActualEntry[],
  places: Places,
): ReadonlySet<ActualEntry> => {
  const kinds = new Map(left.map((entry) => [places.of(entry), new Set<ConflictKind>()]));
  if (kinds.size > 0) for (const entry of entries) kinds.get(places.ofName(entry.name))?.add(kindOf(entry));
  return new Set(
    left.filter((entry) => [...kinds.get(places.of(entry))!].some((kind) => excludes(kind, kindOf(entry)))),
  );
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

/** The service may spell the name otherwise. */
const keyAt = (place: string, entry: ActualEntry | DesiredEntry): string =>
  `${place} ${entry.type} ${dataKey(entry)}`;

/** Records that no file can describe and ignored ones are only counted. */
const isOthers = (entry: ActualEntry, { ignore }: DesiredTemplate): boolean =>
  !isDescribable(entry.record) || matchesIgnore(ignore, entry.record);
