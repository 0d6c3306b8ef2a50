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
import { isActive, longestLag } from './backoff.ts';
import { isKnownId, recordOfId, unseenAdds, type TemplateMemory } from './memory.ts';
import { uncountedAdds } from './remembering.ts';

export interface GateInput {
  readonly memory: TemplateMemory;
  /** Record sets, as `entryOf` names them, of the pending adds. */
  readonly pendingSets: ReadonlySet<string>;
  readonly actual: ActualTemplate;
  /** Whether the file adopts records that it never listed. */
  readonly adopt: boolean;
  readonly now: number;
  /** The wait between two readings, in milliseconds. */
  readonly settle: number;
}

/** Adds of one desired record that may take effect before a person has to allow another one. */
export const maxAddsUnseen = 2;
const maxStores = 3;
const day = 86_400_000;

/** Why a desired record may not be written now because of earlier writes; null if it may. */
export const gate = ({ memory, pendingSets, actual: template, adopt, now, settle }: GateInput) => {
  let lost: ReadonlyMap<string, readonly RecordState[]> | undefined;
  return (desired: DesiredEntry, actual: ActualEntry | null): Block | null => {
    const record = memory.records.get(recordKey(desired)) ?? (actual && recordOfId(memory, actual.record.id));
    if (actual !== null)
      return record ? (failing(record, desired, now) ?? notConverging(record, desired, actual, now)) : null;
    if (pendingSets.has(setKey(desired))) return pendingAdd;
    lost ??= lostAdds(memory, template);
    const besideOne = besideUncounted(desired, template, memory);
    // A record that is reused for it resolves it.
    if (besideOne) return adopt ? null : besideOne;
    const late =
      record?.failure?.kind === 'unknown'
        ? likeOne(desired, withoutStrangers(template, memory), memory)
        : null;
    if (late) return besideLate(late);
    return (
      (record && (tooManyAdds(record) ?? notListedYet(record, template, now, settle))) ??
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
const lostAdds = (memory: TemplateMemory, { records }: ActualTemplate): Map<string, RecordState[]> => {
  const lost = unseenAdds(memory);
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
  if (adds >= maxAddsUnseen) return { reason: 'pending-write', message: askForRetry(adds) };
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
  if (adds < maxAddsUnseen) return null;
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

/** Why an add is not repeated that was accepted a short while ago: a listing that is behind does not show it. */
const notListedYet = (
  record: RecordState,
  template: ActualTemplate,
  now: number,
  settle: number,
): Block | null => {
  const at = unlistedSince(record, template, now, settle);
  if (at === null) return null;
  const since = new Date(at).toISOString();
  const retryAt = new Date(at + longestLag(settle)).toISOString();
  const message = `written as record ${record.recordId} at ${since}, and missing in the listings, which may be behind; not added again before ${retryAt}`;
  return { reason: 'pending-write', message, retryAt };
};

/** When an add was accepted, if that was a short while ago and the listing does not show it; ms since the epoch. */
export const unlistedSince = (
  { recordId, adds, stored }: RecordState,
  { records }: ActualTemplate,
  now: number,
  settle: number,
): number | null => {
  const at = stored?.at.at(-1);
  // What this pass has added is not asked for again.
  if (at === undefined || at >= now || now >= at + longestLag(settle)) return null;
  return adds > 0 && recordId !== null && !records.some(({ id }) => id === recordId) ? at : null;
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
