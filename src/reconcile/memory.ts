import { canonicalName, sameData } from '../model/canonical.ts';
import { dataOf, type ActualRecord, type RecordData } from '../model/record.ts';
import type { ActualTemplate } from '../model/template.ts';
import { backoffDelay } from '../lib/backoff.ts';
import { idsIn } from '../lib/id-ranges.ts';
import { entryOf, recordKey, type Pair } from '../plan/entry.ts';
import {
  copyKey,
  isOfDesired,
  keptItsName,
  parkedKey,
  type Displaced,
  type PlanMemory,
} from '../plan/memory.ts';
import { isParkedName, parkedForm } from '../plan/parked.ts';
import type { TemplatePlan } from '../plan/plan.ts';
import { isNamed, isRespelled } from '../plan/spelling.ts';
import { isPark } from '../plan/step.ts';
import type {
  Entry,
  Failure,
  Instant,
  MemoryChanges,
  RecordState,
  SavedRecord,
  StoredTemplate,
  TemplateRow,
} from '../state/memory.ts';
import type { Outcome } from './journal.ts';

/** What is remembered of one template, besides its journal. Immutable: `remember` makes the next one. */
export interface TemplateMemory extends PlanMemory {
  readonly row: TemplateRow;
  readonly records: ReadonlyMap<string, RecordState>;
  readonly byId: ReadonlyMap<number, RecordState>;
}

/** What happens that is remembered. */
export type MemoryEvent =
  /** An answer or a reading decided what became of a write. `view`: what it shows. */
  | {
      readonly type: 'outcome';
      readonly outcome: Outcome;
      readonly view: ActualTemplate;
      readonly at: Instant;
    }
  /** An answer, or a subdomain, shows records that no listing has shown. */
  | { readonly type: 'shown-elsewhere'; readonly ids: readonly number[] }
  /** A plan of a settled template, at the end of a pass. `isGone`: two readings lack the id. */
  | {
      readonly type: 'observed';
      readonly plan: TemplatePlan;
      readonly view: ActualTemplate;
      readonly isGone: (id: number) => boolean;
    }
  /** A later write of the pass undid a value. */
  | { readonly type: 'undone'; readonly key: string; readonly sent: RecordData; readonly stored: RecordData }
  /** A person lifts every obstacle. */
  | { readonly type: 'retry' }
  | { readonly type: 'row'; readonly changes: Partial<TemplateRow> };

/** The only function that changes it; the same object if nothing is new. `desiredKeys`: of the file. */
export const remember = (
  memory: TemplateMemory,
  event: MemoryEvent,
  desiredKeys: ReadonlySet<string>,
): TemplateMemory => {
  const draft = new Draft(memory, desiredKeys);
  switch (event.type) {
    case 'outcome':
      takeOutcome(draft, event.outcome, event.view, event.at);
      break;
    case 'shown-elsewhere':
      draft.setRow({
        unlistedIds: [...new Set([...draft.row.unlistedIds, ...event.ids])].slice(-mostUnlisted),
      });
      break;
    case 'observed':
      observe(draft, event);
      break;
    case 'undone':
      draft.put({
        ...draft.get(event.key, event.sent),
        rewritten: { sent: event.sent, stored: event.stored },
      });
      break;
    case 'retry':
      liftObstacles(draft);
      break;
    case 'row':
      draft.setRow(event.changes);
      break;
  }
  return draft.result();
};

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

class Draft {
  readonly #before: TemplateMemory;
  readonly desiredKeys: ReadonlySet<string>;
  #records: Map<string, RecordState> | null = null;
  #byId: Map<number, RecordState> | null = null;
  #hasDisplaced: boolean | null = null;
  row: TemplateRow;

  constructor(memory: TemplateMemory, desiredKeys: ReadonlySet<string>) {
    this.#before = memory;
    this.row = memory.row;
    this.desiredKeys = desiredKeys;
  }

