import { canonicalName, sameData } from '../../model/canonical.ts';
import { dataOf, type ActualRecord, type RecordData } from '../../model/record.ts';
import type { ActualTemplate } from '../../model/template.ts';
import { entryOf, recordKey, setKey, type DesiredEntry } from '../../plan/entry.ts';
import { groupBy } from '../../plan/group.ts';
import type { Block } from '../../plan/plan-input.ts';
import type { Acceptance, Intent } from '../../state/memory.ts';
import { longestLag } from './backoff.ts';
import { abandonedAdds, type TemplateMemory } from './memory.ts';

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
 * | shown                | a reading                    |                                       | nothing: it is bound            |
 *
 * What appears and is like what was sent is ours, whatever the file says by then. A listing that shows a record as it
 * was before an accepted write is behind as well, for as long; it says nothing about that record.
 */

/** A reading with our own accepted writes, where it does not show them yet. */
export interface View extends ActualTemplate {
  /** By id: the records that the listing does not show as they were written. */
  readonly unshown?: ReadonlyMap<number, Unshown>;
}

interface Unshown {
  readonly isAdd: boolean;
  /** Ms since the epoch: when it was written, and until when a listing may be behind it. */
  readonly at: number;
  readonly until: number;
}

/** When a pass opened a template, ms since the epoch, and the wait between two readings in milliseconds. */
interface Lag {
  readonly now: number;
  readonly settle: number;
}

/** Puts our accepted writes into a listing that may be behind them; `except`: of the record with another write since. */
export const asAccepted = (
  reading: View,
  { records }: TemplateMemory,
  { now, settle }: Lag,
  except: number | null = null,
): View => {
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
    unshown.set(id, { isAdd: record === undefined, at, until: at + lag });
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

/** An add of ours that may still take effect, or that no listing shows yet. */
interface Wait {
  readonly sent: RecordData;
  /** Ms since the epoch; null until readings or a person decide. */
  readonly until: number | null;
  readonly message: string;
}

export interface Waits {
  /** The adds that no reading shows: other records count them as present. */
  readonly coming: readonly RecordData[];
  /** Why a missing record is not added. */
  readonly blockOfAdd: (desired: DesiredEntry) => Block | null;
  /** Why a record does not get the name of the desired one. */
  readonly blockOfName: (desired: DesiredEntry) => Block | null;
  /** Why a record is not changed, or is not called in sync. */
  readonly blockOfUnshown: (id: number, isInSync: boolean) => Block | null;
}

export const waitsOf = (
  memory: TemplateMemory,
  pending: readonly Intent[],
  { unshown }: View,
  now: number,
): Waits => {
  const absent = abandonedAdds(memory).filter(({ failure }) => now < failure!.retryAt);
  const comingWaits: readonly Wait[] = [
    ...pending.map(({ after: sent }) => ({
      sent,
      until: null,
      message: 'an add was sent, and its outcome is not known yet',
    })),
    ...absent.map(({ wanted, failure }) => ({
      sent: wanted,
      until: failure!.retryAt,
      message: failure!.message,
    })),
  ];
  const waits = [...comingWaits, ...unlistedWaits(memory, unshown)];
  if (waits.length === 0) return { ...none, blockOfUnshown: blockOfUnshown(unshown) };
  const names = groupBy(waits, ({ sent }) => canonicalName(sent.name));
  return {
    coming: comingWaits.map(({ sent }) => sent),
    blockOfAdd: (desired) => {
      const own = waits.find(({ sent }) => recordKey(entryOf(sent)) === recordKey(desired));
      const ofSet = waits.find(({ sent }) => setKey(entryOf(sent)) === setKey(desired));
      return blockBy(own ?? ofSet ?? waits[0]!, desired);
    },
    blockOfName: (desired) => {
      const wait = names.get(desired.name)?.[0];
      return wait ? blockBy(wait, desired) : null;
    },
    blockOfUnshown: blockOfUnshown(unshown),
  };
};

const unlistedWaits = (memory: TemplateMemory, unshown: View['unshown']): Wait[] =>
  [...(unshown ?? [])].flatMap(([id, { isAdd, until }]) => {
    const known = memory.view.byId.get(id);
    return isAdd && known
      ? [{ sent: known.desired, until, message: `no listing shows record ${id} yet` }]
      : [];
  });

/** Another add is promised no time: it goes on as soon as the one that it waits for is shown. */
const blockBy = ({ sent, until, message }: Wait, desired: DesiredEntry): Block => {
  const isOwn = recordKey(entryOf(sent)) === recordKey(desired);
  const retryAt = until === null ? null : new Date(until).toISOString();
  if (!isOwn) {
    const end = retryAt === null ? 'once that is known' : `once it is shown, or after ${retryAt}`;
    const what = `an add of ${describe(sent)} may still take effect (${message})`;
    return { reason: 'pending-write', message: `${what}: this record is added ${end}` };
  }
  return retryAt === null
    ? { reason: 'pending-write', message }
    : { reason: 'pending-write', message: `${message}; not tried again before ${retryAt}`, retryAt };
};

const blockOfUnshown =
  (unshown: View['unshown']) =>
  (id: number, isInSync: boolean): Block | null => {
    const one = unshown?.get(id);
    if (!one || (!one.isAdd && !isInSync)) return null;
    const written = `record ${id} was ${one.isAdd ? 'added' : 'changed'} at ${new Date(one.at).toISOString()}`;
    const retryAt = new Date(one.until).toISOString();
    const message = `${written}, and the listing does not show it yet; it is written again if no listing shows it before ${retryAt}`;
    return { reason: 'pending-write', message, retryAt };
  };

const none = { coming: [], blockOfAdd: () => null, blockOfName: () => null } as const;

const describe = ({ type, name, content }: RecordData): string => `${name ?? '@'} ${type} ${content}`;
