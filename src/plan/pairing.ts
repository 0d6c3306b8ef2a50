import { byId, dataKey, pairOf, recordKey, type Pair, type Present, type Wanted } from './entry.ts';
import { knownOf, type TemplateMemory } from './memory.ts';
import { createPool } from './pool.ts';
import { openSets, type OpenSet } from './record-set.ts';
import { textKind } from './text-kind.ts';

export interface Pairing {
  /** In sync, or to be updated. */
  readonly pairs: readonly Pair[];
  /** Wanted records that nothing present stands for. */
  readonly missing: readonly Wanted[];
  readonly left: readonly LeftOver[];
}

export interface LeftOver {
  readonly present: Present;
  readonly reason: 'unlisted' | 'duplicate';
}

/**
 * Pairs the wanted with the present records of one template, each used once. In this order:
 *
 * | step | wanted takes present                                                      | difference         |
 * | ---- | ------------------------------------------------------------------------- | ------------------ |
 * | 1    | of its set with the same data                                             | none               |
 * | 1b   | whose id memory knows it by, of its type, under whatever name             | what differs       |
 * | 2    | of its set with the same content and priority                             | ttl                |
 * | 3    | of its set with the same content                                          | priority (and ttl) |
 * | 4    | of its set: copies of paired records, then fewest changes, then lowest id | content, …         |
 *
 * Linear in the number of records but for sorting sets. The result does not depend on the order of the input.
 */
export const pairRecords = (
  wanted: readonly Wanted[],
  present: readonly Present[],
  memory: TemplateMemory,
): Pairing => {
  const { agreed, sets } = openSets(wanted, present);
  for (const set of sets) takeSame(set, memory);
  takeKnown(sets, memory);
  for (const set of sets) {
    takeByKey(set, dataKey);
    takeByKey(set, (entry) => entry.content);
    takeRest(set, memory);
  }
  return {
    pairs: agreed.concat(sets.flatMap((set) => set.pairs)),
    missing: sets.flatMap((set) => set.wanted),
    left: sets.flatMap(leftOvers),
  };
};

/** Among copies, the one that memory knows the wanted record by, else the lowest id. */
const takeSame = (set: OpenSet, memory: TemplateMemory): void => {
  if (set.wanted.length === 0 || set.present.length === 0) return;
  // Two that agreed would be a pair.
  if (set.wanted.length === 1 && set.present.length === 1) return;
  const known = new Map(set.present.map((entry) => [entry.record.id, entry]));
  const withTtl = createPool(set.present, (entry) => `${dataKey(entry)} ${entry.record.ttl}`);
  const withAnyTtl = createPool(set.present, dataKey);
  const used = new Set<Present>();
  pairUp(set, used, (entry) => {
    const id = memory.byKey.get(recordKey(entry))?.id;
    const own = id === undefined ? undefined : known.get(id);
    if (own && !used.has(own) && pairOf(entry, own).fields.length === 0) return own;
    return entry.record.ttl === null
      ? withAnyTtl.first(dataKey(entry), used)
      : withTtl.first(`${dataKey(entry)} ${entry.record.ttl}`, used);
  });
};

const takeKnown = (sets: readonly OpenSet[], memory: TemplateMemory): void => {
  const { byKey, claims } = memory;
  if (byKey.size + claims.size === 0 || sets.every((set) => set.wanted.length === 0)) return;
  const free = new Map(sets.flatMap((set) => set.present).map((entry) => [entry.record.id, entry]));
  const used = new Set<Present>();
  const open = new Set(sets.flatMap((set) => set.wanted).map(recordKey));
  /** Of no use to a nameless record, which no update can make of it, and just what another one wants. */
  const isBetterElsewhere = (wanted: Wanted, found: Present): boolean =>
    wanted.name === '' && found.name !== '' && open.has(recordKey(found));
  for (const set of sets) {
    pairUp(set, used, (entry) => {
      const key = recordKey(entry);
      const known = claims.get(key) ?? byKey.get(key);
      const found = known && free.get(known.id);
      if (!found || used.has(found) || found.type !== entry.type) return undefined;
      // What was to become the wanted one may not have done so.
      if (knownOf(memory, found.record)?.key !== key) return undefined;
      return isBetterElsewhere(entry, found) ? undefined : found;
    });
  }
  if (used.size === 0) return;
  for (const set of sets) set.present = set.present.filter((entry) => !used.has(entry));
};

