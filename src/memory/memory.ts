import type { RecordData } from '../model/record.ts';
import type { Cause } from '../plan/difference.ts';
import { isTentative, type Displaced, type KnownRecord, type PlanMemory } from '../plan/memory.ts';
import type { MemoryChanges, RecordState, StoredTemplate, TemplateRow } from '../state/memory.ts';

/** The saved state of one template. Immutable: `edit` makes the next one. */
export interface TemplateMemory {
  readonly row: TemplateRow;
  /** By `recordKey`, or `parkedKey` once parked. */
  readonly records: ReadonlyMap<string, RecordState>;
  /** The same, for a plan. */
  readonly view: PlanMemory;
  /** Ids of copies that adds of known records made. */
  readonly copyIds: ReadonlySet<number>;
  /** What is not saved yet. */
  readonly unsaved: { readonly row: boolean; readonly keys: ReadonlySet<string> };
}

/** The state after a change; the same object if nothing changed. */
export const edit = (memory: TemplateMemory, change: (draft: MemoryDraft) => void): TemplateMemory => {
  const draft = new MemoryDraft(memory);
  change(draft);
  return draft.result();
};

export const openMemory = (
  stored: StoredTemplate | null,
  row: Pick<TemplateRow, 'templateId' | 'template' | 'file'>,
): TemplateMemory => {
  const isKnown = stored?.row.template === row.template && stored.row.file === row.file;
  const draft = new MemoryDraft({
    row: { suspectIds: null, strangers: null, lastWriteAt: null, ...stored?.row, ...row },
    records: new Map(),
    view: viewOf(stored?.row.strangers ?? null),
    copyIds: new Set(),
    unsaved: { row: !isKnown, keys: new Set() },
  });
  for (const record of stored?.records ?? []) draft.load(record);
  return draft.result();
};

export const isUnsaved = ({ unsaved }: TemplateMemory): boolean => unsaved.row || unsaved.keys.size > 0;

/** What has to be saved; the row is saved with every change. */
export const changesOf = ({ row, records, unsaved }: TemplateMemory): MemoryChanges => ({
  row,
  records: [...unsaved.keys].flatMap((key) => records.get(key) ?? []),
  forgotten: [...unsaved.keys].filter((key) => !records.has(key)),
});

/** The same, as the store holds it. */
export const asSaved = (memory: TemplateMemory): TemplateMemory => ({
  ...memory,
  unsaved: { row: false, keys: new Set() },
});

/** The saved state of the record with this id. */
export const recordOfId = ({ records, view }: TemplateMemory, id: number): RecordState | undefined => {
  const known = view.byId.get(id);
  return known && records.get(known.key);
};

/** Whether the id belongs to a desired record, or was meant to. */
export const isKnownId = ({ view, copyIds }: TemplateMemory, id: number): boolean =>
  view.byId.has(id) || isTentative(view, id) || copyIds.has(id);

/** Whether a reading or a write of ours is remembered of the id. */
export const isRemembered = (memory: TemplateMemory, id: number): boolean => {
  const { preexistingIds, hasBeenRead } = memory.view;
  const { others, highestId = Infinity } = memory.row;
  if (isKnownId(memory, id) || preexistingIds.has(id)) return true;
  return others === undefined ? hasBeenRead && id <= highestId : setOf(others).has(id);
};

const setOf = (ids: readonly number[]): ReadonlySet<number> => {
  const known = idSets.get(ids) ?? new Set(ids);
  idSets.set(ids, known);
  return known;
};

const idSets = new WeakMap<readonly number[], ReadonlySet<number>>();

/** The adds of unknown outcome that no reading shows. */
export const abandonedAdds = ({ records }: TemplateMemory): RecordState[] =>
  [...records.values()].filter(({ failure }) => failure?.kind === 'unknown');

/** The id in a `parkedKey`; null of other keys. */
export const parkedIdOf = (key: string): number | null => (key.startsWith('#') ? Number(key.slice(1)) : null);

/** The state of a record that nothing is known of. Node.js 20 is slow where a key is added after a spread, so all are here. */
export const unknownRecord = (key: string, wanted: RecordData): RecordState => ({
  key,
  recordId: null,
  wanted,
  seen: null,
  ...nothingKnown,
});

/** What is the same for every unknown record. */
export const nothingKnown = {
  adds: 0,
  copies: [],
  displaced: null,
  stored: null,
  rewritten: null,
  failure: null,
  cause: null,
} as const;

