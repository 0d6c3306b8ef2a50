import { canonicalName, sameData, type CanonicalRecord } from '../../model/canonical.ts';
import { dataOf, type ActualRecord, type RecordData } from '../../model/record.ts';
import {
  desiredKeysOf,
  entryOf,
  recordKey,
  setKey,
  type ActualEntry,
  type DesiredEntry,
} from '../../plan/entry.ts';
import { groupBy } from '../../plan/group.ts';
import { bareName, isNamed } from '../../plan/like.ts';
import type { KnownRecord } from '../../plan/memory.ts';
import { isParkedName } from '../../plan/parked.ts';
import type { Block, PendingRecord } from '../../plan/plan-input.ts';
import type { Acceptance, Intent } from '../../state/memory.ts';
import { longestLag, mayChangeUntil } from '../../memory/backoff.ts';
import { abandonedAdds, type MemoryDraft, type TemplateMemory } from '../../memory/memory.ts';
import type { CorrectedView, PlanBasis, Unshown } from './basis.ts';

/*
 * What may still come of our own writes, or is not shown yet. The life of an add:
 *
 * | state                | since                        | until                                 | holds                           |
 * | -------------------- | ---------------------------- | ------------------------------------- | ------------------------------- |
 * | in flight            | its intent is on disk        | an answer, an error                   | the template                    |
 * | unknown              | an error, a crash, a doubt   | readings show it, or miss it twice    | all adds; its name for renames, |
 * |                      |                              |                                       | reuse, restoring and conflicts  |
 * | absent twice         | the second of those readings | `unknownPause`; of two in a set: for  | the same                        |
 * |                      |                              | their set, until a person allows more |                                 |
 * | accepted, not listed | a believed answer            | a listing shows it, or `longestLag`   | the same, and edits of it       |
 * | an update, unknown   | an error, a crash            | readings show it, or `unknownPause`   | an add of what it makes         |
 * | shown                | a reading                    |                                       | nothing: it is bound            |
 *
 * What appears and is like what was sent is ours, whatever the file says by then. A listing that shows a record as it
 * was before an accepted write is behind as well, for as long; it says nothing about that record.
 */

/** Puts our accepted writes into a listing that may be behind them; `except`: of the record with another write since. */
export const asAccepted = (
  reading: CorrectedView,
  { records }: TemplateMemory,
  { now, settle }: Pick<PlanBasis, 'now' | 'settle'>,
  except: number | null = null,
): CorrectedView => {
  if (reading.unshown) return reading;
  const lag = longestLag(settle);
  let shown: Map<number, ActualRecord> | undefined;
  const unshown = new Map<number, Unshown>();
  for (const { recordId: id, seen, stored } of records.values()) {
    const at = stored?.at.at(-1);
    if (id === null || id === except || seen === null || at === undefined || now >= at + lag) continue;
    shown ??= new Map(reading.records.map((record) => [record.id, record]));
    const record = shown.get(id);
    if (!isFromBefore(record, seen, stored!)) continue;
    shown.set(id, { ...record, id, ...dataOf(seen) });
    unshown.set(id, { isAdd: record === undefined, listed: record ?? null, at, until: at + lag });
  }
  return unshown.size === 0 ? reading : { ...reading, records: [...shown!.values()], unshown };
};

const isFromBefore = (
  record: ActualRecord | undefined,
  seen: RecordData,
  { replaced = [null] }: Acceptance,
): boolean => {
  if (record === undefined) return replaced.includes(null);
  if (replaced.every((one) => one === null)) return false;
  return !sameData(record, seen) && replaced.some((before) => before !== null && sameData(before, record));
};

/**
 * A listing shows these ids, which only answers have shown before. While an add of unknown outcome is open, one of them
 * may be its record, and later listings may be behind this one.
 */
export const forgetAnswered = (
  draft: MemoryDraft,
  { records, unshown }: CorrectedView,
  pending: readonly Intent[],
): void => {
  const { answeredIds = [], addedIds } = draft.now.row;
  if (pending.length > 0) return;
  if (addedIds) forgetAdded(draft, addedIds);
  if (answeredIds.length === 0) return;
  const listed = new Set(records.map(({ id }) => id).filter((id) => !unshown?.get(id)?.isAdd));
  const left = answeredIds.filter((id) => !listed.has(id));
  if (left.length < answeredIds.length) draft.setRow({ answeredIds: left });
};

