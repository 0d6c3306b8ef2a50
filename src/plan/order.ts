import { canonicalRecord, type CanonicalRecord } from '../model/canonical.ts';
import type { ConflictKind } from '../model/types/definition.ts';
import { definitionOf } from '../model/types/table.ts';
import { exclude, excludedBy, excludedKinds, kindOf, reasonOf, type ConflictReason } from './conflict.ts';
import { byId, compareText, recordKey, type ActualEntry } from './entry.ts';
import { groupBy, pushTo } from '../model/group.ts';
import type { Places } from './places.ts';
import {
  isPark,
  isUpdate,
  movesName,
  actualOf,
  resultOf,
  type AddStep,
  type Step,
  type UpdateStep,
} from './step.ts';

export interface BlockedStep {
  readonly step: AddStep | UpdateStep;
  readonly reason: ConflictReason;
  /** Ids of the conflicting records; a record that is yet to be added has none. */
  readonly conflicts: readonly number[];
  /** Whether it leaves its name, and what stands in the way waits for that. */
  readonly isCircular: boolean;
}

export interface Surroundings {
  /** Every record of the template, ignored and unknown ones too. */
  readonly actual: readonly ActualEntry[];
  /** Those that are or become records of the file. */
  readonly kept: ReadonlySet<ActualEntry>;
  readonly places: Places;
  readonly mayStrand: boolean;
}

/** By step: those that are not written without it. */
export type Links = ReadonlyMap<Step, readonly Step[]>;

export interface OrderedSteps {
  readonly ready: readonly Step[];
  readonly links: Links;
  /** By step that clears a name: the step that needs it. */
  readonly clearsFor: ReadonlyMap<Step, Step>;
  readonly blocked: readonly BlockedStep[];
}

/**
 * The order of writes: addresses, then texts and PTR, then what points at names; in each, updates before adds;
 * then parks. What comes first to a name of the file goes before an update that leaves it. What clears a name goes
 * directly before the step that needs that; a record without a name goes after it, since no update could bring it back. A
 * step whose name is not cleared is blocked:
 *
 * | step                                   | blocked by a record of that name   | reason           |
 * | -------------------------------------- | ---------------------------------- | ---------------- |
 * | puts a CNAME at a name                 | any other record                   | cname-conflict   |
 * | puts another type at a name            | a CNAME                            | cname-conflict   |
 * | makes an MX the null MX (RFC 7505)     | another MX                         | null-mx-conflict |
 * | makes an MX another than the null MX   | a null MX                          | null-mx-conflict |
 *
 * Steps that clear the way for each other are all blocked, one of them as circular.
 */
