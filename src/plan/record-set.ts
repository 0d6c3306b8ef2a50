import {
  byId,
  byDesired,
  dataKey,
  none,
  pairOf,
  type Pair,
  type ActualEntry,
  type DesiredEntry,
} from './entry.ts';

/** One record set: its pairs, and what is not paired yet. */
export interface RecordSetBucket {
  desired: readonly DesiredEntry[];
  actual: readonly ActualEntry[];
  pairs: readonly Pair[];
}

interface GrowingBucket extends RecordSetBucket {
  readonly desired: DesiredEntry[];
  readonly actual: ActualEntry[];
}

/** By type and name, without building a key for each of perhaps a million records. */
type BySet<Found> = Map<string, Map<string, Found>>;

/** The record sets of both sides, without the many that have one equal record on each side. */
export const bucketsOf = (
  desired: readonly DesiredEntry[],
  actual: readonly ActualEntry[],
): { agreed: readonly Pair[]; sets: readonly RecordSetBucket[] } => {
  const asked: BySet<DesiredEntry | GrowingBucket> = new Map();
  for (const entry of desired) addDesired(ofType(asked, entry), entry);
  const found: BySet<DesiredEntry | GrowingBucket | Pair> = asked;
  for (const entry of actual) addActual(ofType(found, entry), entry);
  const agreed: Pair[] = [];
  const sets: GrowingBucket[] = [];
  for (const names of found.values()) {
    for (const one of names.values()) {
      if (isPair(one)) agreed.push(one);
      else sets.push(isSet(one) ? one : { desired: [one], actual: [], pairs: none });
    }
  }
  for (const set of sets) {
    if (set.desired.length > 1) set.desired.sort(byDesired);
    if (set.actual.length > 1) set.actual.sort(byId);
  }
  return { agreed, sets };
};

const ofType = <Found>(types: BySet<Found>, { type }: DesiredEntry | ActualEntry): Map<string, Found> => {
  const known = types.get(type);
  if (known) return known;
  const names = new Map<string, Found>();
  types.set(type, names);
  return names;
};

const addDesired = (names: Map<string, DesiredEntry | GrowingBucket>, entry: DesiredEntry): void => {
  const before = names.get(entry.name);
  if (!before) names.set(entry.name, entry);
  else if (isSet(before)) before.desired.push(entry);
  else names.set(entry.name, { desired: [before, entry], actual: [], pairs: none });
};

const addActual = (names: Map<string, DesiredEntry | GrowingBucket | Pair>, entry: ActualEntry): void => {
  const before = names.get(entry.name);
  if (!before) names.set(entry.name, { desired: [], actual: [entry], pairs: none });
  else if (isSet(before)) before.actual.push(entry);
  else if (isPair(before))
    names.set(entry.name, { desired: [before.desired], actual: [before.actual, entry], pairs: none });
  else {
    const pair = pairOf(before, entry);
    const isAgreed = pair.fields.length === 0;
    names.set(entry.name, isAgreed ? pair : { desired: [before], actual: [entry], pairs: none });
  }
};

const isSet = (one: DesiredEntry | GrowingBucket | Pair): one is GrowingBucket => 'pairs' in one;

const isPair = (one: DesiredEntry | GrowingBucket | Pair): one is Pair => 'fields' in one;

/** Pairs each desired entry with the choice of `choose`; returns those without one. */
export const pairChosen = (
  set: RecordSetBucket,
  used: Set<ActualEntry>,
  choose: (entry: DesiredEntry) => ActualEntry | undefined,
  desired: readonly DesiredEntry[] = set.desired,
): readonly DesiredEntry[] => {
  const paired = new Set<DesiredEntry>();
  const pairs: Pair[] = [];
  for (const entry of desired) {
    const found = choose(entry);
    if (!found) continue;
    used.add(found);
    paired.add(entry);
    pairs.push(pairOf(entry, found));
  }
  if (paired.size === 0) return desired;
  set.pairs = [...set.pairs, ...pairs];
  set.desired = set.desired.filter((entry) => !paired.has(entry));
  set.actual = set.actual.filter((entry) => !used.has(entry));
  return desired.filter((entry) => !paired.has(entry));
};

/** Removes records that were used, which may have been in another set. */
export const removeUsed = (sets: readonly RecordSetBucket[], used: ReadonlySet<ActualEntry>): void => {
  if (used.size === 0) return;
  for (const set of sets) set.actual = set.actual.filter((entry) => !used.has(entry));
};

export const pairedData = (set: RecordSetBucket): ReadonlySet<string> =>
  new Set(set.pairs.map((pair) => dataKey(pair.desired)));