/** Those of adds whose outcome is known by now. */
const forgetAdded = (draft: MemoryDraft, addedIds: Readonly<Record<string, number>>): void => {
  const open = new Set(abandonedAdds(draft.now).map(({ key }) => key));
  const left = Object.entries(addedIds).filter(([key]) => open.has(key));
  if (left.length < Object.keys(addedIds).length) draft.setRow({ addedIds: Object.fromEntries(left) });
};

/** A write of ours that may still take effect, or that no listing shows yet. */
interface Wait {
  readonly sent: RecordData;
  /** The service accepted it. */
  readonly isAccepted: boolean;
  /** Ms since the epoch; null until readings or a person decide. */
  readonly until: number | null;
  readonly message: string;
}

export interface Waits {
  /** What no reading shows, or what only a listing that may be behind does: other records count it as present. */
  readonly coming: readonly PendingRecord[];
  /** Why a missing record is not added. */
  readonly blockOfAdd: (desired: DesiredEntry) => Block | null;
  /** Why a missing record that no other record serves is not added: an update may still make it. */
  readonly blockOfUnserved: (desired: DesiredEntry) => Block | null;
  /** Why a record does not get the name of the desired one. */
  readonly blockOfName: (desired: DesiredEntry) => Block | null;
  /** Why a record is not changed, or is not called in sync. */
  readonly blockOfUnshown: (id: number, isInSync: boolean) => Block | null;
  /** Why a record does not become the desired one: it may be or become another one, or be the only copy of it. */
  readonly blockOfReuse: (desired: DesiredEntry, actual: ActualEntry) => Block | null;
  /**
   * Why a surplus record is not parked, or a parked one not restored: it may get another name yet; a surplus one may be what
   * the listing shows, which may be of the file; and it, or what would stay at its name, may have been removed instead.
   */
  readonly blockOfPark: (record: ActualRecord, isRestored: boolean) => Block | null;
}

export const waitsOf = ({ desired: file, view, memory, pending, now, unknownPause }: PlanBasis): Waits => {
  const { unshown, records } = view;
  const coming = [...pending.map(unknownWait), ...absentWaits(memory, now)];
  const waits: readonly Wait[] = [...coming, ...unshownWaits(memory, unshown)];
  const names = groupBy(coming, ({ sent }) => canonicalName(sent.name));
  const added = unshown ? records.filter(({ id }) => unshown.get(id)?.isAdd) : [];
  const copied = new Map(added.map((record) => [recordKey(entryOf(record)), record.id]));
  const addedAt = new Map(added.map(({ id, name }) => [bareName(canonicalName(name)), id]));
  const blockOf = (id: number | undefined): Block | null => {
    const one = id === undefined ? undefined : unshown?.get(id);
    return one ? unshownBlock(id!, one) : null;
  };
  const moves = [...memory.records.values()].flatMap(({ recordId: id, failure }): UnknownMove[] => {
    const until = mayChangeUntil(failure, { now, unknownPause });
    if (id === null || failure === null || until === null) return [];
    const { sent } = failure;
    const name = canonicalName(sent.name);
    const record = records.find((one) => one.id === id);
    return isParkedName(name) || (record && isNamed(name, canonicalName(record.name)))
      ? []
      : [{ id, sent, until }];
  });
  const blockOfMove = (id: number, wanted?: string): Block | null => {
    const move = moves.find((one) => one.id === id && canonicalName(one.sent.name) !== wanted);
    return move ? moveBlock(move) : null;
  };
  return {
    coming: [
      ...coming.map(({ sent }) => ({ id: null, sent })),
      ...moves,
      ...[...(unshown ?? [])].flatMap(([id, { listed }]) => (listed ? [{ id, sent: dataOf(listed) }] : [])),
    ],
    blockOfAdd: (desired) => {
      if (waits.length === 0) return null;
      const own = waits.find(({ sent }) => isSame(recordKey, sent, desired));
      const ofSet = waits.find(({ sent }) => isSame(setKey, sent, desired));
      return blockBy(own ?? ofSet ?? waits[0]!, desired);
    },
    blockOfUnserved: (desired) => {
      const key = recordKey(desired);
      const binding = memory.view.tentative.get(key);
      const until = mayChangeUntil(memory.records.get(key)?.failure, { now, unknownPause });
      return binding && until !== null ? blockBy(updateWait(binding, until), desired) : null;
    },
    blockOfName: (desired) => {
      const wait = names.get(desired.name)?.[0];
      return wait ? blockBy(wait, desired) : null;
    },
    blockOfUnshown: (id, isInSync) => (isInSync || unshown?.get(id)?.isAdd ? blockOf(id) : null),
    blockOfReuse: (desired, actual) => {
      const [key, own] = [recordKey(desired), recordKey(actual)];
      const { id } = actual.record;
      const move = blockOfMove(id, desired.name);
      if (move) return move;
      const listed = unshown?.get(id)?.listed;
      const listedKey = listed ? recordKey(entryOf(listed)) : key;
      if (listedKey !== key && desiredKeysOf(file).has(listedKey)) return blockOf(id);
      const original = own === key ? undefined : copied.get(own);
      return original === id ? null : blockOf(original);
    },
    blockOfPark: ({ id, name }, isRestored) =>
      blockOfMove(id) ??
      (isRestored ? null : blockOf(id)) ??
      blockOf(addedAt.get(bareName(canonicalName(name)))),
  };
};

