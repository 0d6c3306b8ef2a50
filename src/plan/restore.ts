import { canonicalName, canonicalRecord, type CanonicalRecord } from '../model/canonical.ts';
import type { RecordData } from '../model/record.ts';
import { exclude } from './conflict.ts';
import type { Blocked } from './difference.ts';
import { dataKey, desiredKeysOf, entryOf, recordKey, type ActualEntry } from './entry.ts';
import { restoreStep } from './make-step.ts';
import { isOfDesired, type Displaced } from './memory.ts';
import type { PlanInput } from './plan-input.ts';
import type { Places } from './places.ts';
import { actualOf, type ParkStep, type Step } from './step.ts';

/** A record that was parked to make way is restored if the record that it made way for cannot be written. */
export const restoreParked = (
  parked: readonly ActualEntry[],
  everything: readonly ActualEntry[],
  {
    steps,
    blocked,
    places,
  }: { readonly steps: readonly Step[]; readonly blocked: readonly Blocked[]; readonly places: Places },
  input: PlanInput,
): ParkStep[] => {
  const { byId } = input.memory;
  const placeOf = ({ name }: RecordData): string => places.ofName(canonicalName(name));
  // What an update in place made is there, though the service spells it otherwise.
  const isThere = ({ reason, current, desired }: Blocked): boolean =>
    reason === 'not-converging' && current !== undefined && placeOf(desired) === placeOf(current);
  const missing = blocked.filter((one) => !isThere(one));
  if (missing.length === 0) return [];
  const wanted = missing.map(({ desired }) => entryOf(desired));
  const madeWay = madeWayFor(wanted, places, input);
  const placeAndType = ({ type, name }: CanonicalRecord): string => `${type} ${places.ofName(name)}`;
  const [keys, kinds] = [new Set(wanted.map(recordKey)), new Set(wanted.map(placeAndType))];
  // A record that only a blocked step would use is free.
  const inUse = new Set(steps.map(actualOf));
  return parked.flatMap((actual) => {
    const displaced = byId.get(actual.record.id)?.displaced;
    if (!displaced || inUse.has(actual)) return [];
    const was = canonicalRecord(displaced.was);
    const isAsked = madeWay(displaced);
    // The file may want another value of it there by now; this one would come by the very update that cannot be written.
    const isOther = isOfDesired(displaced.key) && kinds.has(placeAndType(was)) && !keys.has(recordKey(was));
    if (!isAsked && !isOther) return [];
    const hasConflict = everything.some(
      (entry) =>
        places.of(entry) === places.ofName(was.name) &&
        // Somebody has put it back, too; or another value of it is there, and the file dropped this one.
        (exclude(was, entry) || (was.type === entry.type && (dataKey(was) === dataKey(entry) || !isAsked))),
    );
    return hasConflict ? [] : permitted(restoreStep(actual, displaced), input);
  });
};

/**
 * Whether a record made way for one of these; or, if the file has dropped since what it made way for, whether one of them needs its
 * place as well.
 */
export const madeWayFor = (
  records: readonly CanonicalRecord[],
  places: Places,
  { desired }: PlanInput,
): ((displaced: Displaced) => boolean) => {
  const keys = new Set(records.map(recordKey));
  const wanted = desiredKeysOf(desired);
  return ({ key, was }) => {
    if (keys.has(key) || !isOfDesired(key) || wanted.has(key)) return keys.has(key);
    const before = canonicalRecord(was);
    const place = places.ofName(before.name);
    return records.some((one) => places.ofName(one.name) === place && exclude(one, before));
  };
};

/** A record that kept its name when it was parked gets its content back before any other step. */
export const undoKeptNames = (unmoved: readonly ActualEntry[], input: PlanInput): ParkStep[] =>
  unmoved.flatMap((actual) =>
    permitted(restoreStep(actual, input.memory.byId.get(actual.record.id)!.displaced!), input),
  );

const permitted = (step: ParkStep, { parkBlockOf }: PlanInput): ParkStep[] =>
  parkBlockOf?.(step.actual, step.difference.desired) ? [] : [step];
