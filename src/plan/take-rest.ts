import { canonicalRecord } from '../model/canonical.ts';
import type { Independent } from '../model/types/definition.ts';
import { definitionOf } from '../model/types/table.ts';
import { byId, dataKey, recordKey, setKey, type Present, type Wanted } from './entry.ts';
import { pushTo } from './group.ts';
import { knownOf, type KnownRecord, type PlanMemory } from './memory.ts';
import { createPool } from './pool.ts';
import { pairedData, pairUp, removeUsed, type OpenSet } from './record-set.ts';

/**
 * Pairs the rest for updates in place: first with copies of paired records, so that a copy becomes useful;
 * then with records that the file no longer lists; then with the rest of the set. If one name has independent
 * texts of several owners, a text replaces another only if both are of one kind, or if the file listed the
 * other one before.
 */
export const takeRest = (sets: readonly OpenSet[], wanted: readonly Wanted[], memory: PlanMemory): void => {
  const open = sets.filter((set) => set.wanted.length > 0);
  if (open.length === 0) return;
  for (const set of open) takeOfOneKind(set, copiesIn(set), new Set());
  const ownRecords = (): OwnRecords => ownRecordsIn(sets, wanted, memory);
  takeOwn(open, sets, ownRecords(), takeOfOneKind);
  for (const set of open) takeOfOneKind(set, set.present, new Set());
  const texts = open.filter((set) => independentIn(set) !== null);
  if (texts.length === 0) return;
  takeOwn(texts, sets, ownRecords(), takeFewestChanges);
  for (const set of texts) {
    const known = set.present.filter((entry) => knownOf(memory, entry.record));
    takeFewestChanges(set, known, new Set());
  }
};

type Take = (set: OpenSet, present: readonly Present[], used: Set<Present>) => void;

const copiesIn = (set: OpenSet): readonly Present[] => {
  if (set.present.length === 0 || set.pairs.length === 0) return [];
  const paired = pairedData(set);
  return set.present.filter((entry) => paired.has(dataKey(entry)));
};

/** By their `setKey` in the file, whatever name the service stores. */
type OwnRecords = ReadonlyMap<string, readonly Present[]>;

const ownRecordsIn = (
  sets: readonly OpenSet[],
  wanted: readonly Wanted[],
  memory: PlanMemory,
): OwnRecords => {
  const own = new Map<string, Present[]>();
  if (memory.byId.size + memory.claims.size === 0) return own;
  const before = sets
    .flatMap((set) => set.present)
    .toSorted(byId)
    .flatMap((entry) => {
      const known = knownOf(memory, entry.record);
      const stoodFor = known && canonicalRecord(known.wanted);
      const wasWanted = stoodFor?.type === entry.type && recordKey(stoodFor) === known?.key;
      return wasWanted && canServe(entry, known) ? [{ entry, stoodFor, key: known.key }] : [];
    });
  const names = new Set(before.map(({ stoodFor }) => stoodFor.name));
  // Only few of a hundred thousand keys are needed.
  const keys = new Set(wanted.filter(({ name }) => names.has(name)).map(recordKey));
  for (const { entry, stoodFor, key } of before) if (!keys.has(key)) pushTo(own, setKey(stoodFor), entry);
  return own;
};

/** No update makes a record nameless again, unless the service itself gave it its name. */
const canServe = ({ name }: Present, { wanted, keptName }: KnownRecord): boolean =>
  name === '' || name === keptName || canonicalRecord(wanted).name !== '';

const takeOwn = (open: readonly OpenSet[], sets: readonly OpenSet[], own: OwnRecords, take: Take): void => {
  const used = new Set<Present>();
  for (const set of open) {
    const [first] = set.wanted;
    const candidates = first && own.get(setKey(first));
    if (candidates) take(set, candidates, used);
  }
  removeUsed(sets, used);
};

const independentIn = ({ wanted: [first] }: OpenSet): Independent | null =>
  (first && definitionOf(first.type)?.independent) ?? null;

const takeOfOneKind: Take = (set, present, used) => {
  const independent = independentIn(set);
  if (independent === null) {
    takeFewestChanges(set, present, used);
    return;
  }
  const kindOf = (entry: Wanted | Present): string | null => independent.kindOf(entry.content);
  for (const kind of new Set(set.wanted.map(kindOf))) {
    if (kind === null) continue;
    takeFewestChanges(
      set,
      present.filter((entry) => kindOf(entry) === kind),
      used,
      set.wanted.filter((entry) => kindOf(entry) === kind),
    );
  }
};

/** Content differs in any case here: priority and TTL decide how many fields change; then the lowest id. */
const takeFewestChanges = (
  set: OpenSet,
  present: readonly Present[],
  used: Set<Present>,
  wanted: readonly Wanted[] = set.wanted,
): void => {
  if (wanted.length === 0 || present.length === 0) return;
  const priority = (entry: Wanted | Present): string => `${entry.priority}`;
  const ttl = (entry: Wanted | Present): string => `${entry.record.ttl}`;
  const both = (entry: Wanted | Present): string => `${priority(entry)} ${ttl(entry)}`;
  const pools = {
    both: createPool(present, both),
    priority: createPool(present, priority),
    ttl: createPool(present, ttl),
    any: createPool(present, () => ''),
  };
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
};
