import { canonicalName, sameData } from '../model/canonical.ts';
import { dataOf, type ActualRecord, type RecordData } from '../model/record.ts';
import type { ActualTemplate, DesiredTemplate } from '../model/template.ts';
import { desiredKeysOf, entryOf, recordKey, type ActualEntry, type DesiredEntry } from '../plan/entry.ts';
import type { Cause } from '../plan/difference.ts';
import { isNamed, mayBeOneOf } from '../plan/like.ts';
import { keptItsName, knownOf, parkedKey, type Displaced } from '../plan/memory.ts';
import { isParkedName } from '../plan/parked.ts';
import { isPark, type Step } from '../plan/step.ts';
import type { Acceptance, Failure, Intent, RecordState, Uptime } from '../state/memory.ts';
import { acceptanceForClock, correctedForClock, failedAt, maxLag, type Instant } from './backoff.ts';
import { nothingKnown, parkedIdOf, unknownRecord, type MemoryDraft } from './memory.ts';

/** A desired record, and the actual one that was meant to become it. */
export interface UpdateTarget {
  readonly key: string;
  readonly desired: RecordData;
  readonly recordId: number;
  readonly before: RecordData;
  readonly cause: Cause;
}

/**
 * The target of an update: from now on the record may be the desired one, under any name. Null for adds and
 * parks.
 */
export const targetOf = ({ action, key, after, recordId, before, cause }: Intent): UpdateTarget | null =>
  action === 'update' && recordId !== null && before !== null
    ? { key, desired: after, recordId, before, cause }
    : null;

/** Binds an id to a desired record; both agree. */
export const bind = (
  draft: MemoryDraft,
  desired: DesiredEntry,
  actual: ActualEntry,
  changes: Partial<RecordState> = {},
): void => {
  const key = recordKey(desired);
  const { id } = actual.record;
  const wanted = dataOf(desired.record);
  draft.put({
    ...(moveId(draft, key, id) ?? unknownRecord(key, wanted)),
    recordId: id,
    wanted,
    seen: dataOf(actual.record),
    cause: null,
    ...changes,
  });
  forgetDisplaced(draft, key);
};

/** A record that made way for an existing record stays parked. */
const forgetDisplaced = (draft: MemoryDraft, key: string): void => {
  for (const [parked, { key: waiting }] of draft.now.view.displaced)
    if (waiting === key) draft.put({ ...draft.get(parkedKey(parked))!, displaced: null });
};

/**
 * A tentative binding: a change of unknown outcome went to this id. The previous binding holds until the
 * record shows the change.
 */
export const bindTentatively = (
  draft: MemoryDraft,
  { key, desired, recordId, before, cause }: UpdateTarget,
  changes?: Pick<RecordState, 'failure'>,
): void => {
  const known = draft.get(key);
  draft.put(
    known?.recordId === recordId
      ? { ...known, ...changes }
      : {
          ...(known ?? unknownRecord(key, desired)),
          wanted: desired,
          recordId,
          seen: before,
          cause,
          ...changes,
        },
  );
};

export const park = (
  draft: MemoryDraft,
  id: number,
  seen: RecordData,
  changes: Pick<RecordState, 'rewritten' | 'cause' | 'displaced'> & Partial<RecordState>,
): void => {
  const key = parkedKey(id);
  const known = moveId(draft, key, id) ?? unknownRecord(key, seen);
  draft.put({ ...known, recordId: id, wanted: seen, seen, failure: null, ...changes });
};

/** A record was restored, with its previous binding. */
export const restore = (
  draft: MemoryDraft,
  { key, wanted }: NonNullable<Displaced['own']>,
  id: number,
  seen: RecordData,
  changes: Partial<RecordState>,
): void => {
  const known = moveId(draft, key, id) ?? unknownRecord(key, wanted);
  draft.put({ ...known, recordId: id, wanted, seen, cause: null, failure: null, ...changes });
};

/**
 * A parked record that is at its name again gets its previous binding back: somebody restored it, or a park
 * of unknown outcome had no effect.
 */
export const recognizeRestored = (draft: MemoryDraft, { records }: ActualTemplate): void => {
  for (const [id, { own, was }] of draft.now.view.displaced) {
    const record = records.find((one) => one.id === id);
    if (!record || isParkedName(canonicalName(record.name)) || keptItsName(draft.now.view, record)) continue;
    const parked = draft.ofId(id)!;
    const keptName = canonicalName(record.name);
    const names = [was, ...(own ? [own.wanted] : [])].map(({ name }) => canonicalName(name));
    const isSpelled = new Set(names).size === 1 && mayBeOneOf(new Set(names))(keptName);
    const changes = { failure: parked.failure, ...(isSpelled ? { keptName } : {}) };
    if (own) restore(draft, own, id, dataOf(record), changes);
    else draft.put({ ...parked, recordId: null, seen: null, displaced: null });
  }
};

