import { canonicalRecord } from '../model/canonical.ts';
import type { Independent } from '../model/types/definition.ts';
import { definitionOf } from '../model/types/table.ts';
import { byId, dataKey, recordKey, setKey, type ActualEntry, type DesiredEntry } from './entry.ts';
import { createPool, pushTo } from '../model/group.ts';
import { isOwn, parkedKey, type KnownRecord, type PlanMemory } from './memory.ts';
import { pairedData, pairChosen, removeUsed, type RecordSetBucket } from './record-set.ts';

/**
 * Pairs the rest for updates in place: first with copies of paired records, so that a copy becomes useful;
 * then with records that the file no longer lists; then with the rest of the set. If one name has independent
 * texts of several owners, a text replaces another only if both are of one kind, or if the file listed the
 * other one before.
 */
export const matchRest = (
  sets: readonly RecordSetBucket[],
  desired: readonly DesiredEntry[],
  memory: PlanMemory,
): void => {
  const open = sets.filter((set) => set.desired.length > 0);
  if (open.length === 0) return;
  for (const set of open) matchOneKind(set, copiesIn(set), new Set());
  const ownRecords = (): OwnRecords => ownRecordsIn(sets, desired, memory);
  matchOwn(open, sets, ownRecords(), matchOneKind);
  for (const set of open) matchOneKind(set, set.actual, new Set());
  const texts = open.filter((set) => independentIn(set) !== null);
  if (texts.length === 0) return;
  matchOwn(texts, sets, ownRecords(), matchFewestChanges);
  for (const set of texts) {
    const known = set.actual.filter((entry) => isOwn(memory, entry.record));
    matchFewestChanges(set, known, new Set());
  }
};

type Take = (set: RecordSetBucket, actual: readonly ActualEntry[], used: Set<ActualEntry>) => void;

const copiesIn = (set: RecordSetBucket): readonly ActualEntry[] => {
  if (set.actual.length === 0 || set.pairs.length === 0) return [];
  const paired = pairedData(set);
  return set.actual.filter((entry) => paired.has(dataKey(entry)));
};

/** By their `setKey` in the file, for any name at the service. */
type OwnRecords = ReadonlyMap<string, readonly ActualEntry[]>;

const ownRecordsIn = (
  sets: readonly RecordSetBucket[],
  desired: readonly DesiredEntry[],
  memory: PlanMemory,
): OwnRecords => {
  const own = new Map<string, ActualEntry[]>();
  if (memory.byId.size === 0) return own;
  const before = sets
    .flatMap((set) => set.actual)
    .toSorted(byId)
    .flatMap((entry) => {
      const known = memory.byId.get(entry.record.id);
      if (!known || known.isOnlyCounted || known.key === parkedKey(entry.record.id)) return [];
      const stoodFor = canonicalRecord(known.wanted);
      const isOfType = stoodFor.type === entry.type;
      return isOfType && canServe(entry, known) ? [{ entry, stoodFor, key: recordKey(stoodFor) }] : [];
    });
  const names = new Set(before.map(({ stoodFor }) => stoodFor.name));
  // Only few of a hundred thousand keys are needed.
  const keys = new Set(desired.filter(({ name }) => names.has(name)).map(recordKey));
  for (const { entry, stoodFor, key } of before) if (!keys.has(key)) pushTo(own, setKey(stoodFor), entry);
  return own;
};

/** No update makes a record nameless again, unless the service itself gave it its name. */
const canServe = ({ name }: ActualEntry, { wanted, keptName }: KnownRecord): boolean =>
  name === '' || name === keptName || canonicalRecord(wanted).name !== '';

const matchOwn = (
  open: readonly RecordSetBucket[],
  sets: readonly RecordSetBucket[],
  own: OwnRecords,
  take: Take,
): void => {
  const used = new Set<ActualEntry>();
  for (const set of open) {
    const [first] = set.desired;
    const candidates = first && own.get(setKey(first));
    if (candidates) take(set, candidates, used);
  }
  removeUsed(sets, used);
};

const independentIn = ({ desired: [first] }: RecordSetBucket): Independent | null =>
  (first && definitionOf(first.type)?.independent) ?? null;

const matchOneKind: Take = (set, actual, used) => {
  const independent = independentIn(set);
  if (independent === null) {
    matchFewestChanges(set, actual, used);
    return;
  }
  const kindOf = ({ name, content }: DesiredEntry | ActualEntry): string | null =>
    independent.kindOf(name, content);
  for (const kind of new Set(set.desired.map(kindOf))) {
    if (kind === null) continue;
    matchFewestChanges(
      set,
      actual.filter((entry) => kindOf(entry) === kind),
      used,
      set.desired.filter((entry) => kindOf(entry) === kind),
    );
  }
};

/** Content differs in any case here: priority and TTL decide how many fields change; then the lowest id. */
const matchFewestChanges = (
  set: RecordSetBucket,
  actual: readonly ActualEntry[],
  used: Set<ActualEntry>,
  desired: readonly DesiredEntry[] = set.desired,
): void => {
  if (desired.length === 0 || actual.length === 0) return;
  const priority = (entry: DesiredEntry | ActualEntry): string => `${entry.priority}`;
  const ttl = (entry: DesiredEntry | ActualEntry): string => `${entry.record.ttl}`;
  const both = (entry: DesiredEntry | ActualEntry): string => `${priority(entry)} ${ttl(entry)}`;
  const pools = {
    both: createPool(actual, both),
    priority: createPool(actual, priority),
    ttl: createPool(actual, ttl),
    any: createPool(actual, () => ''),
  };
  const statesTtl = (entry: DesiredEntry): boolean => entry.record.ttl !== null;
  const lower = (a: ActualEntry | undefined, b: ActualEntry | undefined): ActualEntry | undefined =>
    a && b ? [a, b].sort(byId)[0] : (a ?? b);
  const rounds: readonly ((entry: DesiredEntry) => ActualEntry | undefined)[] = [
    (entry) =>
      statesTtl(entry) ? pools.both.first(both(entry), used) : pools.priority.first(priority(entry), used),
    (entry) =>
      statesTtl(entry)
        ? lower(pools.priority.first(priority(entry), used), pools.ttl.first(ttl(entry), used))
        : pools.any.first('', used),
    () => pools.any.first('', used),
  ];
  let open = desired;
  for (const round of rounds) open = pairChosen(set, used, round, open);
};
