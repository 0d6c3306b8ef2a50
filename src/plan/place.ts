import { canonicalName } from '../model/canonical.ts';
import type { SkipCause } from './difference.ts';
import type { ActualEntry } from './entry.ts';
import { groupBy, pushTo } from './group.ts';
import type { KeptNames } from './kept-names.ts';
import { actualOf, isPark, resultOf, type Step } from './step.ts';

/** The canonical name that the record of a step leaves; null if it keeps its name. */
export const placeLeft = (step: Step, keptNames: KeptNames): string | null => {
  const actual = actualOf(step);
  return actual !== null && !placesOf(step, keptNames).includes(actual.name) ? actual.name : null;
};

/** The steps by the names that their results get. */
export const byPlace = (steps: readonly Step[], keptNames: KeptNames): Map<string, Step[]> => {
  const places = new Map<string, Step[]>();
  for (const step of steps) for (const name of placesOf(step, keptNames)) pushTo(places, name, step);
  return places;
};

const placesOf = (step: Step, keptNames: KeptNames): readonly string[] =>
  keptNames(canonicalName(resultOf(step).name));

/** Why a step may not be written now. */
export interface Skip {
  readonly cause: SkipCause;
  /** For a person. */
  readonly text: string;
}

/** Null if it may be written now. */
export type SkipReason = (step: Step) => Skip | null;

/** Of a plan. */
interface PlacedSteps {
  readonly steps: readonly Step[];
  readonly needs: ReadonlyMap<Step, readonly Step[]>;
  readonly used: ReadonlySet<ActualEntry>;
  readonly keptNames: KeptNames;
}

/**
 * No record leaves its name unless its replacement may be written now. `own` returns why a step
 * by itself may not be written. These steps wait with it:
 *
 * | the steps                                    | because                              |
 * | -------------------------------------------- | ------------------------------------ |
 * | that it needs                                | they would clear the way for nothing |
 * | that need it                                 | their way is not clear               |
 * | that move a record away from its result's name | the name would be empty            |
 *
 * The same applies to each step that waits.
 */
export const withDependentWaits = (
  { steps, needs, used, keptNames }: PlacedSteps,
  own: SkipReason,
): SkipReason => {
  // A restored record leaves a parked name, which nothing else gets.
  const isSurplus = (step: Step): boolean => isPark(step) || used.has(actualOf(step)!);
  const leaving = groupBy(
    steps.filter((step) => isSurplus(step) && placeLeft(step, keptNames) !== null),
    (step) => placeLeft(step, keptNames),
  );
  if (leaving.size === 0 && needs.size === 0) return own;
  const needing = new Map<Step, Step[]>();
  for (const [step, needed] of needs) for (const one of needed) pushTo(needing, one, step);
  const coming = steps.filter((step) => actualOf(step) === null || placeLeft(step, keptNames) !== null);
  const emptied = new Map<Step, Step[]>();
  for (const [place, comers] of byPlace(coming, keptNames))
    for (const step of comers) for (const one of leaving.get(place) ?? []) pushTo(emptied, step, one);
  const reasons = new Map<Step, Skip>();
  for (const step of steps) {
    const reason = own(step);
    if (reason !== null) reasons.set(step, reason);
  }
  const waiting = new Set<Step>();
  // Entries added during the iteration are visited too.
  for (const [step, reason] of reasons) {
    const others = [needs, needing, emptied].flatMap((links) => links.get(step) ?? []);
    for (const other of others.filter((one) => !reasons.has(one))) {
      const text = waiting.has(step) ? reason.text : `waits for ${describe(step)}: ${reason.text}`;
      reasons.set(other, { ...reason, text });
      waiting.add(other);
    }
  }
  return (step) => reasons.get(step) ?? null;
};

const describe = (step: Step): string => {
  const { type, name } = resultOf(step);
  return `${type} ${name ?? '@'}`;
};