  /** Whether any record was parked to make way. */
  get hasDisplaced(): boolean {
    return (this.#hasDisplaced ??= [...this.#before.records.values()].some(
      ({ displaced }) => displaced !== null,
    ));
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
    const row = { ...this.row, ...changes };
    if (JSON.stringify(row) !== JSON.stringify(this.row)) this.row = row;
  }

  result(): TemplateMemory {
    if (this.#records === null && this.row === this.#before.row) return this.#before;
    return memoryOf(this.row, this.records, this.byId);
  }

  /** `key`: of the record that its id belongs to now. */
  #loseId(other: RecordState, key: string, cause: 'drifted' | 'edited'): void {
    this.forget(other.key);
    if (!isOfDesired(other.key) || (!this.desiredKeys.has(other.key) && other.lostAdds === 0)) return;
    const { adds, lostAdds, failure, rewritten } = other;
    // The service has turned it into that record: another add would do the same again.
    const isOfTheService = rewritten !== null && recordKey(entryOf(rewritten.stored)) === key;
    this.#records!.set(other.key, {
      ...other,
      ...unknownRecord,
      adds,
      lostAdds,
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

const unknownRecord = {
  recordId: null,
  seen: null,
  keptName: null,
  isOnlyCounted: false,
  displaced: null,
  cause: null,
  adds: 0,
  lostAdds: 0,
  stored: null,
  rewritten: null,
  failure: null,
} as const;

const takeOutcome = (draft: Draft, outcome: Outcome, view: ActualTemplate, at: Instant): void => {
  const { entry } = outcome;
  switch (outcome.kind) {
    case 'accepted':
      draft.setRow({ lastWriteAt: entry.sentAt.now });
      if (entry.action === 'add') takeAdd(draft, outcome, view);
      else if (entry.action === 'update') takeUpdate(draft, entry, outcome.record);
      else if (isUndoing(entry)) takeRestored(draft, entry, outcome.record);
      else takeParked(draft, entry, outcome.record);
      takeCopies(draft, entry, outcome.copies);
      break;
    case 'lost':
      if (entry.action === 'add') loseAdd(draft, entry);
      else fail(draft, entry, 'lost', entry.error ?? lostText, at);
      break;
    case 'refused':
      fail(draft, entry, 'refused', entry.error ?? '', at);
      break;
  }
};

const lostText = 'its outcome was unknown, and no listing shows it';

/** Whether it puts a parked record back. */
const isUndoing = ({ key }: Entry): boolean => key.endsWith(' back');

const takeAdd = (
  draft: Draft,
  { entry, record, wasLost }: Extract<Outcome, { kind: 'accepted' }>,
  view: ActualTemplate,
): void => {
  const known = draft.get(entry.key, entry.after);
  const { recordId } = known;
  const isRebound = recordId !== null && known.isOnlyCounted && recordId !== record.id;
  const isCounted = wasLost && known.lostAdds > 0;
  const adds = known.adds + (isCounted || isRebound ? 0 : 1);
  const lostAdds = known.lostAdds - (isCounted ? 1 : 0);
  const bound = recordId === record.id ? undefined : view.records.find(({ id }) => id === recordId);
  if (bound && recordKey(entryOf(bound)) === entry.key) {
    draft.put({ ...known, adds, lostAdds });
    takeCopies(draft, entry, [record]);
    return;
  }
  draft.put({
    ...known,
    ...valuesAfter(known, entry, record),
    adds,
    lostAdds,
    isOnlyCounted: entry.isOnlyCounted,
  });
  settleDisplaced(draft, entry.key);
};

const takeUpdate = (draft: Draft, entry: Entry, record: ActualRecord): void => {
  const before = draft.byId.get(record.id);
  const known = draft.get(entry.key, entry.after);
  const values = valuesAfter(known, entry, record);
  const isOfName =
    before !== undefined && canonicalName(before.wanted.name) === canonicalName(entry.after.name);
  const keptName = values.keptName ?? (isOfName ? before.keptName : null);
  // What the file had dropped when it was sent: if it lists that again, that is an edit.
  draft.put({ ...known, ...values, keptName, isOnlyCounted: false }, 'edited');
  settleDisplaced(draft, entry.key);
};

/** What both sides are after the service accepted a value of the file. */
const valuesAfter = (
  known: RecordState,
  { after, sentAt }: Entry,
  record: ActualRecord,
): Partial<RecordState> => ({
  wanted: after,
  recordId: record.id,
  seen: dataOf(record),
  keptName: keptNameOf(after, record),
  stored: storedAgain(known, after, sentAt.now),
  rewritten: isAsSent(after, record) ? null : { sent: after, stored: dataOf(record) },
  failure: null,
  displaced: null,
  cause: null,
});

/** The service's spelling of a name; null if somebody else gave the record another one. */
const keptNameOf = (wanted: RecordData, record: RecordData): string | null => {
  const name = canonicalName(record.name);
  return isNamed(canonicalName(wanted.name), name) ? name : null;
};

const isAsSent = (sent: RecordData, record: RecordData): boolean =>
  recordKey(entryOf(sent)) === recordKey(entryOf(record)) && (sent.ttl === null || sent.ttl === record.ttl);

/** The last three times at which the service accepted the same value. */
const storedAgain = ({ stored }: RecordState, sent: RecordData, at: number): RecordState['stored'] => {
  const times = stored && sameData(stored.sent, sent) ? stored.at : [];
  return { sent, at: [...times, at].slice(-3) };
};

const takeCopies = (draft: Draft, { after }: Entry, copies: readonly ActualRecord[]): void => {
  for (const record of copies) {
    const key = copyKey(record.id);
    draft.put({ ...draft.get(key, after), recordId: record.id, seen: dataOf(record), isOnlyCounted: true });
  }
};

const takeParked = (draft: Draft, entry: Entry, record: ActualRecord): void => {
  const key = parkedKey(record.id);
  const known = draft.byId.get(record.id);
  const isOut = isParkedName(canonicalName(record.name));
  const madeWayFor = entry.makesWayFor ?? (isOut ? null : key);
  const values = dataOf(record);
  draft.put({
    ...draft.get(key, values),
    ...unknownRecord,
    key,
    wanted: values,
    recordId: record.id,
    seen: values,
    stored: storedAgain(draft.get(key, values), entry.after, entry.sentAt.now),
    rewritten: isOut ? null : { sent: entry.after, stored: values },
    displaced: madeWayFor === null ? null : displacedBy(known, entry, madeWayFor),
  });
};

/** The record before its park. It is restored with the name for which the service stored the current one. */
const displacedBy = (known: RecordState | undefined, { before, cause }: Entry, key: string): Displaced => {
  const own = known && isOfDesired(known.key) ? { key: known.key, wanted: known.wanted } : null;
  const isNamedByService = known?.keptName != null && known.keptName === canonicalName(before!.name);
  // Without a name it could not be restored.
  const name = (isNamedByService ? known.wanted.name : null) ?? before!.name;
  return { key, own, was: { ...before!, name }, cause };
};

/** With its previous binding. A record that kept its name when it was parked is not parked again. */
const takeRestored = (draft: Draft, { before, after, cause }: Entry, record: ActualRecord): void => {
  const key = parkedKey(record.id);
  const own = draft.byId.get(record.id)?.displaced?.own ?? null;
  const wasKept = !isParkedName(canonicalName(before!.name));
  const stored = dataOf(record);
  const { type } = entryOf(record);
  const wanted = own?.wanted ?? after;
  draft.forget(key);
  draft.put({
    ...draft.get(own?.key ?? key, wanted),
    recordId: record.id,
    seen: stored,
    keptName: keptNameOf(wanted, record),
    rewritten: wasKept ? { sent: parkedForm(record, type), stored } : null,
    // It is out of place for the same reason as before.
    cause: own ? null : cause,
    displaced: null,
    failure: null,
  });
};

/** A record that made way for one that is there stays parked. */
const settleDisplaced = (draft: Draft, key: string): void => {
  if (!draft.hasDisplaced) return;
  for (const record of draft.all())
    if (record.displaced?.key === key) draft.put({ ...record, displaced: null });
};

const loseAdd = (draft: Draft, entry: Entry): void => {
  const isKnown = draft.records.has(entry.key);
  const known = draft.get(entry.key, entry.after);
  draft.put({
    ...known,
    adds: known.adds + 1,
    lostAdds: known.lostAdds + 1,
    cause: isKnown ? known.cause : entry.cause,
  });
  // What stood before it was sent is not what it made.
  const before = idsIn(entry.idsBefore).filter((id) => !draft.byId.has(id));
  draft.setRow({ otherIds: [...new Set([...draft.row.otherIds, ...before])] });
};

const fail = (draft: Draft, entry: Entry, kind: Failure['kind'], message: string, at: Instant): void => {
  const own =
    entry.recordId === null || entry.action === 'update' ? undefined : draft.byId.get(entry.recordId);
  const isKnown = own !== undefined || draft.records.has(entry.key);
  const known = own ?? draft.get(entry.key, entry.before ?? entry.after);
  const isRepeated = known.failure?.kind === kind && sameData(known.failure.sent, entry.after);
  const count = isRepeated ? known.failure.count + 1 : 1;
  // What was lost is sent again at once the first time.
  const failures = kind === 'lost' ? count - 1 : count;
  const pause = failures === 0 ? 0 : backoffDelay(failures, growth);
  const failure = { kind, message, count, sent: entry.after, since: at, pause };
  draft.put({ ...known, failure, cause: isKnown ? known.cause : entry.cause });
};

/** Milliseconds. */
const growth = { first: 60_000, max: 6 * 3_600_000 };

/** Whether it has the name, or one of the same letters. */
const isSpelledAs = (wanted: RecordData, seen: RecordData): boolean => {
  const [one, other] = [canonicalName(wanted.name), canonicalName(seen.name)];
  return one === other || isRespelled(one, other);
};

/** What was only counted, under a name of its own, is somebody else's. */
const liftObstacles = (draft: Draft): void => {
  for (const record of draft.all()) {
    const { key, wanted, recordId, seen, keptName, displaced, cause } = record;
    if (record.isOnlyCounted && seen !== null && !isSpelledAs(wanted, seen)) {
      draft.forget(key);
      draft.setRow({ otherIds: [...draft.row.otherIds, recordId!] });
      continue;
    }
    draft.put({ ...unknownRecord, key, wanted, recordId, seen, keptName, displaced, cause });
  }
  draft.setRow({ unlistedIds: [] });
};

const observe = (draft: Draft, { plan, view, isGone }: Extract<MemoryEvent, { type: 'observed' }>): void => {
  const ids = new Set(view.records.map(({ id }) => id));
  const paired = new Set(plan.pairs.map(({ actual }) => actual.record.id));
  recognizeRestored(draft, view);
  for (const pair of plan.pairs) if (!keepsOther(draft, pair, ids, paired, isGone)) observePair(draft, pair);
  for (const step of plan.steps)
    if (!isPark(step))
      noteCause(draft, recordKey(step.desired), step.difference.desired, step.difference.cause);
  for (const { desired } of plan.blocked)
    noteCause(draft, recordKey(entryOf(desired)), desired, firstCause(draft));
  for (const record of draft.all()) {
    const { key, recordId } = record;
    if (recordId === null) {
      if (!draft.desiredKeys.has(key) && record.lostAdds === 0) draft.forget(key);
    } else if (!ids.has(recordId) && !draft.desiredKeys.has(key) && isGone(recordId)) {
      if (record.lostAdds === 0) draft.forget(key);
      else draft.put({ ...record, recordId: null, seen: null });
    }
  }
  const unknown = [...ids]
    .filter((id) => !draft.byId.has(id) && !plan.suspectIds.has(id))
    .sort((a, b) => a - b);
  if (draft.row.preexistingIds === null) draft.setRow({ preexistingIds: unknown, otherIds: [] });
  else {
    const preexisting = new Set(draft.row.preexistingIds);
    draft.setRow({ otherIds: unknown.filter((id) => !preexisting.has(id)) });
  }
};

const firstCause = ({ row }: Draft): RecordState['cause'] =>
  row.preexistingIds === null ? 'unknown' : 'edited';

/** Notes the first cause of a record that is not known yet. */
const noteCause = (draft: Draft, key: string, wanted: RecordData, cause: RecordState['cause']): void => {
  if (!draft.records.has(key)) draft.put({ ...draft.get(key, wanted), cause });
};

/** A parked record that is at its name again gets its previous binding back: somebody restored it. */
const recognizeRestored = (draft: Draft, { records }: ActualTemplate): void => {
  for (const record of records) {
    const known = draft.byId.get(record.id);
    const own = known?.displaced?.own;
    if (!known?.displaced || isParkedName(canonicalName(record.name))) continue;
    const isKept = keptItsName({ ...noSets, records: draft.records, byId: draft.byId }, record);
    // The service seemed to ignore the park, and it may be listed late.
    const isAsStored = known.rewritten !== null && sameData(known.rewritten.stored, record);
    if (isKept || isAsStored) continue;
    if (!own) draft.put({ ...known, recordId: null, seen: null, displaced: null });
    else {
      draft.forget(known.key);
      draft.put({
        ...draft.get(own.key, own.wanted),
        recordId: record.id,
        seen: dataOf(record),
        cause: null,
      });
    }
  }
};

const noSets = { hasBeenRead: true, preexistingIds: new Set<number>(), otherIds: new Set<number>() };

/** The binding of a record stays while its id is there for nothing else, or is not gone for sure: a copy may be used instead. */
const keepsOther = (
  draft: Draft,
  { desired, actual }: Pair,
  ids: ReadonlySet<number>,
  paired: ReadonlySet<number>,
  isGone: (id: number) => boolean,
): boolean => {
  const bound = draft.records.get(recordKey(desired))?.recordId ?? null;
  if (bound === null || bound === actual.record.id) return false;
  return ids.has(bound) ? !paired.has(bound) : !isGone(bound);
};

/** A record that differs belongs to the file only if the service already has its content. */
const observePair = (draft: Draft, { desired, actual, fields }: Pair): void => {
  const { record } = actual;
  const owner = draft.byId.get(record.id);
  const isInSync = fields.length === 0;
  if (!isInSync && (owner || fields.includes('content'))) return;
  const key = recordKey(desired);
  const isTheSame =
    owner?.key === key &&
    owner.seen !== null &&
    sameData(owner.seen, record) &&
    sameData(owner.wanted, desired.record) &&
    owner.rewritten === null &&
    owner.failure === null &&
    owner.lostAdds === 0 &&
    owner.cause === null &&
    !owner.isOnlyCounted;
  if (isTheSame) return;
  const known = draft.get(key, desired.record);
  draft.put({
    ...known,
    wanted: dataOf(desired.record),
    recordId: record.id,
    seen: dataOf(record),
    keptName: known.recordId === record.id ? known.keptName : null,
    isOnlyCounted: false,
    cause: null,
    displaced: null,
    ...(isInSync ? { rewritten: null, failure: null, lostAdds: 0 } : {}),
  });
  settleDisplaced(draft, key);
};
