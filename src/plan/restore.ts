import { canonicalName, canonicalRecord } from '../model/canonical.ts';
import type { RecordData } from '../model/record.ts';
import { excludedKinds, kindOf } from './conflict.ts';
import type { Blocked } from './difference.ts';
import { entryOf, recordKey, type ActualEntry } from './entry.ts';
import type { KeptNames } from './kept-names.ts';
import { restoreStep } from './make-step.ts';
import type { PendingRecord, PlanInput } from './plan-input.ts';
import { actualOf, type ParkStep, type Step } from './step.ts';

/**
 * A record that was parked to make way is restored if the record that it made way for cannot be written and has
 * no write of unknown outcome: otherwise the name would stay empty, or lack it.
 */
export const restoreParked = (
  parked: readonly ActualEntry[],
  everything: readonly ActualEntry[],
  {
    steps,
    blocked,
    keptNames,
  }: {
    readonly steps: readonly Step[];
    readonly blocked: readonly Blocked[];
    readonly keptNames: KeptNames;
  },
  { memory, pending = [], parkGate }: PlanInput,
): ParkStep[] => {
  if (memory.displaced.size === 0 || blocked.length === 0) return [];
  const isInPlace = ({ current, desired }: Blocked): boolean =>
    current !== undefined && keptNames(canonicalName(desired.name)).includes(canonicalName(current.name));
  // What an update in place makes is there already, unless it was refused.
  const missing = blocked.filter((one) => one.reason === 'refused' || !isInPlace(one));
  const waiting = new Set(missing.map(({ desired }) => recordKey(entryOf(desired))));
  // A record that only a blocked step would use is free.
  const inUse = new Set(steps.map(actualOf));
  return parked.flatMap((actual) => {
    const displaced = memory.displaced.get(actual.record.id);
    if (!displaced || inUse.has(actual) || !waiting.has(displaced.key)) return [];
    const isComing = ({ id, sent }: PendingRecord): boolean =>
      id !== actual.record.id && canonicalName(sent.name) === canonicalName(displaced.was.name);
    const isFree = !pending.some(isComing) && !hasConflict(displaced.was, everything, keptNames);
    const step = restoreStep(actual, displaced);
    return isFree && !parkGate?.(actual, step.difference.desired) ? [step] : [];
  });
};

/** A record that kept its name when it was parked gets its content back before any other step. */
export const undoKeptNames = (unmoved: readonly ActualEntry[], { memory, parkGate }: PlanInput): ParkStep[] =>
  unmoved.flatMap((actual) => {
    const step = restoreStep(actual, memory.displaced.get(actual.record.id)!);
    return parkGate?.(actual, step.difference.desired) ? [] : [step];
  });

const hasConflict = (was: RecordData, everything: readonly ActualEntry[], keptNames: KeptNames): boolean => {
  const result = canonicalRecord(was);
  const kinds = excludedKinds(kindOf(result));
  const names = keptNames(result.name);
  return everything.some((entry) => names.includes(entry.name) && kinds.includes(kindOf(entry)));
};
