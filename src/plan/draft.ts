import { canonicalName } from '../model/canonical.ts';
import { dataOf, type RecordData } from '../model/record.ts';
import { obstructionOfUnserved, obstructionOfUpdate } from './blocked.ts';
import { causeOfSurplus, type Wants } from './cause.ts';
import type { Blocked, Surplus } from './difference.ts';
import type { Pair, ActualEntry, DesiredEntry } from './entry.ts';
import { addStep, parkStep, updateStep } from './make-step.ts';
import { mayBeOneOf } from './like.ts';
import { knownOf, type PlanMemory } from './memory.ts';
import type { KeptNames } from './kept-names.ts';
import { orderSteps, type BlockedStep } from './order.ts';
import type { LeftOver } from './pairing.ts';
import type { PlanInput } from './plan-input.ts';
import type { ParkStep, Step } from './step.ts';
import { useSurplus } from './surplus.ts';

/** What has to be done in a template, before it is known what can be written. */
export interface Work {
  readonly changed: readonly Pair[];
  /** Sorted by `byWanted`. */
  readonly missing: readonly DesiredEntry[];
  readonly left: readonly LeftOver[];
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
  readonly barred: readonly BlockedStep[];
  /** Updates and adds that may not be written now. */
  readonly obstructed: readonly Blocked[];
  readonly surplus: readonly Surplus[];
  /** Surplus and parked records that serve a desired one. */
  readonly used: ReadonlySet<ActualEntry>;
}

/**
 * Records at a name stay while a record that shall come there cannot be written: surplus records of such a
 * name are neither reused nor parked. `closed` are such names that are known beforehand, as in the file.
 */
export const draftSteps = (work: Work, closed: ReadonlySet<string>, input: PlanInput): Draft => {
  const { keptNames } = work;
  let names: ReadonlySet<string> = new Set([...closed].flatMap(keptNames));
  for (;;) {
    const draft = draftBeside(names, work, input);
    const more = namesNotReached(draft, keptNames).filter((name) => !names.has(name));
    const holdsBack = closedBy(new Set(more), input);
    if (!work.left.some(({ actual }) => holdsBack(actual))) return draft;
    names = new Set([...names, ...more]);
  }
};

/** A record that is unknown, or known at one of the names, may stand there in the service's spelling. */
const closedBy = (names: ReadonlySet<string>, { memory }: PlanInput): ((actual: ActualEntry) => boolean) => {
  const mayBeClosed = mayBeOneOf(names);
  return ({ name, record }) => {
    if (names.has(name)) return true;
    if (!mayBeClosed(name)) return false;
    const known = knownOf(memory, record);
    return known === undefined || names.has(canonicalName(known.desired.name));
  };
};

const draftBeside = (closed: ReadonlySet<string>, work: Work, input: PlanInput): Draft => {
  const { desired, memory, pending = [] } = input;
  const use = useSurplus(desired, { ...work, isClosed: closedBy(closed, input), pending }, memory);
  const updates = withObstructions([...work.changed, ...use.served], (pair) =>
    obstructionOfUpdate(pair, input),
  );
  const adds = withObstructions(use.missing, (entry) => obstructionOfUnserved(entry, input));
  const parks = withObstructions(use.parks, (entry) => parkedLater(entry, work.wants, input));
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
      stepAside: (actual) => stepAside(actual, work.wants, input),
    },
  );
  const kept = new Map(use.kept.map(({ actual }) => [actual.record.id, actual]));
  return {
    steps: ready,
    needs,
    barred: blocked.map((step) => withoutKept(step, kept)),
    obstructed: [...updates.obstructed, ...adds.obstructed],
    surplus: [...use.surplus.map((entry) => surplusOf(entry, memory, work.wants)), ...parks.obstructed].sort(
      (a, b) => a.recordId - b.recordId,
    ),
    used: new Set(use.served.map((pair) => pair.actual)),
  };
};

const namesNotReached = ({ barred, obstructed }: Draft, keptNames: KeptNames): string[] => {
  const namesOf = ({ desired }: { desired: RecordData }): readonly string[] =>
    keptNames(canonicalName(desired.name));
  const isNewAtName = ({ current, ...blocked }: Blocked): boolean =>
    current === undefined || !namesOf(blocked).includes(canonicalName(current.name));
  return [...barred.map(({ step }) => step.difference), ...obstructed.filter(isNewAtName)].flatMap(namesOf);
};

export const withObstructions = <Thing, Obstructed>(
  things: readonly Thing[],
  obstructionOf: (thing: Thing) => Obstructed | null,
): { free: Thing[]; obstructed: Obstructed[] } => {
  const free: Thing[] = [];
  const obstructed: Obstructed[] = [];
  for (const thing of things) {
    const blocked = obstructionOf(thing);
    if (blocked) obstructed.push(blocked);
    else free.push(thing);
  }
  return { free, obstructed };
};

const parkedLater = (entry: LeftOver, wants: Wants, { memory, parkGate }: PlanInput): Surplus | null => {
  const obstruction = parkGate?.(entry.actual);
  return obstruction ? { ...surplusOf(entry, memory, wants), ...obstruction } : null;
};

const surplusOf = ({ actual, reason }: LeftOver, memory: PlanMemory, wants: Wants): Surplus => ({
  action: 'surplus',
  recordId: actual.record.id,
  current: dataOf(actual.record),
  reason,
  cause: causeOfSurplus(actual, memory, wants),
});

/** A record on its way to another name can wait at a parked name; a nameless one could not come back. */
const stepAside = (
  actual: ActualEntry,
  wants: Wants,
  { desired, memory, parkGate }: PlanInput,
): ParkStep | null =>
  desired.surplus === 'park' && actual.name !== '' && !parkGate?.(actual)
    ? parkStep(actual, memory, wants)
    : null;

/**
 * A record that is only kept because of a conflict is not the conflict itself, unless it stays because it has
 * no name.
 */
const withoutKept = (step: BlockedStep, kept: ReadonlyMap<number, ActualEntry>): BlockedStep => {
  const nameless = step.conflicts.filter((id) => kept.get(id)?.name === '');
  const others = step.conflicts.filter((id) => !kept.has(id) || nameless.includes(id));
  return others.length > 0 ? { ...step, conflicts: others, nameless } : step;
};
