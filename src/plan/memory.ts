import { canonicalName, canonicalRecord, sameData } from '../model/canonical.ts';
import type { ActualRecord, RecordData } from '../model/record.ts';
import type { Cause } from './difference.ts';
import { isParkedName } from './parked.ts';

/** What was last agreed on between the file and the service about one record. */
export interface KnownRecord {
  /** `recordKey` of the desired record, or its `parkedKey`, or a `copyKey`. */
  readonly key: string;
  /** The id of the actual record. */
  readonly recordId: number | null;
  /** Both sides as they last agreed, or as they were first seen. */
  readonly wanted: RecordData;
  readonly seen: RecordData | null;
  /** Its canonical name in the answer to a write of it; null if no answer showed it. */
  readonly keptName: string | null;
  /** It may be somebody else's: it counts as the desired record, and is not changed. */
  readonly isOnlyCounted: boolean;
  /** The file never listed it, and it was parked with `adopt: true`. */
  readonly isAdopted: boolean;
  /** Adds of it that were sent and that no reading has shown, since a person last allowed a retry. */
  readonly lostAdds: number;
  /** What it was before it was parked to make way, or parked without getting the name of parked records. */
  readonly displaced: Displaced | null;
  /** The first cause of the difference; null once both sides agreed. After a park that left or gave it back its name, that of the park. */
  readonly cause: Cause | null;
}

/** What a record was before it was parked. */
export interface Displaced {
  readonly was: RecordData;
  readonly cause: Cause;
}

/** The key of a parked record, instead of a `recordKey`. */
export const parkedKey = (id: number): string => `#${id}`;

/** The id in a `parkedKey`; NaN for other keys. */
export const parkedIdIn = (key: string): number => (key.startsWith('#') ? Number(key.slice(1)) : Number.NaN);

/** The key of another record that an add of ours made. */
export const copyKey = (id: number): string => `=${id}`;

/** Whether the key is a `recordKey`. */
export const isOfDesired = (key: string): boolean => !key.startsWith('#') && !key.startsWith('=');

/** What a plan knows of a template's past. */
export interface PlanMemory {
  /** Whether this template has been read before. */
  readonly hasBeenRead: boolean;
  /** By key, also records without an id. */
  readonly records: ReadonlyMap<string, KnownRecord>;
  readonly byId: ReadonlyMap<number, KnownRecord>;
  /** Ids that existed at first contact and belonged to no record of the file. */
  readonly preexistingIds: ReadonlySet<number>;
  /** Ids that readings have shown since, and that belong to none. */
  readonly otherIds: ReadonlySet<number>;
}

export const noMemory: PlanMemory = {
  hasBeenRead: false,
  records: new Map(),
  byId: new Map(),
  preexistingIds: new Set(),
  otherIds: new Set(),
};

/** Whether a reading or a write of ours is remembered of the id. */
export const isRemembered = ({ byId, preexistingIds, otherIds }: PlanMemory, id: number): boolean =>
  byId.has(id) || preexistingIds.has(id) || otherIds.has(id);

/** Whether the record may be put to another use: it is or was of the file, by more than its number, or is parked. */
export const isOwn = ({ byId }: PlanMemory, { id, name }: ActualRecord): boolean => {
  const known = byId.get(id);
  return known?.isOnlyCounted === false && (!known.isAdopted || isParkedName(canonicalName(name)));
};

/** Whether it counts as a record of the file, and may be somebody else's. */
export const isCounted = ({ byId }: PlanMemory, { id }: ActualRecord): boolean => {
  const known = byId.get(id);
  return known?.isOnlyCounted === true && isOfDesired(known.key);
};

/** Whether a record was parked but kept its name, since the service did not accept the other one. */
export const keptItsName = ({ byId }: PlanMemory, record: ActualRecord): boolean => {
  const known = byId.get(record.id);
  const was = known?.displaced?.was;
  if (!was || known?.key !== parkedKey(record.id) || !sameData(known.seen ?? was, record)) return false;
  const { name, content } = canonicalRecord(record);
  // What had inert content before is as it was.
  return !isParkedName(name) && content !== canonicalRecord(was).content;
};