const viewOf = (strangers: readonly number[] | null): PlanMemory => ({
  hasBeenRead: strangers !== null,
  byKey: new Map(),
  byId: new Map(),
  tentative: new Map(),
  displaced: new Map(),
  causes: new Map(),
  preexistingIds: new Set(strangers),
});

/** Builds the next state within one `edit`; the previous one is not changed. */
export class MemoryDraft {
  #memory: TemplateMemory;
  #records = new Map<string, RecordState>();
  #byKey = new Map<string, KnownRecord>();
  #byId = new Map<number, KnownRecord>();
  #tentative = new Map<string, KnownRecord>();
  #displaced = new Map<number, Displaced>();
  #causes = new Map<string, Cause>();
  #copyIds = new Set<number>();
  #keys = new Set<string>();
  #isOwn = false;

  constructor(memory: TemplateMemory) {
    this.#memory = memory;
  }

  /** As it stands now. */
  get now(): TemplateMemory {
    return this.#memory;
  }

  get(key: string): RecordState | undefined {
    return this.#memory.records.get(key);
  }

  ofId(id: number): RecordState | undefined {
    return recordOfId(this.#memory, id);
  }

  put(given: RecordState): void {
    const isSameId = this.get(given.key)?.recordId === given.recordId;
    this.load(isSameId || given.missedAt == null ? given : { ...given, missedAt: null });
    this.#keys.add(given.key);
  }

  /** As the store holds it. */
  load(record: RecordState): void {
    this.#copyOnce();
    this.#unindex(record.key);
    this.#records.set(record.key, record);
    this.#index(record);
  }

  forget(key: string): void {
    if (!this.#memory.records.has(key)) return;
    this.#copyOnce();
    this.#records.delete(key);
    this.#unindex(key);
    this.#keys.add(key);
  }

  setRow(changes: Partial<TemplateRow>): void {
    const { view, unsaved, row: before } = this.#memory;
    const row = { ...before, ...changes };
    const { strangers } = row;
    // Changes that a plan does not see keep the same view object.
    const isSame = strangers === before.strangers;
    this.#memory = {
      ...this.#memory,
      row,
      view: isSame ? view : { ...view, hasBeenRead: strangers !== null, preexistingIds: new Set(strangers) },
      unsaved: { ...unsaved, row: true },
    };
  }

  result(): TemplateMemory {
    return this.#memory;
  }

  #copyOnce(): void {
    if (this.#isOwn) return;
    this.#isOwn = true;
    const { records, view, copyIds, unsaved } = this.#memory;
    this.#records = new Map(records);
    this.#byKey = new Map(view.byKey);
    this.#byId = new Map(view.byId);
    this.#tentative = new Map(view.tentative);
    this.#displaced = new Map(view.displaced);
    this.#causes = new Map(view.causes);
    this.#copyIds = new Set(copyIds);
    this.#keys = new Set(unsaved.keys);
    this.#memory = {
      ...this.#memory,
      records: this.#records,
      view: {
        ...view,
        byKey: this.#byKey,
        byId: this.#byId,
        tentative: this.#tentative,
        displaced: this.#displaced,
        causes: this.#causes,
      },
      copyIds: this.#copyIds,
      unsaved: { ...unsaved, keys: this.#keys },
    };
  }

  #index(record: RecordState): void {
    const { key, recordId: id, copies = [], wanted, seen, keptName, cause } = record;
    if (cause !== null) this.#causes.set(key, cause);
    if (id === null) return;
    if (record.displaced) this.#displaced.set(id, record.displaced);
    const spelling = keptName === undefined ? {} : { keptName };
    const known = { id, copies, key, desired: wanted, seen: seen ?? wanted, ...spelling };
    if (isTentativeBinding(record)) this.#tentative.set(key, known);
    else {
      this.#byKey.set(key, known);
      this.#byId.set(id, known);
      for (const copy of copies) this.#copyIds.add(copy);
    }
  }

  #unindex(key: string): void {
    const known = this.#byKey.get(key);
    if (known && this.#byId.get(known.id)?.key === key) this.#byId.delete(known.id);
    for (const copy of known?.copies ?? []) this.#copyIds.delete(copy);
    this.#displaced.delete(parkedIdOf(key) ?? -1);
    this.#byKey.delete(key);
    this.#tentative.delete(key);
    this.#causes.delete(key);
  }
}

/** The cause of a difference, until both sides agree; after a reverted park, the cause of the park. */
const isTentativeBinding = ({ key, cause }: RecordState): boolean =>
  cause !== null && parkedIdOf(key) === null;
