import type { RecordData } from '../model/record.ts';
import { entryOf, recordKey, type DesiredKeys } from '../plan/entry.ts';
import { isOfDesired, type PlanMemory } from '../plan/memory.ts';
import type {
  MemoryChanges,
  RecordState,
  SavedRecord,
  StoredTemplate,
  TemplateRow,
} from '../state/memory.ts';

/** What is remembered of one template, besides its journal. Immutable: `remember` makes the next one. */
export interface TemplateMemory extends PlanMemory {
  readonly row: TemplateRow;
  readonly records: ReadonlyMap<string, RecordState>;
  readonly byId: ReadonlyMap<number, RecordState>;
}

export type MemoryChange = (draft: Draft) => void;

/** The only function that changes it; the same object if nothing is new. `desiredKeys`: of the file. */
export const remember = (
  memory: TemplateMemory,
  change: MemoryChange,
  desiredKeys: DesiredKeys,
): TemplateMemory => {
  const draft = new Draft(memory, desiredKeys);
  change(draft);
  return draft.result();
};

export const withRow =
  (changes: Partial<TemplateRow>): MemoryChange =>
  (draft) =>
    draft.setRow(changes);

/** An answer, or a subdomain, shows records that no listing has shown. */
export const shownElsewhere =
  (ids: readonly number[]): MemoryChange =>
  (draft) =>
    draft.setRow({ unlistedIds: [...new Set([...draft.row.unlistedIds, ...ids])].slice(-mostUnlisted) });

/** One is enough to hold the adds; the others are for the message. */
const mostUnlisted = 1_000;

export const openMemory = (
  stored: StoredTemplate | null,
  identity: Pick<TemplateRow, 'templateId' | 'template' | 'file'>,
): TemplateMemory => {
  const records = new Map(
    (stored?.records ?? []).map((record) => [record.key, { ...unknownRecord, ...record }]),
  );
  const row = { ...emptyRow, ...stored?.row, ...identity };
  return memoryOf(row, records, byIdOf(records));
};

/** Of a template that nothing is remembered of. */
export const emptyRow = {
  suspectIds: null,
  preexistingIds: null,
  otherIds: [],
  unlistedIds: [],
  lastReading: null,
  lastWriteAt: null,
  reportedDrift: [],
} as const;

const byIdOf = (records: ReadonlyMap<string, RecordState>): Map<number, RecordState> =>
  new Map(
    [...records.values()].flatMap((record) => (record.recordId === null ? [] : [[record.recordId, record]])),
  );

const memoryOf = (
  row: TemplateRow,
  records: ReadonlyMap<string, RecordState>,
  byId: ReadonlyMap<number, RecordState>,
): TemplateMemory => ({
  row,
  records,
  byId,
  hasBeenRead: row.preexistingIds !== null,
  preexistingIds: setOf(row.preexistingIds ?? noIds),
  otherIds: setOf(row.otherIds),
});

const noIds: readonly number[] = [];

const setOf = (ids: readonly number[]): ReadonlySet<number> => {
  const known = idSets.get(ids) ?? new Set(ids);
  idSets.set(ids, known);
  return known;
};

/** A template may have tens of thousands. */
const idSets = new WeakMap<readonly number[], ReadonlySet<number>>();

/** What has to be saved, so that the store has it as it is now; null if that is nothing. */
export const changesSince = (
  saved: TemplateMemory | null,
  now: TemplateMemory,
): Pick<MemoryChanges, 'row' | 'records' | 'forgotten'> | null => {
  if (saved === now) return null;
  const before = saved?.records ?? new Map<string, RecordState>();
  return {
    row: now.row,
    records: [...now.records.values()]
      .filter((record) => before.get(record.key) !== record)
      .map(withoutUnknown),
    forgotten: [...before.keys()].filter((key) => !now.records.has(key)),
  };
};

