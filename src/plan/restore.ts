import { canonicalName, canonicalRecord, type CanonicalRecord } from '../model/canonical.ts';
import type { RecordData } from '../model/record.ts';
import { groupBy } from '../model/group.ts';
import { exclude } from './conflict.ts';
import type { Blocked } from './difference.ts';
import { dataKey, entryOf, recordKey, type ActualEntry } from './entry.ts';
import { restoreStep } from './make-step.ts';
import type { Displaced } from './memory.ts';
import type { PlanInput } from './plan-input.ts';
import type { Places } from './places.ts';
import { actualOf, type ParkStep, type Step } from './step.ts';

/**
 * A record that made way is put back while something of the file that excludes it, or another value of it, or anything where
 * nothing is, cannot be written at its place, and nothing stands there that it may not stand beside.
 */
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
  const wantedAt = groupBy(wanted, ({ name }) => places.ofName(name));
  const isAwaited = madeWayFor(wantedAt, places);
  const thereAt = groupBy(everything, places.of);
  // A record that only a blocked step would use is free.
  const inUse = new Set(steps.map(actualOf));
  return parked.flatMap((actual) => {
    const displaced = byId.get(actual.record.id)?.displaced;
    if (!displaced || inUse.has(actual)) return [];
    const was = canonicalRecord(displaced.was);
    const place = places.ofName(was.name);
    const madeWay = isAwaited(displaced);
    const [there, wantedThere] = [thereAt.get(place) ?? [], wantedAt.get(place) ?? []];
    const isOther = wantedThere.some(({ type }) => type === was.type || there.length === 0);
    // It would come by the very update that cannot be written.
    const isRefused =
      input.desired.surplus === 'park' && wantedThere.some((one) => recordKey(one) === recordKey(was));
    if (isRefused || !(madeWay || isOther)) return [];
    const hasConflict = there.some(
      (entry) =>
        // Somebody has put it back, too; or another value of it is there, and the file dropped this one.
        exclude(was, entry) || (was.type === entry.type && (dataKey(was) === dataKey(entry) || !madeWay)),
    );
    return hasConflict ? [] : permitted(restoreStep(actual, displaced), input);
  });
};

/** Whether one of these, by their place, needs that of a record that was parked, and does not use that record. */
export const madeWayFor =
  (recordsAt: ReadonlyMap<string, readonly CanonicalRecord[]>, places: Places) =>
  ({ was }: Displaced): boolean => {
    const before = canonicalRecord(was);
    const there = recordsAt.get(places.ofName(before.name)) ?? [];
    return there.some((one) => exclude(one, before) && (one.type !== 'CNAME' || before.type !== 'CNAME'));
  };

/** A record that kept its name when it was parked gets its content back before any other step. */
export const undoKeptNames = (unmoved: readonly ActualEntry[], input: PlanInput): ParkStep[] =>
  unmoved.flatMap((actual) =>
    permitted(restoreStep(actual, input.memory.byId.get(actual.record.id)!.displaced!), input),
  );

const permitted = (step: ParkStep, { parkBlockOf }: PlanInput): ParkStep[] =>
  parkBlockOf?.(step.actual, step.difference.desired) ? [] : [step];
