import { byId, byWanted, dataKey, none, pairOf, type Pair, type Present, type Wanted } from './entry.ts';

/** One record set: its pairs, and what is not paired yet. */
export interface OpenSet {
  wanted: readonly Wanted[];
  present: readonly Present[];
  pairs: readonly Pair[];
}

interface GrowingSet extends OpenSet {
  readonly wanted: Wanted[];
  readonly present: Present[];
}

/** By type and name, without building a key for each of perhaps a million records. */
type BySet<Found> = Map<string, Map<string, Found>>;

/** The record sets of both sides, without the many that have one equal record on each side. */
export const openSets = (
  wanted: readonly Wanted[],
  present: readonly Present[],
): { agreed: readonly Pair[]; sets: readonly OpenSet[] } => {
  const asked: BySet<Wanted | GrowingSet> = new Map();
  for (const entry of wanted) takeWanted(ofType(asked, entry), entry);
  const found: BySet<Wanted | GrowingSet | Pair> = asked;
  for (const entry of present) takePresent(ofType(found, entry), entry);
  const agreed: Pair[] = [];
  const sets: GrowingSet[] = [];
  for (const names of found.values()) {
    for (const one of names.values()) {
      if (isPair(one)) agreed.push(one);
      else sets.push(isSet(one) ? one : { wanted: [one], present: [], pairs: none });
    }
  }
  for (const set of sets) {
    if (set.wanted.length > 1) set.wanted.sort(byWanted);
    if (set.present.length > 1) set.present.sort(byId);
  }
  return { agreed, sets };
};

const ofType = <Found>(types: BySet<Found>, { type }: Wanted | Present): Map<string, Found> => {
  const known = types.get(type);
  if (known) return known;
  const names = new Map<string, Found>();
  types.set(type, names);
  return names;
};

const takeWanted = (names: Map<string, Wanted | GrowingSet>, entry: Wanted): void => {
  const before = names.get(entry.name);
  if (!before) names.set(entry.name, entry);
  else if (isSet(before)) before.wanted.push(entry);
  else names.set(entry.name, { wanted: [before, entry], present: [], pairs: none });
};

const takePresent = (names: Map<string, Wanted | GrowingSet | Pair>, entry: Present): void => {
  const before = names.get(entry.name);
  if (!before) names.set(entry.name, { wanted: [], present: [entry], pairs: none });
  else if (isSet(before)) before.present.push(entry);
  else if (isPair(before))
    names.set(entry.name, { wanted: [before.wanted], present: [before.present, entry], pairs: none });
  else {
    const pair = pairOf(before, entry);
    const isAgreed = pair.fields.length === 0;
    names.set(entry.name, isAgreed ? pair : { wanted: [before], present: [entry], pairs: none });
  }
};

const isSet = (one: Wanted | GrowingSet | Pair): one is GrowingSet => 'pairs' in one;

const isPair = (one: Wanted | GrowingSet | Pair): one is Pair => 'fields' in one;

/** Pairs each desired entry with the choice of `choose`; returns those without one. */
export const pairUp = (
  set: OpenSet,
  used: Set<Present>,
  choose: (entry: Wanted) => Present | undefined,
  wanted: readonly Wanted[] = set.wanted,
): readonly Wanted[] => {
  const paired = new Set<Wanted>();
  const pairs: Pair[] = [];
  for (const entry of wanted) {
    const found = choose(entry);
    if (!found) continue;
    used.add(found);
    paired.add(entry);
    pairs.push(pairOf(entry, found));
  }
  if (paired.size === 0) return wanted;
  set.pairs = [...set.pairs, ...pairs];
  set.wanted = set.wanted.filter((entry) => !paired.has(entry));
  set.present = set.present.filter((entry) => !used.has(entry));
  return wanted.filter((entry) => !paired.has(entry));
};

/** Removes records that were used, which may have been in another set. */
export const removeUsed = (sets: readonly OpenSet[], used: ReadonlySet<Present>): void => {
  if (used.size === 0) return;
  for (const set of sets) set.present = set.present.filter((entry) => !used.has(entry));
};

export const pairedData = (set: OpenSet): ReadonlySet<string> =>
  new Set(set.pairs.map((pair) => dataKey(pair.wanted)));
