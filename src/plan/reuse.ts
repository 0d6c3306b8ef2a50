import type { DesiredTemplate } from '../model/template.ts';
import { byId, pairOf, type Pair, type ActualEntry, type DesiredEntry } from './entry.ts';
import { isCounted, isOwn, type PlanMemory } from './memory.ts';
import type { Unmatched } from './pairing.ts';
import type { Places } from './places.ts';
import { createPool } from '../model/group.ts';

interface ReuseInput {
  /** Sorted by `byDesired`. */
  readonly missing: readonly DesiredEntry[];
  readonly left: readonly Unmatched[];
  /** Those that need not return to where they were. */
  readonly parked: readonly ActualEntry[];
  /** Whether this record must stay at its name. */
  readonly isFrozen: (actual: ActualEntry) => boolean;
  /** Those that make way, and can only be parked. */
  readonly inWay: ReadonlySet<ActualEntry>;
  /** The only place that one may serve, which it made way at and which lacks something; null: it may serve any. */
  readonly homeOf: (actual: ActualEntry) => string | null;
  readonly places: Places;
}

/**
 * The last step of pairing, with `surplus: park`: a record that the file once listed (or any, with `adopt`) serves a missing
 * record of its type, or is parked. Parked records come first; one that made way serves only its own place while that lacks
 * something, since it may have to come back. A name cannot be cleared, so a nameless record needs a nameless one.
 */
export const reuseRecords = (
  { surplus, adopt }: DesiredTemplate,
  { missing, left, parked, isFrozen, inWay, homeOf, places }: ReuseInput,
  memory: PlanMemory,
) => {
  if (surplus !== 'park') return { served: [], missing, parks: [], surplus: left };
  const isFree = ({ actual }: Unmatched): boolean =>
    (isOwn(memory, actual.record) || (adopt && !isCounted(memory, actual.record))) && !isFrozen(actual);
  const free = left.filter(isFree);
  const { served, unserved } = serve({ missing, homeOf, places }, [
    ...parked.toSorted(byId),
    ...free
      .map(({ actual }) => actual)
      .filter((actual) => !inWay.has(actual))
      .toSorted(byId),
  ]);
  const used = new Set(served.map((pair) => pair.actual));
  return {
    served,
    missing: unserved,
    parks: free.filter(({ actual }) => !used.has(actual)),
    surplus: left.filter((entry) => !isFree(entry)),
  };
};

/** Nameless records are sorted first, so that they choose first: fewer records fit them. */
const serve = (
  { missing, homeOf, places }: Pick<ReuseInput, 'missing' | 'homeOf' | 'places'>,
  candidates: readonly ActualEntry[],
) => {
  const ofType = createPool(candidates, (entry) => {
    const home = homeOf(entry);
    return home === null ? entry.type : `${entry.type} ${home}`;
  });
  const nameless = createPool(
    candidates.filter((entry) => entry.name === ''),
    (entry) => entry.type,
  );
  const used = new Set<ActualEntry>();
  const served: Pair[] = [];
  const unserved: DesiredEntry[] = [];
  for (const desired of missing) {
    const pool = desired.name === '' ? nameless : ofType;
    const home = `${desired.type} ${places.ofName(desired.name)}`;
    const found = pool.first(home, used) ?? pool.first(desired.type, used);
    if (found) {
      used.add(found);
      served.push(pairOf(desired, found));
    } else unserved.push(desired);
  }
  return { served, unserved };
};
