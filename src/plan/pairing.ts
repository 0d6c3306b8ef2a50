import {
  dataKey,
  entryOf,
  pairOf,
  recordKey,
  type Pair,
  type ActualEntry,
  type DesiredEntry,
} from './entry.ts';
import type { KnownRecord, PlanMemory } from './memory.ts';
import { createPool } from '../model/group.ts';
import { bucketsOf, pairedData, pairChosen, removeUsed, type RecordSetBucket } from './record-set.ts';
import { matchRest } from './match-rest.ts';

export interface Pairing {
  /** In sync, or to be updated. */
  readonly pairs: readonly Pair[];
  /** Desired records without an actual one. */
  readonly missing: readonly DesiredEntry[];
  readonly left: readonly Unmatched[];
}

export interface Unmatched {
  readonly actual: ActualEntry;
  readonly reason: 'unlisted' | 'duplicate';
}

/**
 * Pairs the desired with the actual records of one template, each used once. In this order:
 *
 * | step | the desired record gets the actual one                                       | difference         |
 * | ---- | ---------------------------------------------------------------------------- | ------------------ |
 * | 1    | of its set with the same data                                                | none               |
 * | 1b   | that is bound to it by id, of its type, under any name                       | what differs       |
 * | 2    | of its set with the same content and priority                                | ttl                |
 * | 3    | of its set with the same content                                             | priority (and ttl) |
 * | 4a   | of its set: copies of paired records                                         | content, …         |
 * | 4b   | that was bound to a record of its set that the file dropped, under any name  | content, …         |
 * | 4c   | of its set                                                                   | content, …         |
 *
 * In each part of step 4 the fewest changes decide, then the lowest id. What is left is put to use by reuse.ts.
 *
 * Linear in the number of records, except for sorting sets. The result does not depend on the input order.
 */
export const pairRecords = (
  desired: readonly DesiredEntry[],
  actual: readonly ActualEntry[],
  memory: PlanMemory,
): Pairing => {
  const { agreed, sets } = bucketsOf(desired, actual);
  for (const set of sets) matchExact(set, memory);
  matchKnown(sets, memory);
  for (const set of sets) {
    matchByKey(set, dataKey);
    matchByKey(set, (entry) => entry.content);
  }
  matchRest(sets, desired, memory);
  return {
    pairs: agreed.concat(sets.flatMap((set) => set.pairs)),
    missing: sets.flatMap((set) => set.desired),
    left: sets.flatMap(unmatchedIn),
  };
};

/** Among copies, the known id of the desired record, else the lowest id. */
const matchExact = (set: RecordSetBucket, memory: PlanMemory): void => {
  if (set.desired.length === 0 || set.actual.length === 0) return;
  // If these two agreed, they would be a pair already.
  if (set.desired.length === 1 && set.actual.length === 1) return;
  const known = new Map(set.actual.map((entry) => [entry.record.id, entry]));
  const withTtl = createPool(set.actual, (entry) => `${dataKey(entry)} ${entry.record.ttl}`);
  const withAnyTtl = createPool(set.actual, dataKey);
  const used = new Set<ActualEntry>();
  pairChosen(set, used, (entry) => {
    const id = memory.records.get(recordKey(entry))?.recordId;
    const own = id == null ? undefined : known.get(id);
    if (own && !used.has(own) && pairOf(entry, own).fields.length === 0) return own;
    return entry.record.ttl === null
      ? withAnyTtl.first(dataKey(entry), used)
      : withTtl.first(`${dataKey(entry)} ${entry.record.ttl}`, used);
  });
};

const matchKnown = (sets: readonly RecordSetBucket[], { records, byId }: PlanMemory): void => {
  if (byId.size === 0 || sets.every((set) => set.desired.length === 0)) return;
  const free = new Map(sets.flatMap((set) => set.actual).map((entry) => [entry.record.id, entry]));
  const used = new Set<ActualEntry>();
  const open = new Set(sets.flatMap((set) => set.desired).map(recordKey));
  /** It equals another desired record, and was that one before or cannot become this one: no update clears a name. */
  const isBetterElsewhere = (desired: DesiredEntry, found: ActualEntry, { seen }: KnownRecord): boolean => {
    const is = recordKey(found);
    if (is === recordKey(desired) || !open.has(is)) return false;
    const wasThat = seen !== null && recordKey(entryOf(seen)) === is;
    return wasThat || (desired.name === '' && found.name !== '');
  };
  for (const set of sets) {
    pairChosen(set, used, (entry) => {
      const known = records.get(recordKey(entry));
      const found = known && known.recordId !== null ? free.get(known.recordId) : undefined;
      if (!found || used.has(found) || found.type !== entry.type) return undefined;
      return isBetterElsewhere(entry, found, known!) ? undefined : found;
    });
  }
  removeUsed(sets, used);
};

const matchByKey = (set: RecordSetBucket, key: (entry: DesiredEntry | ActualEntry) => string): void => {
  if (set.desired.length === 0 || set.actual.length === 0) return;
  const pool = createPool(set.actual, key);
  const used = new Set<ActualEntry>();
  pairChosen(set, used, (entry) => pool.first(key(entry), used));
};

const unmatchedIn = (set: RecordSetBucket): Unmatched[] => {
  if (set.actual.length === 0) return [];
  const paired = pairedData(set);
  return set.actual.map((actual) => ({
    actual,
    reason: paired.has(dataKey(actual)) ? 'duplicate' : 'unlisted',
  }));
};
