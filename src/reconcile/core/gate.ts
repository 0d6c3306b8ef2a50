import { dataOf, type ActualRecord, type RecordData } from '../../model/record.ts';
import { sameData } from '../../model/canonical.ts';
import { entryOf, recordKey, setKey, type ActualEntry, type DesiredEntry } from '../../plan/entry.ts';
import { isPerhaps } from '../../plan/like.ts';
import { parkedKey } from '../../plan/memory.ts';
import type { Block } from '../../plan/plan-input.ts';
import { parkedForm } from '../../plan/parked.ts';
import type { RecordState } from '../../state/memory.ts';
import { isActive } from '../../memory/backoff.ts';
import { isKnownId, recordOfId, abandonedAdds, type TemplateMemory } from '../../memory/memory.ts';
import { unknownAddCount } from '../../memory/remembering.ts';
import type { PlanBasis } from './basis.ts';
import type { Waits } from './waits.ts';

/** Adds of one desired record that may take effect before a person has to allow another one. */
export const maxAbandonedAdds = 2;
const maxStores = 3;
const day = 86_400_000;

/**
 * Why a desired record may not be written now because of earlier writes; null if it may. Of a missing record, the first
 * that applies:
 *
 * | because of                                                     | of the record set | until                         |
 * | -------------------------------------------------------------- | ----------------- | ----------------------------- |
 * | lost state, and a record like it                               | the record        | `adopt` or a person           |
 * | an add that no reading showed, and a new record like it        | the record        | a person                      |
 * | two adds                                                       | the record        | a person                      |
 * | two adds that no reading showed                                | all               | a person                      |
 * | something that may still come, or is not listed yet (waits.ts) | all of all sets   | see there                     |
 * | a refusal                                                      | the record        | its backoff                   |
 * | an add that the service turned into another desired record     | the record        | an edit                       |
 */
export const gate = (basis: PlanBasis, waits: Waits) => {
  const { desired: file, memory, now } = basis;
  let lost: ReadonlyMap<string, number> | undefined;
  return (desired: DesiredEntry, actual: ActualEntry | null): Block | null => {
    const record = memory.records.get(recordKey(desired)) ?? (actual && recordOfId(memory, actual.record.id));
    if (actual !== null) {
      const wait =
        waits.blockOfReuse(desired, actual) ??
        (desired.name === actual.name ? null : waits.blockOfName(desired));
      if (wait || !record) return wait;
      return failing(record, desired, now) ?? notConverging(record, desired, actual, now);
    }
    const blockedByUncounted = uncountedBlock(desired, basis);
    // Then records that the file never listed serve it, too.
    const adopts = file.adopt && file.surplus === 'park';
    // A record that is reused for it resolves it; `addGate` still keeps it from being added.
    if (blockedByUncounted) return adopts ? null : blockedByUncounted;
    const late =
      record?.failure?.kind === 'unknown' ? likeOne(desired, withoutPreexisting(basis), memory) : null;
    if (late) return blockedByLate(late);
    const inSet = (lost ??= abandonedBySet(memory)).get(setKey(desired)) ?? 0;
    return (
      (record && tooManyAdds(record)) ??
      (inSet >= maxAbandonedAdds ? { reason: 'pending-write', message: askForRetry(inSet) } : null) ??
      waits.blockOfAdd(desired) ??
      (record && (failing(record, desired, now) ?? storedAsOtherRecord(record, desired))) ??
      null
    );
  };
};

/** Why a record that no surplus serves may not be added: a similar record is still there, or may become it. */
export const addGate =
  (basis: PlanBasis, waits: Waits) =>
  (desired: DesiredEntry): Block | null =>
    uncountedBlock(desired, basis) ?? waits.blockOfUnserved(desired);

const uncountedBlock = (desired: DesiredEntry, { view, memory }: PlanBasis): Block | null => {
  const record = memory.records.get(recordKey(desired));
  const like = record && record.adds >= unknownAddCount ? likeOne(desired, view.records, memory) : null;
  return like && blockedBySimilar(like);
};

/** A similar record among the unknown ones. */
const likeOne = (
  desired: DesiredEntry,
  records: readonly ActualRecord[],
  memory: TemplateMemory,
): ActualRecord | null =>
  records.find((record) => !isKnownId(memory, record.id) && isPerhaps(desired, entryOf(record))) ?? null;

/** Records from before first contact come from no add. */
const withoutPreexisting = ({ view, memory }: PlanBasis): readonly ActualRecord[] =>
  view.records.filter(({ id }) => !memory.view.preexistingIds.has(id));

const blockedByLate = (like: ActualRecord): Block => ({
  reason: 'pending-write',
  message: `record ${like.id} (${describe(like)}) may come from an add of this record with an unknown outcome: check the service, then apply --retry`,
});