/** An add of ours, and what came of it. */
export interface AddedRecord {
  readonly key: string;
  readonly sent: RecordData;
  readonly record: ActualRecord;
  /** Other records that it may have made. */
  readonly copies: readonly number[];
  /** The adds of this record so far. */
  readonly adds: number;
  readonly at: number;
  readonly since: Uptime | undefined;
}

/** Binds the record that an add of unknown outcome made, in whichever spelling. */
export const bindAdded = (
  draft: MemoryDraft,
  { key, sent, record, copies, adds, at, since }: AddedRecord,
): void => {
  const known = draft.get(key);
  const isAsSent =
    recordKey(entryOf(sent)) === recordKey(entryOf(record)) && (sent.ttl === null || sent.ttl === record.ttl);
  change(draft, key, sent, {
    wanted: sent,
    recordId: record.id,
    copies: [...new Set([...(known?.copies ?? []), ...copies])],
    seen: dataOf(record),
    keptName: canonicalName(record.name),
    adds,
    stored: storedAgain(known, { sent, before: null, at, since }),
    rewritten: isAsSent ? null : { sent, stored: dataOf(record) },
    failure: null,
    cause: null,
  });
  forgetDisplaced(draft, key);
};

export const change = (
  draft: MemoryDraft,
  key: string,
  desired: RecordData,
  changes: Partial<RecordState>,
): void => {
  draft.put({ ...(draft.get(key) ?? unknownRecord(key, desired)), ...changes });
};

/** A value that the service accepted, and what the record was before: null if it was added. */
export interface AcceptedValue {
  readonly sent: RecordData;
  readonly before: RecordData | null;
  readonly at: number;
  readonly since: Uptime | undefined;
}

/** The last three times at which the service accepted the same value; `previous`: its id's acceptance so far. */
export const storedAgain = (
  known: RecordState | undefined,
  { sent, before, at, since }: AcceptedValue,
  previous: Acceptance | null = known?.stored ?? null,
): Acceptance => {
  const times = known?.stored && sameData(known.stored.sent, sent) ? known.stored.at : [];
  // A listing may be behind several writes.
  const isRecent = previous !== null && Math.abs(at - previous.at.at(-1)!) < maxLag;
  const replaced = [...(isRecent ? (previous.replaced ?? []) : []), before].slice(-maxReplaced);
  return { sent, at: [...times, at].slice(-3), since, replaced };
};

const maxReplaced = 20;

/** Notes that the service accepted a write whose outcome was unknown and whose effect shows; gives what that changes. */
export const storedUnseen = (
  draft: MemoryDraft,
  known: RecordState | undefined,
): Pick<Partial<RecordState>, 'stored'> => {
  if (!known?.failure || known.failure.kind === 'refused') return {};
  const { sent, since } = known.failure;
  const at = failedAt(known.failure);
  draft.setRow({ lastWriteAt: at });
  // A listing that is behind an add lacks the record, also where an earlier one has been bound.
  const before = isPerhapsAdded(known) ? null : known.seen;
  return { stored: storedAgain(known, { sent, before, at, since }) };
};

/** An add of it that no reading shows may still take effect. */
export const isPerhapsAdded = ({ adds, failure }: RecordState): boolean =>
  failure !== null && (adds > 0 || failure.idsBefore !== undefined);

/** Binds what shows an update of unknown outcome. */
export const bindChanged = (
  draft: MemoryDraft,
  { records }: ActualTemplate,
  desired: DesiredTemplate,
): void => {
  const { tentative } = draft.now.view;
  if (tentative.size === 0) return;
  const byId = new Map(records.map((record) => [record.id, record]));
  for (const { key, id } of tentative.values()) {
    const record = byId.get(id);
    if (!record || knownOf(draft.now.view, record)?.key !== key) continue;
    const before = draft.ofId(id);
    const changed = { ...draft.get(key)!, ...storedUnseen(draft, draft.get(key)) };
    moveId(draft, key, id);
    const isSpelled = isSpelledAs(before, changed.wanted, record) || isNamedByService(changed, record);
    const spelling = isSpelled ? { keptName: canonicalName(record.name) } : {};
    // Somebody may have made the change but for the name: the update may still come, and move the record.
    const isMoved = isNamed(canonicalName(changed.wanted.name), canonicalName(record.name));
    const failure = isSpelled || isMoved ? null : changed.failure;
    draft.put({ ...changed, ...spelling, seen: dataOf(record), rewritten: null, failure, cause: null });
    forgetDisplaced(draft, key);
    // The file dropped it when the update was sent: if it lists it again, that is an edit.
    if (before && desiredKeysOf(desired).has(before.key))
      draft.put({ ...draft.get(before.key)!, cause: 'edited' });
    else if (before) forgetDropped(draft, before.key);
  }
};