const takeByKey = (set: OpenSet, key: (entry: Wanted | Present) => string): void => {
  if (set.wanted.length === 0 || set.present.length === 0) return;
  const pool = createPool(set.present, key);
  const used = new Set<Present>();
  pairUp(set, used, (entry) => pool.first(key(entry), used));
};

/**
 * One name holds independent texts of several owners: a TXT is written over another only where both are of one
 * kind, or where the file wanted the present one before.
 */
const takeRest = (set: OpenSet, memory: TemplateMemory): void => {
  if (set.wanted.length === 0 || set.present.length === 0) return;
  if (set.wanted[0]!.type !== 'TXT') {
    takeCheapest(set, set.wanted, set.present);
    return;
  }
  const kindOf = (entry: Wanted | Present): string | null => textKind(entry.content);
  for (const kind of new Set(set.wanted.map(kindOf))) {
    if (kind === null) continue;
    takeCheapest(
      set,
      set.wanted.filter((entry) => kindOf(entry) === kind),
      set.present.filter((entry) => kindOf(entry) === kind),
    );
  }
  takeCheapest(
    set,
    set.wanted,
    set.present.filter((entry) => knownOf(memory, entry.record)),
  );
};

/** Copies of paired records first, so that a copy becomes useful; then the rest. */
const takeCheapest = (set: OpenSet, wanted: readonly Wanted[], present: readonly Present[]): void => {
  const paired = pairedData(set);
  const isCopy = (entry: Present): boolean => paired.has(dataKey(entry));
  let open = wanted;
  for (const candidates of [present.filter(isCopy), present.filter((entry) => !isCopy(entry))]) {
    open = takeFewestChanges(set, open, candidates);
  }
};

/** Content differs in any case here: priority and TTL decide how many fields change. */
const takeFewestChanges = (
  set: OpenSet,
  wanted: readonly Wanted[],
  present: readonly Present[],
): readonly Wanted[] => {
  if (wanted.length === 0 || present.length === 0) return wanted;
  const priority = (entry: Wanted | Present): string => `${entry.priority}`;
  const ttl = (entry: Wanted | Present): string => `${entry.record.ttl}`;
  const both = (entry: Wanted | Present): string => `${priority(entry)} ${ttl(entry)}`;
  const pools = {
    both: createPool(present, both),
    priority: createPool(present, priority),
    ttl: createPool(present, ttl),
    any: createPool(present, () => ''),
  };
  const used = new Set<Present>();
  const statesTtl = (entry: Wanted): boolean => entry.record.ttl !== null;
  const lower = (a: Present | undefined, b: Present | undefined): Present | undefined =>
    a && b ? [a, b].sort(byId)[0] : (a ?? b);
  const rounds: readonly ((entry: Wanted) => Present | undefined)[] = [
    (entry) =>
      statesTtl(entry) ? pools.both.first(both(entry), used) : pools.priority.first(priority(entry), used),
    (entry) =>
      statesTtl(entry)
        ? lower(pools.priority.first(priority(entry), used), pools.ttl.first(ttl(entry), used))
        : pools.any.first('', used),
    () => pools.any.first('', used),
  ];
  let open = wanted;
  for (const round of rounds) open = pairUp(set, used, round, open);
  return open;
};

/** Pairs each wanted entry with what `choose` finds for it; returns those it found nothing for. */
const pairUp = (
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

const leftOvers = (set: OpenSet): LeftOver[] => {
  if (set.present.length === 0) return [];
  const paired = pairedData(set);
  return set.present.map((present) => ({
    present,
    reason: paired.has(dataKey(present)) ? 'duplicate' : 'unlisted',
  }));
};

const pairedData = (set: OpenSet): ReadonlySet<string> =>
  new Set(set.pairs.map((pair) => dataKey(pair.wanted)));