const blockedBySimilar = (like: ActualRecord): Block => ({
  reason: 'not-converging',
  message: `record ${like.id} (${describe(like)}) may be this record in the service's spelling, but there is no saved state of it: import the template, set surplus: park with adopt: true, or, if it is a different record, apply --retry`,
});

/** By record set: how many adds no reading shows. Whatever the file says since, two of them need a person. */
const abandonedBySet = (memory: TemplateMemory): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const { wanted, adds } of abandonedAdds(memory)) {
    const set = setKey(entryOf(wanted));
    counts.set(set, (counts.get(set) ?? 0) + adds);
  }
  return counts;
};

/** Why a record may not be parked now, or `restored` to what it was. */
export const parkGate =
  ({ memory, now }: PlanBasis, waits: Waits) =>
  ({ record, type }: ActualEntry, restored?: RecordData): { error: string; retryAt?: string } | null => {
    const sent = restored ?? parkedForm(record, type);
    const unshown = waits.blockOfPark(record, restored !== undefined);
    if (unshown) return { error: unshown.message, ...(unshown.retryAt ? { retryAt: unshown.retryAt } : {}) };
    const known = recordOfId(memory, record.id) ?? memory.records.get(parkedKey(record.id));
    const failure = known?.failure ?? null;
    if (isActive(failure, sent, now))
      return { error: failure.message, retryAt: new Date(failure.retryAt).toISOString() };
    return known && isStoredDifferently(known.rewritten, sent, record)
      ? { error: describeStoredDifferently(known.rewritten) }
      : null;
  };

const failing = ({ failure }: RecordState, desired: DesiredEntry, now: number): Block | null => {
  if (!isActive(failure, dataOf(desired.record), now)) return null;
  const retryAt = new Date(failure.retryAt).toISOString();
  return failure.kind === 'refused'
    ? { reason: 'refused', message: failure.message, retryAt }
    : { reason: 'pending-write', message: `${failure.message}; not tried again before ${retryAt}`, retryAt };
};

const tooManyAdds = ({ adds, failure }: RecordState): Block | null => {
  if (adds >= unknownAddCount)
    return {
      reason: 'vanished',
      message:
        'it was at the service and is missing now, and an older copy of the state does not show how often it was added; check the service, then apply --retry',
    };
  if (adds < maxAbandonedAdds) return null;
  return failure?.kind === 'unknown'
    ? { reason: 'pending-write', message: askForRetry(adds) }
    : {
        reason: 'vanished',
        message: `added ${adds} times, and missing again each time; find out why, then apply --retry`,
      };
};

const askForRetry = (adds: number): string =>
  `${adds} adds were sent to this record set, and no listing shows a result; check the service, then apply --retry`;

/** An earlier add of it became another desired record, as the service stored it: another add would make a copy. */
const storedAsOtherRecord = ({ recordId, rewritten }: RecordState, desired: DesiredEntry): Block | null => {
  if (recordId !== null || rewritten === null || !sameData(rewritten.sent, dataOf(desired.record)))
    return null;
  const isAnother = recordKey(entryOf(rewritten.stored)) !== recordKey(desired);
  return isAnother ? { reason: 'not-converging', message: describeStoredDifferently(rewritten) } : null;
};

const notConverging = (
  { rewritten, stored }: RecordState,
  desired: DesiredEntry,
  actual: ActualEntry,
  now: number,
): Block | null => {
  const sent = dataOf(desired.record);
  if (isStoredDifferently(rewritten, sent, actual.record))
    return { reason: 'not-converging', message: describeStoredDifferently(rewritten) };
  const recent =
    stored && sameData(stored.sent, sent) ? stored.at.filter((at) => Math.abs(now - at) < day) : [];
  if (recent.length < maxStores) return null;
  return {
    reason: 'not-converging',
    message: `stored ${recent.length} times within a day without staying; something else keeps changing it`,
  };
};

const isStoredDifferently = (
  rewritten: RecordState['rewritten'],
  sent: RecordData,
  stored: RecordData,
): rewritten is NonNullable<RecordState['rewritten']> =>
  rewritten !== null && sameData(rewritten.sent, sent) && sameData(rewritten.stored, stored);

const describeStoredDifferently = ({ sent, stored }: NonNullable<RecordState['rewritten']>): string =>
  `sent ${describe(sent)}, and the service stored ${describe(stored)}`;

const describe = ({ type, name, content, priority, ttl }: RecordData): string =>
  [name ?? '@', type, priority, content, ttl === null ? null : `(ttl ${ttl})`]
    .filter((part) => part !== null)
    .join(' ');