export const orderSteps = (
  steps: readonly Step[],
  { actual, kept, places, mayStrand }: Surroundings,
): OrderedSteps => {
  const results = new Map(
    steps.map((step) => [step, isPark(step) ? canonicalRecord(resultOf(step)) : step.desired]),
  );
  const placeOf = (step: Step): string => places.ofName(results.get(step)!.name);
  const wanted = new Set(
    steps.flatMap((step) => [placeOf(step), ...(isPark(step) ? [places.of(step.actual)] : [])]),
  );
  const there = actual.filter((entry) => wanted.has(places.of(entry)));
  // By kind as well: a name may have thousands of records.
  const occupants = groupBy(there, (entry) => placedKind(places.of(entry), kindOf(entry)));
  const copies = groupBy(there, (entry) => placedKey(places.of(entry), entry));
  const stepOf = new Map(steps.map((step) => [actualOf(step)?.record.id, step]));
  const arrivals = groupBy(
    steps.filter((step) => !isPark(step) && movesName(step)),
    placeOf,
  );
  const isKeptThere = (entry: ActualEntry): boolean => {
    const own = stepOf.get(entry.record.id);
    return kept.has(entry) && (!own || placeOf(own) === places.of(entry));
  };
  const keptPlaces = new Set(there.filter(isKeptThere).map(places.of));
  const coming = new Map<string, { readonly id: number | null; readonly result: CanonicalRecord }[]>();
  const ready: Step[] = [];
  const links = new Map<Step, Step[]>();
  const clearsFor = new Map<Step, Step>();
  const blocked: BlockedStep[] = [];
  const states = new Map<Step, 'open' | 'ready' | 'blocked'>();
  const circular = new Set<Step>();

  const link = (one: Step, other: Step): void => {
    pushTo(links, one, other);
    pushTo(links, other, one);
  };

  const visit = (step: Step): void => {
    if (states.has(step)) return;
    states.set(step, 'open');
    for (const one of equalTo(step)) {
      visit(one);
      link(step, one);
    }
    const first = comingTo(step);
    if (first) pushTo(links, first, step);
    const [own, result, place] = [actualOf(step), results.get(step)!, placeOf(step)];
    const isThere = own !== null && places.of(own) === place;
    const excluded = excludedBy(step, result, isThere);
    const later: Step[] = [];
    const conflicts = [
      ...excluded
        .flatMap((kind) => occupants.get(placedKind(place, kind)) ?? [])
        .filter((entry) => entry !== own)
        .sort(byId)
        .filter((entry) => stays(entry, step, later))
        .map((entry) => ({ id: entry.record.id, result: entry })),
      ...excluded
        .flatMap((kind) => coming.get(placedKind(place, kind)) ?? [])
        .filter((one) => one.id === null || one.id !== own?.record.id),
    ];
    const [conflict] = conflicts;
    if (conflict !== undefined && !isPark(step)) {
      states.set(step, 'blocked');
      const ids = [...new Set(conflicts.flatMap(({ id }) => id ?? []))].sort((a, b) => a - b);
      const reason = reasonOf(kindOf(result), kindOf(conflict.result));
      blocked.push({ step, reason, conflicts: ids, isCircular: circular.has(step) });
      return;
    }
    states.set(step, 'ready');
    ready.push(step);
    if (!isThere) pushTo(coming, placedKind(place, kindOf(result)), { id: own?.record.id ?? null, result });
    for (const one of later) {
      link(step, one);
      visit(one);
    }
  };

  /** What comes first to the name that a step leaves, where nothing of the file stays: the name is not left without that. */
  const comingTo = (step: Step): Step | undefined => {
    const own = actualOf(step);
    if (own === null) return undefined;
    const place = places.of(own);
    if (place === placeOf(step) || keptPlaces.has(place)) return undefined;
    const copy = placedKey(place, own);
    const isBeside = (result: CanonicalRecord): boolean =>
      !exclude(result, own) && placedKey(place, result) !== copy;
    return arrivals.get(place)?.find((one) => isBeside(results.get(one)!));
  };

  /** In a loop: each of thousands of records may go where the next one was. In a ring the step comes whose turn it is. */
  const visitInOrder = (step: Step): void => {
    const chain = new Set<Step>();
    let next: Step | undefined = step;
    for (; next && !chain.has(next) && !states.has(next); next = comingTo(next)) {
      chain.add(next);
      if (isPark(next)) break;
    }
    if (next === step) visit(step);
    for (const one of [...chain].toReversed()) visit(one);
  };

  /** What moves a record away that equals the missing one: if that cannot go, nothing is to come beside it. */
  const equalTo = (step: Step): Step[] => {
    const own = actualOf(step);
    if (isPark(step) || (own !== null && kept.has(own))) return [];
    const same = copies.get(placedKey(placeOf(step), step.desired)) ?? [];
    return same.flatMap((entry) => (entry === own ? [] : (stepOf.get(entry.record.id) ?? [])));
  };

  /** Whether a record stays in the way of a step; else it is cleared before that, or `later`. */
  const stays = (entry: ActualEntry, step: Step, later: Step[]): boolean => {
    const clearing = stepOf.get(entry.record.id);
    if (!clearing || clearing === step) return true;
    if (placeOf(clearing) === places.of(entry) && exclude(results.get(step)!, results.get(clearing)!))
      return true;
    if (entry.name === '' && !mayStrand && placeOf(clearing) !== '') {
      if (!isPark(clearing) || states.has(clearing)) return true;
      later.push(clearing);
      return false;
    }
    visit(clearing);
    if (states.get(clearing) === 'open' && movesName(step)) circular.add(step);
    if (states.get(clearing) !== 'ready') return true;
    link(step, clearing);
    clearsFor.set(clearing, step);
    return false;
  };

  /** What stands beside a record of the file that excludes it was left for later. */
  const isDue = (step: Step): boolean => {
    if (!isPark(step)) return false;
    const place = places.of(step.actual);
    return excludedKinds(kindOf(step.actual)).some((kind) =>
      occupants.get(placedKind(place, kind))?.some((entry) => kept.has(entry)),
    );
  };
  for (const step of inWriteOrder(steps, isDue)) visitInOrder(step);
  return { ready, links, clearsFor, blocked };
};

const placedKind = (place: string, kind: ConflictKind): string => `${kind} ${place}`;

const placedKey = (place: string, record: CanonicalRecord): string => recordKey({ ...record, name: place });

const inWriteOrder = (steps: readonly Step[], isDue: (step: Step) => boolean): Step[] =>
  steps
    .map((step) => ({
      step,
      phase: isDue(step) ? firstPhase : phaseOf(step),
      key: recordKey(isPark(step) ? step.actual : step.desired),
      id: actualOf(step)?.record.id ?? 0,
    }))
    .sort((a, b) => a.phase - b.phase || compareText(a.key, b.key) || a.id - b.id)
    .map(({ step }) => step);

const phaseOf = (step: Step): number => {
  const definition = definitionOf(resultOf(step).type.toUpperCase());
  if (isPark(step) || !definition) return lastPhase;
  return definition.writePhase * 2 + (isUpdate(step) ? 0 : 1);
};

const [firstPhase, lastPhase] = [-1, 6];
