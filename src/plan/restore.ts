import { canonicalName, canonicalRecord } from '../model/canonical.ts';
import type { RecordData } from '../model/record.ts';
import { excludedKinds, kindOf } from './conflict.ts';
import type { Blocked } from './difference.ts';
import { entryOf, recordKey, type Present } from './entry.ts';
import { restoreStep } from './make-step.ts';
import type { PlanInput } from './plan-input.ts';
import type { ParkStep } from './step.ts';

/**
 * What was parked to make way goes back to its place while the record that it made way for cannot be written, and is
 * not perhaps on its way: else the name would stand empty.
 */
export const restoreParked = (
  parked: readonly Present[],
  everything: readonly Present[],
  blocked: readonly Blocked[],
  { memory, pending = [] }: PlanInput,
): ParkStep[] => {
  if (memory.displaced.size === 0 || blocked.length === 0) return [];
  const waiting = new Set(blocked.map(({ desired }) => recordKey(entryOf(desired))));
  const coming = new Set(pending.map(({ name }) => canonicalName(name)));
  return parked.flatMap((present) => {
    const displaced = memory.displaced.get(present.record.id);
    if (!displaced || !waiting.has(displaced.key)) return [];
    const isFree = !coming.has(canonicalName(displaced.was.name)) && !isBarred(displaced.was, everything);
    return isFree ? [restoreStep(present, displaced)] : [];
  });
};

const isBarred = (was: RecordData, everything: readonly Present[]): boolean => {
  const result = canonicalRecord(was);
  const kinds = excludedKinds(kindOf(result));
  return everything.some((entry) => entry.name === result.name && kinds.includes(kindOf(entry)));
};