const withoutUnknown = (record: RecordState): SavedRecord => {
  const unknown: Readonly<Record<string, unknown>> = unknownRecord;
  const known = Object.entries(record).filter(([field, value]) => unknown[field] !== value);
  return { key: record.key, wanted: record.wanted, ...Object.fromEntries(known) };
};

/** Adds of one record, or lost ones of a record set, after which a person has to allow another one. */
export const mostAdds = 2;

export class Draft {
  readonly #before: TemplateMemory;
  readonly desiredKeys: DesiredKeys;
  #records: Map<string, RecordState> | null = null;
  #byId: Map<number, RecordState> | null = null;
  row: TemplateRow;

  constructor(memory: TemplateMemory, desiredKeys: DesiredKeys) {
    this.#before = memory;
    this.row = memory.row;
    this.desiredKeys = desiredKeys;
  }

  get records(): ReadonlyMap<string, RecordState> {
    return this.#records ?? this.#before.records;
  }

  /** As they are now: they may change meanwhile. */
  all(): RecordState[] {
    return [...this.records.values()];
  }

  get byId(): ReadonlyMap<number, RecordState> {
    return this.#byId ?? this.#before.byId;
  }

  /** For a record that is not known yet, with what it is wanted as. */
  get(key: string, wanted: RecordData): RecordState {
    return this.records.get(key) ?? { key, wanted, ...unknownRecord };
  }

  /** One id belongs to one record: any other loses it, for the given cause if the file lists it. */
  put(record: RecordState, cause: 'drifted' | 'edited' = 'drifted'): void {
    if (this.records.get(record.key) === record) return;
    this.#copy();
    const { key, recordId: id } = record;
    const other = id === null ? undefined : this.byId.get(id);
    this.forget(key);
    if (other && other.key !== key) this.#loseId(other, key, cause);
    this.#records!.set(key, record);
    if (id !== null) this.#byId!.set(id, record);
  }

  forget(key: string): void {
    const known = this.records.get(key);
    if (!known) return;
    this.#copy();
    this.#records!.delete(key);
    if (known.recordId !== null && this.byId.get(known.recordId)?.key === key)
      this.#byId!.delete(known.recordId);
  }

  setRow(changes: Partial<TemplateRow>): void {
    const row: Readonly<Record<string, unknown>> = { ...this.row };
    const isNew = ([field, value]: readonly [string, unknown]): boolean =>
      value !== row[field] && JSON.stringify(value) !== JSON.stringify(row[field]);
    if (Object.entries(changes).some(isNew)) this.row = { ...this.row, ...changes };
  }

  result(): TemplateMemory {
    if (this.#records === null && this.row === this.#before.row) return this.#before;
    return memoryOf(this.row, this.records, this.byId);
  }

  /** `key`: of the record that its id belongs to now. */
  #loseId(other: RecordState, key: string, cause: 'drifted' | 'edited'): void {
    this.forget(other.key);
    if (!isOfDesired(other.key) || (!this.desiredKeys.has(other.key) && other.lostAdds === 0)) return;
    const { adds, lostAdds, stored, failure, rewritten } = other;
    // The service has turned it into that record: another add would do the same again.
    const isOfTheService = rewritten !== null && recordKey(entryOf(rewritten.stored)) === key;
    this.#records!.set(other.key, {
      ...other,
      ...unknownRecord,
      adds,
      lostAdds,
      stored,
      failure,
      rewritten: isOfTheService ? rewritten : null,
      cause,
    });
  }

  #copy(): void {
    this.#records ??= new Map(this.#before.records);
    this.#byId ??= new Map(this.#before.byId);
  }
}

export const unknownRecord = {
  recordId: null,
  seen: null,
  keptName: null,
  isOnlyCounted: false,
  isAdopted: false,
  displaced: null,
  cause: null,
  adds: 0,
  lostAdds: 0,
  stored: null,
  rewritten: null,
  failure: null,
} as const;
