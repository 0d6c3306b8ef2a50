import { canonicalName } from '../model/canonical.ts';
import { pushTo } from './group.ts';
import type { KeptNames } from './kept-names.ts';
import { actualOf, resultOf, type Step } from './step.ts';

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
