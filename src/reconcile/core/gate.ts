import { dataOf, type ActualRecord, type RecordData } from '../../model/record.ts';
import { sameData } from '../../model/canonical.ts';
import type { ActualTemplate } from '../../model/template.ts';
import { entryOf, recordKey, setKey, type ActualEntry, type DesiredEntry } from '../../plan/entry.ts';
import { groupBy } from '../../plan/group.ts';
import { isLike } from '../../plan/like.ts';
import { parkedKey } from '../../plan/memory.ts';
import type { Block } from '../../plan/plan-input.ts';
import { parkedForm } from '../../plan/parked.ts';
import type { RecordState } from '../../state/memory.ts';
import { isActive } from './backoff.ts';
import { isKnownId, recordOfId, abandonedAdds, type TemplateMemory } from './memory.ts';
import { uncountedAdds } from './remembering.ts';
import { besideUnlisted, notListedYet, unlistedWaits } from './unlisted.ts';

export interface GateInput {
  readonly memory: TemplateMemory;
  /** Record sets, as `entryOf` names them, of the pending adds. */
  readonly pendingSets: ReadonlySet<string>;
  readonly actual: ActualTemplate;
  /** The `recordKey` of every record of the file. */
  readonly desiredKeys: () => ReadonlySet<string>;
  /** Whether the file adopts records that it never listed. */
  readonly adopt: boolean;
  readonly now: number;
  /** The wait between two readings, in milliseconds. */
  readonly settle: number;
}

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
 * | an add of unknown outcome that readings have not decided       | all               | they have                     |
 * | lost state, and a record like it                               | the record        | `adopt` or a person           |
 * | an add that no reading showed, and a new record like it        | the record        | a person                      |
 * | two adds                                                       | the record        | a person                      |
 * | an accepted add that listings do not show yet                  | the record        | they do, or `longestLag`      |
 * | the same of a record that the file dropped: it may become this | all               | they do, or `longestLag`      |
 * | adds that no reading showed                                    | all               | `unknownPause`; two: a person |
 * | a refusal                                                      | the record        | its backoff                   |
 * | an add that the service turned into another desired record     | the record        | an edit                       |
 */
export const gate = (input: GateInput) => {
  const { memory, pendingSets, actual: template, adopt, now } = input;
  let lost: ReadonlyMap<string, readonly RecordState[]> | undefined;
  let dropped: ReadonlyMap<string, readonly RecordState[]> | undefined;
  const waitFor = unlistedWaits(template, now, input.settle);
  return (desired: DesiredEntry, actual: ActualEntry | null): Block | null => {
    const record = memory.records.get(recordKey(desired)) ?? (actual && recordOfId(memory, actual.record.id));
    if (actual !== null)
      return record ? (failing(record, desired, now) ?? notConverging(record, desired, actual, now)) : null;
    if (pendingSets.has(setKey(desired))) return pendingAdd;
    lost ??= abandonedBySet(memory, template);
    const besideOne = besideUncounted(desired, template, memory);
    // A record that is reused for it resolves it; `addGate` still keeps it from being added.
    if (besideOne) return adopt ? null : besideOne;
    const late =
      record?.failure?.kind === 'unknown'
        ? likeOne(desired, withoutStrangers(template, memory), memory)
        : null;
    if (late) return besideLate(late);
    return (
      (record && (tooManyAdds(record) ?? notListedYet(waitFor(record)))) ??
      besideUnlisted((dropped ??= droppedRecords(input)).get(setKey(desired)) ?? [], waitFor) ??
      besideLost(lost.get(setKey(desired)) ?? [], desired, now) ??
      (record && (failing(record, desired, now) ?? becomingAnother(record, desired))) ??
      null
    );
  };
};

/** Why a record that no surplus serves may not be added: a similar record is still there. */
export const addGate =
  ({ memory, actual }: Pick<GateInput, 'memory' | 'actual'>) =>
  (desired: DesiredEntry): Block | null =>
    besideUncounted(desired, actual, memory);

const besideUncounted = (
  desired: DesiredEntry,
  template: ActualTemplate,
  memory: TemplateMemory,
): Block | null => {
  const record = memory.records.get(recordKey(desired));
  const like = record && record.adds >= uncountedAdds ? likeOne(desired, template, memory) : null;
  return like && besideLike(like);
};

/** A similar record among the unknown ones. */
const likeOne = (
  desired: DesiredEntry,
  { records }: Pick<ActualTemplate, 'records'>,
  memory: TemplateMemory,
): ActualRecord | null =>
  records.find((record) => !isKnownId(memory, record.id) && isLike(desired, entryOf(record))) ?? null;

/** Records from before first contact come from no add. */
const withoutStrangers = (
  { records }: ActualTemplate,
  { view: { preexisting } }: TemplateMemory,
): Pick<ActualTemplate, 'records'> => ({ records: records.filter(({ id }) => !preexisting.has(id)) });

const besideLate = (like: ActualRecord): Block => ({
  reason: 'pending-write',
  message: `record ${like.id} (${describe(like)}) may come from an add of this record with an unknown outcome: check the service, then apply --retry`,
});

const besideLike = (like: ActualRecord): Block => ({
  reason: 'not-converging',
  message: `record ${like.id} (${describe(like)}) may be this record in the service's spelling, but there is no saved state of it: import the template, set surplus: park with adopt: true, or, if it is a different record, apply --retry`,
});

