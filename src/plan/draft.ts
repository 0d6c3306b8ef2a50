import { canonicalName } from '../model/canonical.ts';
import { dataOf, type RecordData } from '../model/record.ts';
import { blockOfUnserved, blockOfUpdate } from './blocked.ts';
import { causeOfSurplus, type Wants } from './cause.ts';
import type { Blocked, Surplus } from './difference.ts';
import type { Pair, ActualEntry, DesiredEntry } from './entry.ts';
import { addStep, parkStep, updateStep } from './make-step.ts';
import { mayBeOneOf } from './like.ts';
import { knownOf } from './memory.ts';
import type { KeptNames } from './kept-names.ts';
import { orderSteps, type BlockedStep } from './order.ts';
import type { Unmatched } from './pairing.ts';
import type { PlanInput } from './plan-input.ts';
import { actualOf, type ParkStep, type Step } from './step.ts';
import { reuseSurplus } from './surplus.ts';

/** What has to be done in a template, before it is known what can be written. */
export interface Work {
  readonly changed: readonly Pair[];
  /** Sorted by `byDesired`. */
  readonly missing: readonly DesiredEntry[];
  readonly left: readonly Unmatched[];
  readonly parked: readonly ActualEntry[];
  /** Every record of the template, ignored and unknown ones too. */
  readonly everything: readonly ActualEntry[];
  readonly wants: Wants;
  readonly keptNames: KeptNames;
}

export interface Draft {
  readonly steps: readonly Step[];
  readonly needs: ReadonlyMap<Step, readonly Step[]>;
  /** Steps that other records block. */
  readonly conflicting: readonly BlockedStep[];
  /** Updates and adds that may not be written now. */
  readonly blocked: readonly Blocked[];
  readonly surplus: readonly Surplus[];
  /** Surplus and parked records that are reused. */
  readonly used: ReadonlySet<ActualEntry>;
}

/**
 * Records at a name stay while a desired record of that name cannot be written: surplus records of such a
 * name are neither reused nor parked. `closed` are the names known so far, as spelled in the file.
 *
 * A desired record that is blocked reuses nothing that stands in the way of another one: else that one would be blocked
 * as long, though nothing else keeps it.
 */
export const draftSteps = (work: Work, closed: ReadonlySet<string>, input: PlanInput): Draft => {
  const { keptNames } = work;
  let names: ReadonlySet<string> = new Set([...closed].flatMap(keptNames));
  let unserved: ReadonlySet<DesiredEntry> = new Set();
  const displaced = displacedIn(work.parked, input);
  const mayLeave = [...work.left.map(({ actual }) => actual), ...displaced];
  for (;;) {
    const draft = draftBeside({ names, unserved }, work, displaced, input);
    const causes = causesIn(draft);
    const more = unreachedNames(causes.length > 0 ? causes : draft.conflicting, draft.blocked, keptNames);
    const holdsBack = closedBy(new Set(more.filter((name) => !names.has(name))), input);
    if (causes.length === 0 && !mayLeave.some(holdsBack)) return draft;
    names = new Set([...names, ...more]);
    unserved = new Set([...unserved, ...causes.map(({ step }) => step.desired)]);
  }
};

/**
 * Blocked steps that reuse a record, or would reuse one that is free, where such a record blocks another step: those that
 * do not themselves wait for one. None if nothing waits in that way, or all do.
 */
const causesIn = ({ conflicting, used }: Draft): readonly BlockedStep[] => {
  const idOf = ({ step }: BlockedStep): number | undefined => actualOf(step)?.record.id;
  const reusing = conflicting.filter(({ step }) => {
    const actual = actualOf(step);
    return actual === null || used.has(actual);
  });
  const reused = new Set(reusing.map(idOf));
  const inTheWay = new Set<number | undefined>(conflicting.flatMap(({ conflicts }) => conflicts));
  const first = reusing.filter(({ conflicts }) => !conflicts.some((id) => reused.has(id)));
  return first.some((one) => inTheWay.has(idOf(one))) ? first : [];
};

/** Parked records that made way, at the names to which they may have to return. */
const displacedIn = (parked: readonly ActualEntry[], { memory }: PlanInput): ActualEntry[] =>
  parked.flatMap((actual) => {
    const displaced = memory.displaced.get(actual.record.id);
    return displaced ? [{ ...actual, name: canonicalName(displaced.was.name) }] : [];
  });

/** An unknown record, or one known at one of the names, may have that name in the service's spelling. */
const closedBy = (names: ReadonlySet<string>, { memory }: PlanInput): ((actual: ActualEntry) => boolean) => {
  const mayBeClosed = mayBeOneOf(names);
  return ({ name, record }) => {
    if (names.has(name)) return true;
    if (!mayBeClosed(name)) return false;
    const known = knownOf(memory, record);
    return known === undefined || names.has(canonicalName(known.desired.name));
  };
};

