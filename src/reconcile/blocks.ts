import { canonicalName, sameData } from '../model/canonical.ts';
import { dataOf, type RecordData } from '../model/record.ts';
import {
  entryOf,
  recordKey,
  setKey,
  type ActualEntry,
  type DesiredEntry,
  type DesiredKeys,
} from '../plan/entry.ts';
import { waitForListings } from '../plan/difference.ts';
import { parkedKey } from '../plan/memory.ts';
import type { Block } from '../plan/plan-input.ts';
import type { Entry, Failure, Instant, RecordState } from '../state/memory.ts';
import { mostAdds, type TemplateMemory } from './memory.ts';
import { elapsed, endOf, isoOf } from './times.ts';

const mostStores = 3;
const day = 86_400_000;

/**
 * Why a desired record may not be written now because of its past; null if it may. `pauseOf`: the failure that delays the write
 * of a record. `missed`: adds of the journal that one reading lacks. `isSettled`: no earlier write may still appear. The first
 * that applies:
 *
 * | because of                                            | of         | until                                   |
 * | ----------------------------------------------------- | ---------- | --------------------------------------- |
 * | two adds of it, or two lost ones in its record set    | an add     | a person                                |
 * | a record that was only counted as it                  | an update  | a person                                |
 * | a refusal, or a write that was lost                   | both       | its pause, an edit of it, a command     |
 * | the service stores it differently                     | both       | an edit of it, a change at the service  |
 * | the same value stored three times within a day        | an update  | an edit of it, a day                    |
 */
export const blockOf = (
  memory: TemplateMemory,
  missed: readonly Entry[],
  desiredKeys: DesiredKeys,
  now: Instant,
  pauseOf: PauseOf,
  isSettled: boolean,
) => {
  const { records, byId } = memory;
  // Whoever retries while listings may be behind gets it a second time.
  const advice = isSettled ? 'find out why, then apply --retry' : waitForListings;
  const vanished = (what: string): Block => ({ reason: 'vanished', message: `${what}; ${advice}` });
  const failing = (record: RecordState, desired: DesiredEntry): Block | null => {
    const failure = pauseOf(record, dataOf(desired.record));
    return failure && { reason: 'refused', message: failure.message, retryAt: retryAtOf(failure, now) };
  };
  let lost: ReadonlyMap<string, number> | undefined;
  return (desired: DesiredEntry, actual: ActualEntry | null): Block | null => {
    const own = records.get(recordKey(desired));
    if (actual !== null) {
      const there = byId.get(actual.record.id);
      const record = own ?? there;
      return (
        (record ? failing(record, desired) : null) ??
        (record ? notConverging(record, desired, actual, now) : null) ??
        (there?.isOnlyCounted ? onlyCounted(actual, isSettled) : null)
      );
    }
    const key = recordKey(desired);
    const adds = (own?.adds ?? 0) + missed.filter((entry) => entry.key === key).length;
    const inSet = (lost ??= lostBySet(memory, missed)).get(setKey(desired)) ?? 0;
    return (
      (adds >= mostAdds ? vanished(`added ${adds} times, and missing again each time`) : null) ??
      (inSet >= mostAdds
        ? vanished(`${inSet} adds were sent to this record set, and no listing shows them`)
        : null) ??
      (own ? (failing(own, desired) ?? storedAsOther(own, desired, desiredKeys)) : null)
    );
  };
};

/** Whatever the file says since. */
const lostBySet = ({ records }: TemplateMemory, missed: readonly Entry[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const { after } of missed) {
    const set = setKey(entryOf(after));
    counts.set(set, (counts.get(set) ?? 0) + 1);
  }
  for (const { wanted, lostAdds } of records.values()) {
    if (lostAdds === 0) continue;
    const set = setKey(entryOf(wanted));
    counts.set(set, (counts.get(set) ?? 0) + lostAdds);
  }
  return counts;
};