/** By record set: the adds of unknown outcome that no reading shows. They may still take effect. */
const abandonedBySet = (memory: TemplateMemory, { records }: ActualTemplate): Map<string, RecordState[]> => {
  const lost = abandonedAdds(memory);
  if (lost.length === 0) return new Map();
  const shown = new Set(records.map((record) => recordKey(entryOf(record))));
  return groupBy(
    lost.filter(({ key }) => !shown.has(key)),
    ({ wanted }) => setKey(entryOf(wanted)),
  );
};

/** Whatever the file says since, a record set with two of them needs a person before another add. */
const besideLost = (lost: readonly RecordState[], desired: DesiredEntry, now: number): Block | null => {
  const adds = lost.reduce((sum, one) => sum + one.adds, 0);
  if (adds >= maxAbandonedAdds) return { reason: 'pending-write', message: askForRetry(adds) };
  for (const one of lost) {
    const block = failing(one, desired, now);
    if (block) return block;
  }
  return null;
};

/** Why a record may not be parked now, or changed to what is `sent`. */
export const parkGate =
  ({ memory, now }: Pick<GateInput, 'memory' | 'now'>) =>
  (
    { record, type }: ActualEntry,
    sent: RecordData = parkedForm(record, type),
  ): { error: string; retryAt?: string } | null => {
    const known = recordOfId(memory, record.id) ?? memory.records.get(parkedKey(record.id));
    const failure = known?.failure ?? null;
    if (isActive(failure, sent, now))
      return { error: failure.message, retryAt: new Date(failure.retryAt).toISOString() };
    return known && isRewritten(known.rewritten, sent, record)
      ? { error: describeRewritten(known.rewritten) }
      : null;
  };

const pendingAdd: Block = {
  reason: 'pending-write',
  message: 'an add to this record set was sent; its outcome is not known yet',
};

const failing = ({ failure }: RecordState, desired: DesiredEntry, now: number): Block | null => {
  if (!isActive(failure, dataOf(desired.record), now)) return null;
  const retryAt = new Date(failure.retryAt).toISOString();
  return failure.kind === 'refused'
    ? { reason: 'refused', message: failure.message, retryAt }
    : { reason: 'pending-write', message: `${failure.message}; not tried again before ${retryAt}`, retryAt };
};

const tooManyAdds = ({ adds, failure }: RecordState): Block | null => {
  if (adds >= uncountedAdds)
    return {
      reason: 'vanished',
      message:
        'it was at the service and is missing now, and an older copy of the state does not show how often it was added; check the service, then apply --retry',
    };
  if (adds < maxAbandonedAdds) return null;
  return failure?.kind === 'unknown'
    ? {
        reason: 'pending-write',
        message: askForRetry(adds),
      }
    : {
        reason: 'vanished',
        message: `added ${adds} times, and missing again each time; find out why, then apply --retry`,
      };
};

/** By record set: the added records that the file no longer lists. */
const droppedRecords = ({ memory, desiredKeys }: GateInput): Map<string, RecordState[]> => {
  const added = [...memory.records.values()].filter(({ adds, stored }) => adds > 0 && stored);
  if (added.length === 0) return new Map();
  const keys = desiredKeys();
  return groupBy(
    added.filter(({ key }) => !keys.has(key)),
    ({ wanted }) => setKey(entryOf(wanted)),
  );
};

const askForRetry = (adds: number): string =>
  `${adds} adds were sent to this record set, and no listing shows a result; check the service, then apply --retry`;

/** An earlier add of it became another desired record, as the service stored it: another add would make a copy. */
const becomingAnother = ({ recordId, rewritten }: RecordState, desired: DesiredEntry): Block | null => {
  if (recordId !== null || rewritten === null || !sameData(rewritten.sent, dataOf(desired.record)))
    return null;
  const isAnother = recordKey(entryOf(rewritten.stored)) !== recordKey(desired);
  return isAnother ? { reason: 'not-converging', message: describeRewritten(rewritten) } : null;
};

const notConverging = (
  { rewritten, stored }: RecordState,
  desired: DesiredEntry,
  actual: ActualEntry,
  now: number,
): Block | null => {
  const sent = dataOf(desired.record);
  if (isRewritten(rewritten, sent, actual.record))
    return { reason: 'not-converging', message: describeRewritten(rewritten) };
  const recent =
    stored && sameData(stored.sent, sent) ? stored.at.filter((at) => Math.abs(now - at) < day) : [];
  if (recent.length < maxStores) return null;
  return {
    reason: 'not-converging',
    message: `stored ${recent.length} times within a day without staying; something else keeps changing it`,
  };
};

const isRewritten = (
  rewritten: RecordState['rewritten'],
  sent: RecordData,
  stored: RecordData,
): rewritten is NonNullable<RecordState['rewritten']> =>
  rewritten !== null && sameData(rewritten.sent, sent) && sameData(rewritten.stored, stored);

const describeRewritten = ({ sent, stored }: NonNullable<RecordState['rewritten']>): string =>
  `sent ${describe(sent)}, and the service stored ${describe(stored)}`;

const describe = ({ type, name, content, priority, ttl }: RecordData): string =>
  [name ?? '@', type, priority, content, ttl === null ? null : `(ttl ${ttl})`]
    .filter((part) => part !== null)
    .join(' ');