/** Whether an add of ours, which no reading shows, may still take effect. */
export const mayStillCome = ({ memory, pending, now }: PlanBasis): boolean =>
  pending.length + absentWaits(memory, now).length > 0;

/** An update of unknown outcome that may still give its record a name; parks are none. */
interface UnknownMove {
  readonly id: number;
  readonly sent: RecordData;
  /** Ms since the epoch. */
  readonly until: number;
}

const unknownWait = ({ after: sent }: Intent): Wait => ({
  sent,
  isAccepted: false,
  until: null,
  message: 'an add was sent, and its outcome is not known yet',
});

const updateWait = ({ id, desired: sent }: KnownRecord, until: number): Wait => ({
  sent,
  isAccepted: false,
  until,
  message: `an update of record ${id} to it was sent, and may still take effect`,
});

const absentWaits = (memory: TemplateMemory, now: number): Wait[] =>
  abandonedAdds(memory).flatMap(({ wanted: sent, failure }) => {
    const { retryAt: until, message, isOver } = failure!;
    return now < until && !isOver ? [{ sent, isAccepted: false, until, message }] : [];
  });

/** Also of a record that was changed: if somebody has changed it back, the listing is right. */
const unshownWaits = (memory: TemplateMemory, unshown: CorrectedView['unshown']): Wait[] =>
  [...(unshown ?? [])].flatMap(([id, { until }]) => {
    const known = memory.view.byId.get(id);
    const message = `the listing does not show record ${id} as it was written`;
    return known ? [{ sent: known.desired, isAccepted: true, until, message }] : [];
  });

/** An add beside an accepted write is promised no time: it goes on as soon as a listing shows that. */
const blockBy = ({ sent, isAccepted, until, message }: Wait, desired: DesiredEntry): Block => {
  const retryAt = until === null ? null : new Date(until).toISOString();
  const isOther = !isAccepted && !isSame(recordKey, sent, desired);
  const what = isOther ? `an add of ${describe(sent)} may still take effect: ${message}` : message;
  if (retryAt === null) return { reason: 'pending-write', message: what };
  if (!isAccepted && isSame(setKey, sent, desired))
    return { reason: 'pending-write', message: `${what}; not tried again before ${retryAt}`, retryAt };
  return { reason: 'pending-write', message: `${what}; added once it does, or after ${retryAt}` };
};

/** A later write of the record would not keep it from the name. */
const moveBlock = ({ id, sent, until }: UnknownMove): Block => {
  const retryAt = new Date(until).toISOString();
  const message = `an update of record ${id} to ${describe(sent)} was sent, and may still take effect; not changed before ${retryAt}`;
  return { reason: 'pending-write', message, retryAt };
};

const unshownBlock = (id: number, { isAdd, at, until }: Unshown): Block => {
  const written = `record ${id} was ${isAdd ? 'added' : 'changed'} at ${new Date(at).toISOString()}`;
  const retryAt = new Date(until).toISOString();
  const message = `${written}, and the listing does not show it yet; it is written again if no listing shows it before ${retryAt}`;
  return { reason: 'pending-write', message, retryAt };
};

const isSame = (
  keyOf: (entry: CanonicalRecord) => string,
  sent: RecordData,
  desired: DesiredEntry,
): boolean => keyOf(entryOf(sent)) === keyOf(desired);

const describe = ({ type, name, content }: RecordData): string => `${name ?? '@'} ${type} ${content}`;
