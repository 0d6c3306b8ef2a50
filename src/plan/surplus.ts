import { canonicalType } from '../model/canonical.ts';
import type { DesiredTemplate } from '../model/template.ts';
import { byId, pairOf, type Pair, type ActualEntry, type DesiredEntry } from './entry.ts';
import { knownOf, type PlanMemory } from './memory.ts';
import type { Unmatched } from './pairing.ts';
import type { PendingRecord } from './plan-input.ts';
import { createPool } from './group.ts';

export interface SurplusUse {
  /** Desired records that reuse a surplus or parked record. */
  readonly served: readonly Pair[];
  readonly missing: readonly DesiredEntry[];
  readonly parks: readonly Unmatched[];
  readonly surplus: readonly Unmatched[];
  /** Surplus records that could be reused if their name were not closed. */
  readonly kept: readonly Unmatched[];
}

export interface SurplusInput {
  /** Sorted by `byDesired`. */
  readonly missing: readonly DesiredEntry[];
  readonly left: readonly Unmatched[];
  readonly parked: readonly ActualEntry[];
  /** Whether this record must stay at its name. */
  readonly isClosed: (actual: ActualEntry) => boolean;
  readonly pending: readonly PendingRecord[];
}

/**
 * With `park`, a surplus record that the file once listed (or any, with `adopt`) is reused for a missing
 * record of its type, or parked. Parked records are reused first. A name cannot be cleared, so a nameless
 * record needs a nameless one.
 */
export const reuseSurplus = (
  template: DesiredTemplate,
  { missing, left, parked, isClosed, pending }: SurplusInput,
  memory: PlanMemory,
): SurplusUse => {
  if (template.surplus !== 'park') return { served: [], missing, parks: [], surplus: left, kept: [] };
  const isOurs = ({ actual }: Unmatched): boolean =>
    template.adopt || knownOf(memory, actual.record) !== undefined;
  const pendingTypes = new Set(
    pending.flatMap(({ id, sent }) => (id === null ? canonicalType(sent.type) : [])),
  );
  // An unknown record may come from an add of unknown outcome, under any name.
  const mayBePending = ({ type, record }: ActualEntry): boolean =>
    pendingTypes.has(type) && knownOf(memory, record) === undefined;
  const stays = ({ actual }: Unmatched): boolean => isClosed(actual) || mayBePending(actual);
  const ours = left.filter(isOurs);
  const free = ours.filter((entry) => !stays(entry));
  const { served, unserved } = serve(missing, [
    ...parked.toSorted(byId),
    ...free.map(({ actual }) => actual).toSorted(byId),
  ]);
  const used = new Set(served.map((pair) => pair.actual));
  return {
    served,
    missing: unserved,
    parks: free.filter(({ actual }) => !used.has(actual)),
    surplus: left.filter((entry) => !isOurs(entry) || stays(entry)),
    kept: ours.filter(stays),
  };
};

/** Nameless records are sorted first, so that they choose first: fewer records fit them. */
const serve = (
  missing: readonly DesiredEntry[],
  candidates: readonly ActualEntry[],
): { served: Pair[]; unserved: DesiredEntry[] } => {
  const ofType = createPool(candidates, (entry) => entry.type);
  const nameless = createPool(
    candidates.filter((entry) => entry.name === ''),
    (entry) => entry.type,
  );
  const used = new Set<ActualEntry>();
  const served: Pair[] = [];
  const unserved: DesiredEntry[] = [];
  for (const desired of missing) {
    const pool = desired.name === '' ? nameless : ofType;
    const found = pool.first(desired.type, used);
    if (found) {
      used.add(found);
      served.push(pairOf(desired, found));
    } else unserved.push(desired);
  }
  return { served, unserved };
};
