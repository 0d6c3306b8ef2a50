import { canonicalRecord, type CanonicalRecord } from '../model/canonical.ts';
import type { ConflictKind } from '../model/types/definition.ts';
import { definitionOf } from '../model/types/table.ts';
import { excludedBy, kindOf, reasonOf, type ConflictReason } from './conflict.ts';
import { byId, compareText, recordKey, type ActualEntry } from './entry.ts';
import { groupBy, pushTo } from './group.ts';
import type { KeptNames } from './kept-names.ts';
import { byPlace, placeLeft } from './place.ts';
import type { PendingRecord } from './plan-input.ts';
import {
  isPark,
  isUpdate,
  actualOf,
  resultOf,
  type AddStep,
  type ParkStep,
  type Step,
  type UpdateStep,
} from './step.ts';

export interface BlockedStep {
  readonly step: AddStep | UpdateStep;
  readonly reason: ConflictReason;
  /** Ids of the conflicting records; a record that is yet to be added has none. */
  readonly conflicts: readonly number[];
  /** Those of them that could be moved out of the way if they had a name to return to. */
  readonly nameless?: readonly number[];
}

export interface Surroundings {
  /** Every record of the template, ignored and unknown ones too. */
  readonly actual: readonly ActualEntry[];
  readonly pending: readonly PendingRecord[];
  readonly keptNames: KeptNames;
  /** Surplus records that are reused: they leave their current name. */
  readonly used: ReadonlySet<ActualEntry>;
  /** A step that parks a record before it is reused; null if that is not allowed. */
  readonly temporaryPark: (actual: ActualEntry) => ParkStep | null;
}

export interface OrderedSteps {
  readonly ready: readonly Step[];
  /** By step: the steps that must clear its way first. */
  readonly needs: ReadonlyMap<Step, readonly Step[]>;
  readonly blocked: readonly BlockedStep[];
}

/**
 * The order of writes: addresses, then texts and PTR, then what points at names; in each, updates before adds;
 * then parks. A step that clears the way for another goes directly before it; surplus that is reused
 * elsewhere goes after the add of its replacement. A step whose way is not cleared is blocked:
 *
 * | step                                   | blocked by a record of that name   | reason           |
 * | -------------------------------------- | ---------------------------------- | ---------------- |
 * | puts a CNAME at a name                 | any other record                   | cname-conflict   |
 * | puts another type at a name            | a CNAME                            | cname-conflict   |
 * | makes an MX the null MX (RFC 7505)     | another MX                         | null-mx-conflict |
 * | makes an MX another than the null MX   | a null MX                          | null-mx-conflict |
 *
 * Steps that clear the way for each other are all blocked, unless one of their records can be parked first.
 * A record without a name is never moved to clear the way, since no update could restore it; if it is parked in any case,
 * as surplus, that goes first.
 */