/** Why a record may not be changed to inert, or earlier, values now. */
export const parkBlockOf =
  ({ records, byId }: TemplateMemory, now: Instant, pauseOf: PauseOf) =>
  ({ record }: ActualEntry, sent: RecordData): { error: string; retryAt?: string } | null => {
    const known = byId.get(record.id) ?? records.get(parkedKey(record.id));
    if (!known) return null;
    const failure = pauseOf(known, sent);
    if (failure) return { error: failure.message, retryAt: retryAtOf(failure, now) };
    if (isStoredDifferently(known.rewritten, sent, record)) return { error: storedText(known.rewritten) };
    // A record without a name that cannot be parked has what needs its place parked instead.
    const error = canonicalName(record.name) === '' ? null : restlessText(known, sent, now);
    return error === null ? null : { error };
  };

/** A write of this pass. */
interface Tried {
  readonly entry: Pick<Entry, 'key' | 'recordId'>;
  readonly outcome: string;
}

type PauseOf = (record: RecordState, sent: RecordData) => Failure | null;

/** The failure that still delays the write of these values. A command waits for those of its own pass alone. */
export const pausesOf =
  (attempts: Iterable<Tried>, now: Instant, isCommand: boolean): PauseOf =>
  ({ key, recordId, failure }, sent) => {
    if (failure === null || !sameData(failure.sent, sent) || elapsed(failure.since, now) >= failure.pause)
      return null;
    const isOwn = ({ entry, outcome }: Tried): boolean =>
      outcome === 'failed' && (entry.key === key || (recordId !== null && entry.recordId === recordId));
    return isCommand && ![...attempts].some(isOwn) ? null : failure;
  };

const retryAtOf = ({ since, pause }: Failure, now: Instant): string => isoOf(endOf(since, pause, now));

/** An earlier add of it became another record, as the service stored it: another add would make a copy. */
const storedAsOther = (
  { recordId, rewritten }: RecordState,
  desired: DesiredEntry,
  desiredKeys: DesiredKeys,
): Block | null => {
  if (rewritten === null || !sameData(rewritten.sent, dataOf(desired.record))) return null;
  const key = recordKey(entryOf(rewritten.stored));
  // While it is bound it may have gone; but not if it serves another record of the file.
  const isAnother = key !== recordKey(desired) && (recordId === null || desiredKeys.has(key));
  return isAnother ? { reason: 'not-converging', message: storedText(rewritten) } : null;
};

const notConverging = (
  { rewritten, stored }: RecordState,
  desired: DesiredEntry,
  { record }: ActualEntry,
  now: Instant,
): Block | null => {
  const sent = dataOf(desired.record);
  if (isStoredDifferently(rewritten, sent, record))
    return { reason: 'not-converging', message: storedText(rewritten) };
  const message = restlessText({ stored }, sent, now);
  return message === null ? null : { reason: 'not-converging', message };
};

/** Of what was stored so often that somebody else seems to change it back. */
const restlessText = (
  { stored }: Pick<RecordState, 'stored'>,
  sent: RecordData,
  now: Instant,
): string | null => {
  const recent =
    stored && sameData(stored.sent, sent) ? stored.at.filter((at) => Math.abs(now.now - at) < day) : [];
  return recent.length < mostStores
    ? null
    : `stored ${recent.length} times within a day without staying; something else keeps changing it`;
};

/** Whichever record of the file would use it. */
const onlyCounted = ({ record: { id } }: ActualEntry, isSettled: boolean): Block => ({
  reason: 'not-converging',
  message: `record ${id} came with an add of this template and has other values: ${isSettled ? 'accept it, or apply --retry' : waitForListings}`,
});

const isStoredDifferently = (
  rewritten: RecordState['rewritten'],
  sent: RecordData,
  stored: RecordData,
): rewritten is NonNullable<RecordState['rewritten']> =>
  rewritten !== null && sameData(rewritten.sent, sent) && sameData(rewritten.stored, stored);

const storedText = ({ sent, stored }: NonNullable<RecordState['rewritten']>): string =>
  `sent ${describe(sent)}, and the service stored ${describe(stored)}`;

const describe = ({ type, name, content, priority, ttl }: RecordData): string =>
  [name ?? '@', type, priority, content, ttl === null ? null : `(ttl ${ttl})`]
    .filter((part) => part !== null)
    .join(' ');