/** Whether it still has the name that the service gave a record of this name. */
const isSpelledAs = (known: RecordState | undefined, wanted: RecordData, { name }: ActualRecord): boolean =>
  known?.keptName === canonicalName(name) && canonicalName(known.wanted.name) === canonicalName(wanted.name);

/** A record with a name was updated as one without: only where the service itself had given it that name. */
const isNamedByService = ({ wanted, seen }: RecordState, { name }: ActualRecord): boolean =>
  canonicalName(wanted.name) === '' && seen !== null && canonicalName(seen.name) === canonicalName(name);

/** A record that the file had dropped when another one took its id. */
export const forgetDropped = (draft: MemoryDraft, key: string): void => {
  const record = draft.get(key);
  if (record?.recordId === null && !record.copies?.length && !isPerhapsAdded(record)) draft.forget(key);
};

/** Removes the binding of an id. */
export const unbind = (draft: MemoryDraft, id: number): void => {
  const known = draft.now.view.byId.get(id);
  if (known) draft.forget(known.key);
  draft.setRow({ strangers: [...new Set([...(draft.now.row.strangers ?? []), id])] });
};

/** Notes the first cause of a record that is not known yet. */
export const noteCause = (draft: MemoryDraft, step: Step): void => {
  if (isPark(step)) return;
  const key = recordKey(step.desired);
  if (draft.get(key)) return;
  change(draft, key, dataOf(step.desired.record), { cause: step.difference.cause });
};

/** Corrects what is waited for after a jump of the wall clock. */
export const correctForClockJump = (draft: MemoryDraft, moment: Instant, settle: number): void => {
  for (const record of draft.now.records.values()) {
    const failure = record.failure && correctedForClock(record.failure, moment);
    const stored = record.stored && acceptanceForClock(record.stored, moment, settle);
    if (failure !== record.failure || stored !== record.stored) draft.put({ ...record, failure, stored });
  }
};

/** From now on a listing is not behind earlier writes. */
export const takeListing = (draft: MemoryDraft): void => {
  for (const record of draft.now.records.values())
    if (record.stored) draft.put({ ...record, stored: { ...record.stored, replaced: [] } });
};

/** Ends the backoff after refusals; with `everything`, every obstacle that a person can lift. */
export const clearBackoff = (draft: MemoryDraft, everything: boolean): void => {
  for (const record of draft.now.records.values()) {
    // An older copy of the state only proves that the record existed.
    const isGone = record.recordId === null && record.adds >= unknownAddCount;
    const cause = isGone ? 'drifted' : record.cause;
    // A displaced record is restored nevertheless.
    const { displaced = null } = record;
    if (everything) draft.put({ ...record, ...nothingKnown, displaced, cause });
    else if (record.failure?.kind === 'refused') draft.put({ ...record, failure: null });
  }
};

/** The count for an unknown number of adds. */
export const unknownAddCount = 1_000;

/** One id belongs to one desired record: any other record loses it. */
const moveId = (draft: MemoryDraft, key: string, id: number): RecordState | undefined => {
  for (const binding of draft.now.view.tentative.values()) {
    if (binding.id !== id || binding.key === key) continue;
    const record = draft.get(binding.key)!;
    draft.put({ ...record, recordId: null, seen: null, failure: failureWithoutId(record) });
  }
  const other = draft.ofId(id);
  if (other && other.key !== key) {
    if (parkedIdOf(other.key) !== null) draft.forget(other.key);
    else {
      const { adds, rewritten } = other;
      const failure = failureWithoutId(other);
      // The service has turned it into this record: another add would do the same again.
      const isOfTheService = rewritten !== null && recordKey(entryOf(rewritten.stored)) === key;
      const kept = { adds, failure, rewritten: isOfTheService ? rewritten : null };
      draft.put({ ...other, ...nothingKnown, ...kept, recordId: null, seen: null, cause: 'drifted' });
    }
  }
  return draft.get(key);
};

/** An update of unknown outcome went to the id; other failures concern the value, wherever it is sent. */
const failureWithoutId = ({ failure }: RecordState): Failure | null =>
  failure?.kind === 'unseen' ? null : failure;