export const orderSteps = (
  steps: readonly Step[],
  { actual, pending, keptNames, used, temporaryPark }: Surroundings,
): OrderedSteps => {
  const results = new Map(
    steps.map((step) => [step, isPark(step) ? canonicalRecord(resultOf(step)) : step.desired]),
  );
  const names = new Set([...results.values()].flatMap((result) => keptNames(result.name)));
  const occupants = groupBy(
    actual.filter((entry) => names.has(entry.name)),
    (entry) => placeOf(kindOf(entry), entry.name),
  );
  const planned = groupBy(
    pending.map(({ id, sent }): PlannedRecord => ({ id, canonical: canonicalRecord(sent) })),
    ({ canonical }) => placeOf(kindOf(canonical), canonical.name),
  );
  const stepOf = new Map(steps.map((step) => [actualOf(step)?.record.id, step]));
  let adds: ReadonlyMap<string, readonly Step[]> | undefined;
  const addsAt = (): ReadonlyMap<string, readonly Step[]> =>
    (adds ??= byPlace(
      steps.filter((step) => actualOf(step) === null),
      keptNames,
    ));
  const ready: Step[] = [];
  const needs = new Map<Step, Step[]>();
  const blocked: BlockedStep[] = [];
  const states = new Map<Step, 'open' | 'ready' | 'blocked'>();

  const temporaryParks = new Map<Step, ParkStep | null>();
  const parkFirst = (step: Step, entry: ActualEntry): ParkStep | null => {
    const known = temporaryParks.get(step);
    if (known !== undefined) return known;
    const made = temporaryPark(entry);
    temporaryParks.set(step, made);
    if (made) {
      states.set(made, 'ready');
      ready.push(made);
    }
    return made;
  };

  const visit = (step: Step): void => {
    if (states.has(step)) return;
    states.set(step, 'open');
    const result = results.get(step)!;
    const own = actualOf(step);
    if (own && used.has(own) && placeLeft(step, keptNames) !== null) {
      for (const add of addsAt().get(own.name) ?? [])
        if (!excludedBy(add, results.get(add)!, false).includes(kindOf(own))) visit(add);
    }
    const obstacles = obstaclesOf(step, result, own);
    if (obstacles.length > 0 && !isPark(step)) {
      states.set(step, 'blocked');
      needs.delete(step);
      blocked.push({ step, reason: obstacles[0]!.reason, conflicts: idsOf(obstacles) });
      return;
    }
    states.set(step, 'ready');
    ready.push(step);
    if (own === null || own.name !== result.name) {
      pushTo(planned, placeOf(kindOf(result), result.name), {
        id: own?.record.id ?? null,
        canonical: result,
      });
    }
  };

  /** The names that the result may get: also its current one, if the service has its own spelling. */
  const namesFor = ({ name }: CanonicalRecord, own: ActualEntry | null): readonly string[] => {
    const all = keptNames(name);
    return own && all.includes(own.name) ? [...new Set([name, own.name])] : all;
  };

  const obstaclesOf = (step: Step, result: CanonicalRecord, own: ActualEntry | null): Obstacle[] => {
    const places = namesFor(result, own).flatMap((name) =>
      excludedBy(step, result, own?.name === name).map((kind) => placeOf(kind, name)),
    );
    const stays = (entry: ActualEntry): boolean => {
      const clearing = stepOf.get(entry.record.id);
      if (!clearing || clearing === step) return true;
      const after = results.get(clearing)!;
      if (places.includes(placeOf(kindOf(after), after.name))) return true;
      if (entry.name === '' && after.name !== '' && !isPark(clearing)) return true;
      visit(clearing);
      const cleared = states.get(clearing) === 'open' ? parkFirst(clearing, entry) : clearing;
      if (cleared === null || states.get(cleared) !== 'ready') return true;
      pushTo(needs, step, cleared);
      return false;
    };
    const obstacle = (id: number | null, canonical: CanonicalRecord): Obstacle => ({
      id,
      reason: reasonOf(kindOf(result), kindOf(canonical)),
    });
    const there = places
      .flatMap((place) => occupants.get(place) ?? [])
      .sort(byId)
      .filter((entry) => entry !== own && stays(entry))
      .map((entry) => obstacle(entry.record.id, entry));
    const coming = places
      .flatMap((place) => planned.get(place) ?? [])
      .filter(({ id }) => id === null || id !== own?.record.id)
      .map(({ id, canonical }) => obstacle(id, canonical));
    return [...there, ...coming];
  };

  for (const step of inWriteOrder(steps)) visit(step);
  return { ready, needs, blocked };
};

interface PlannedRecord {
  readonly id: number | null;
  readonly canonical: CanonicalRecord;
}

interface Obstacle {
  readonly id: number | null;
  readonly reason: ConflictReason;
}

const idsOf = (obstacles: readonly Obstacle[]): number[] =>
  [...new Set(obstacles.flatMap(({ id }) => id ?? []))].sort((a, b) => a - b);

const placeOf = (kind: ConflictKind, name: string): string => `${kind} ${name}`;

const inWriteOrder = (steps: readonly Step[]): Step[] =>
  steps
    .map((step) => ({ step, phase: phase(step), key: orderKey(step), id: actualOf(step)?.record.id ?? 0 }))
    .sort((a, b) => a.phase - b.phase || compareText(a.key, b.key) || a.id - b.id)
    .map(({ step }) => step);

const phase = (step: Step): number => {
  const definition = definitionOf(resultOf(step).type.toUpperCase());
  if (isPark(step) || !definition) return lastPhase;
  return definition.writePhase * 2 + (isUpdate(step) ? 0 : 1);
};

const lastPhase = 6;

const orderKey = (step: Step): string => recordKey(isPark(step) ? step.actual : step.desired);
