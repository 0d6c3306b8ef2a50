import { canonicalRecord, sameData } from '../model/canonical.ts';
import type { ActualRecord, RecordData } from '../model/record.ts';
import type { Cause } from './difference.ts';
import { mayBeOneOf } from './like.ts';
import { isParkedName } from './parked.ts';

/** What was last agreed on between the file and the service about one record, by its id. */
export interface KnownRecord {
  readonly id: number;
  /** Ids of other records that its adds made: while one of them exists, nothing more is added. */
  readonly copies: readonly number[];
  /** `recordKey` of the desired record that this id belongs to, or its `parkedKey`. */
  readonly key: string;
  readonly desired: RecordData;
  readonly seen: RecordData;
  /** Its canonical name in the answer to a write of it; absent if no answer showed it. */
  readonly keptName?: string;
}

/** What a record was before it was parked. */
export interface Displaced {
  /** `recordKey` of the desired record that it made way for; its own `parkedKey` if there is none. */
  readonly key: string;
  /** The desired record that it belonged to. */
  readonly own: { readonly key: string; readonly wanted: RecordData } | null;
  readonly was: RecordData;
  readonly cause: Cause;
}

/** The key of a parked record, instead of a `recordKey`. */
export const parkedKey = (id: number): string => `#${id}`;

/** What a plan knows of a template's past. */
export interface PlanMemory {
  /** Whether this template has been read before. */
  readonly hasBeenRead: boolean;
  readonly byKey: ReadonlyMap<string, KnownRecord>;
  readonly byId: ReadonlyMap<number, KnownRecord>;
  /**
   * Tentative bindings, by `recordKey`: an update of unknown outcome was sent to make this record the desired one.
   * With the data from before.
   */
  readonly tentative: ReadonlyMap<string, KnownRecord>;
  /** Ids that existed at first contact and belonged to no record of the file. */
  readonly preexistingIds: ReadonlySet<number>;
  /** By the id of a parked record that made way, or that kept its name. */
  readonly displaced: ReadonlyMap<number, Displaced>;
  /** By `recordKey`: the first known cause of a record without an id. */
  readonly causes: ReadonlyMap<string, Cause>;
}

export const noMemory: PlanMemory = {
  hasBeenRead: false,
  byKey: new Map(),
  byId: new Map(),
  tentative: new Map(),
  displaced: new Map(),
  causes: new Map(),
  preexistingIds: new Set(),
};

/** The binding of an actual record: its tentative one once it shows that data, else the last agreed one. */
export const knownOf = ({ byId, tentative }: PlanMemory, record: ActualRecord): KnownRecord | undefined => {
  for (const binding of tentative.values())
    if (binding.id === record.id && shows(record, binding)) return binding;
  return byId.get(record.id);
};

/** Whether a record was parked but kept its name, since the service did not accept the other one. */
export const keptItsName = ({ byId, displaced }: PlanMemory, record: ActualRecord): boolean => {
  const known = byId.get(record.id);
  const was = displaced.get(record.id)?.was;
  if (!was || known?.key !== parkedKey(record.id) || !sameData(known.seen, record)) return false;
  const { name, content } = canonicalRecord(record);
  return !isParkedName(name) && content !== canonicalRecord(was).content;
};

/** Whether an update of unknown outcome was sent to make this record a desired one. */
export const isTentative = ({ tentative }: PlanMemory, id: number): boolean => {
  for (const binding of tentative.values()) if (binding.id === id) return true;
  return false;
};

/** A service may store its own spelling of a name, keep the name as it was, or store another TTL. */
const shows = (record: ActualRecord, { desired, seen }: KnownRecord): boolean => {
  const is = canonicalRecord(record);
  const sent = canonicalRecord(desired);
  const was = canonicalRecord(seen);
  if (is.content !== sent.content || sameData(seen, record)) return false;
  return is.name === was.name || mayBeOneOf(new Set([sent.name]))(is.name);
};