const draftBeside = (
  { names, unserved }: { names: ReadonlySet<string>; unserved: ReadonlySet<DesiredEntry> },
  work: Work,
  displaced: readonly ActualEntry[],
  input: PlanInput,
): Draft => {
  const { desired, memory, pending = [] } = input;
  const isClosed = closedBy(names, input);
  const awaited = new Set(displaced.filter(isClosed).map(({ record }) => record));
  const parked = work.parked.filter(({ record }) => !awaited.has(record));
  const missing = unserved.size > 0 ? work.missing.filter((entry) => !unserved.has(entry)) : work.missing;
  const use = reuseSurplus(desired, { ...work, missing, parked, isClosed, pending }, memory);
  const updates = splitBlocked([...work.changed, ...use.served], (pair) => blockOfUpdate(pair, input));
  const adds = splitBlocked([...use.missing, ...unserved], (entry) => blockOfUnserved(entry, input));
  const parks = splitBlocked(use.parks, (entry) => parkedLater(entry, work.wants, input));
  const { ready, needs, blocked } = orderSteps(
    [
      ...updates.free.map((pair) => updateStep(pair, memory)),
      ...adds.free.map((entry) => addStep(entry, memory)),
      ...parks.free.map(({ actual }) => parkStep(actual, memory, work.wants)),
    ],
    {
      actual: work.everything,
      pending,
      keptNames: work.keptNames,
      used: new Set(use.served.map((pair) => pair.actual)),
      temporaryPark: (actual) => temporaryPark(actual, work.wants, input),
    },
  );
  const kept = new Map(use.kept.map(({ actual }) => [actual.record.id, actual]));
  return {
    steps: ready,
    needs,
    conflicting: blocked.map((step) => withoutKept(step, kept)),
    blocked: [...updates.blocked, ...adds.blocked],
    surplus: [...use.surplus.map((entry) => surplusOf(entry, work.wants, input)), ...parks.blocked].sort(
      (a, b) => a.recordId - b.recordId,
    ),
    used: new Set(use.served.map((pair) => pair.actual)),
  };
};

const unreachedNames = (
  conflicting: readonly BlockedStep[],
  blocked: readonly Blocked[],
  keptNames: KeptNames,
): string[] => {
  const namesOf = ({ desired }: { desired: RecordData }): readonly string[] =>
    keptNames(canonicalName(desired.name));
  const isNewAtName = ({ current, ...one }: Blocked): boolean =>
    current === undefined || !namesOf(one).includes(canonicalName(current.name));
  return [...conflicting.map(({ step }) => step.difference), ...blocked.filter(isNewAtName)].flatMap(namesOf);
};

export const splitBlocked = <Thing, Found>(
  things: readonly Thing[],
  blockOf: (thing: Thing) => Found | null,
): { free: Thing[]; blocked: Found[] } => {
  const free: Thing[] = [];
  const blocked: Found[] = [];
  for (const thing of things) {
    const found = blockOf(thing);
    if (found) blocked.push(found);
    else free.push(thing);
  }
  return { free, blocked };
};

const parkedLater = (entry: Unmatched, wants: Wants, input: PlanInput): Surplus | null => {
  const block = input.parkGate?.(entry.actual);
  return block ? { ...surplusOf(entry, wants, input), ...block } : null;
};

export const surplusOf = (
  { actual, reason }: Unmatched,
  wants: Wants,
  { memory, unshown }: PlanInput,
): Surplus => {
  const block = unshown?.(actual.record.id, true);
  return {
    action: 'surplus',
    recordId: actual.record.id,
    current: dataOf(actual.record),
    reason,
    cause: causeOfSurplus(actual, memory, wants),
    ...(block ? { error: block.message } : {}),
    ...(block?.retryAt ? { retryAt: block.retryAt } : {}),
  };
};

/** A record that moves to another name can be parked meanwhile; a nameless one could not be restored. */
const temporaryPark = (
  actual: ActualEntry,
  wants: Wants,
  { desired, memory, parkGate }: PlanInput,
): ParkStep | null =>
  desired.surplus === 'park' && actual.name !== '' && !parkGate?.(actual)
    ? parkStep(actual, memory, wants)
    : null;

/**
 * A record that stays only because of another conflict is not listed as one, unless it stays because it has
 * no name.
 */
const withoutKept = (step: BlockedStep, kept: ReadonlyMap<number, ActualEntry>): BlockedStep => {
  const nameless = step.conflicts.filter((id) => kept.get(id)?.name === '');
  const others = step.conflicts.filter((id) => !kept.has(id) || nameless.includes(id));
  return others.length > 0 ? { ...step, conflicts: others, nameless } : step;
};
