import { sameData } from '../model/canonical.ts';
import type { ActualTemplate } from '../model/template.ts';
import { recordKey, type Pair } from '../plan/entry.ts';
import type { TemplatePlan } from '../plan/plan.ts';
import type { RecordState } from '../state/memory.ts';
import { isKnownId, parkedIdOf, type MemoryDraft } from './memory.ts';
import { bind, noteCause, storedAgain } from './remembering.ts';

/** What a pass observed of a template. */
export interface Observation {
  readonly actual: ActualTemplate;
  /** Keys of the records that the file wants. */
  readonly desiredKeys: ReadonlySet<string>;
  /** When the observation began and ended, in ms since the epoch. */
  readonly from: number;
  readonly to: number;
  /** Milliseconds. */
  readonly settle: number;
}

/** Notes what a plan found: which records agree, and the first cause of each difference. */
export const observe = (draft: MemoryDraft, plan: TemplatePlan, seen: Observation): void => {
  const ids = new Set(seen.actual.records.map(({ id }) => id));
  let free: ReadonlySet<number> | undefined;
  const unpaired = (): ReadonlySet<number> => (free ??= unpairedIds(plan, ids));
  for (const pair of plan.pairs) if (!keepsOther(draft, pair, seen, ids, unpaired)) observePair(draft, pair);
  noteOthers(draft, ids);
  for (const step of [...plan.steps, ...plan.conflicting, ...plan.waiting]) noteCause(draft, step);
  forgetGone(draft, seen, ids);
};

/** Every id that is in no file, so that one that nobody has seen before is recognised. */
const noteOthers = (draft: MemoryDraft, ids: ReadonlySet<number>): void => {
  const unknown = [...ids].filter((id) => !isKnownId(draft.now, id)).sort((a, b) => a - b);
  const { strangers, others } = draft.now.row;
  if (strangers === null) draft.setRow({ strangers: unknown, others: [] });
  else {
    const newer = unknown.filter((id) => !draft.now.view.preexistingIds.has(id));
    if (newer.join() !== others?.join()) draft.setRow({ others: newer });
  }
};

/**
 * The binding of a desired record stays while its record is there, or was missed only once: a copy may be used instead.
 * Before an add is sent for it, the record has been missed twice.
 */
const keepsOther = (
  draft: MemoryDraft,
  { desired, actual }: Pair,
  seen: Observation,
  ids: ReadonlySet<number>,
  unpaired: () => ReadonlySet<number>,
): boolean => {
  const record = draft.get(recordKey(desired));
  if (!record || record.recordId === null || record.recordId === actual.record.id) return false;
  if (ids.has(record.recordId)) return unpaired().has(record.recordId);
  if (isMissedTwice(record, seen) || record.failure?.kind === 'unknown') return false;
  noteMissed(draft, record, seen);
  return true;
};

/** A record that differs belongs to the file only if the service already has its content. */
const observePair = (draft: MemoryDraft, pair: Pair): void => {
  const known = draft.ofId(pair.actual.record.id);
  const inSync = pair.fields.length === 0;
  if (!inSync && (known || pair.fields.includes('content'))) return;
  const isTheSame =
    known?.key === recordKey(pair.desired) &&
    known.seen !== null &&
    sameData(known.seen, pair.actual.record) &&
    sameData(known.wanted, pair.desired.record) &&
    known.rewritten === null &&
    known.failure === null;
  if (isTheSame) return;
  const unseen = inSync ? storedUnseen(draft.get(recordKey(pair.desired))) : null;
  if (unseen) draft.setRow({ lastWriteAt: unseen.at.at(-1)! });
  const changes = { ...(unseen ? { stored: unseen } : {}), rewritten: null, failure: null };
  bind(draft, pair.desired, pair.actual, inSync ? changes : {});
};

/** A write of unknown outcome whose result is there now has succeeded. */
const storedUnseen = (known: RecordState | undefined): RecordState['stored'] => {
  if (!known?.failure || known.failure.kind === 'refused') return null;
  const { sent, retryAt, pause, since } = known.failure;
  // A listing that is behind an add lacks the record, also where an earlier one has been bound.
  const before = isPerhapsAdded(known) ? null : known.seen;
  return storedAgain(known, { sent, before, at: retryAt - pause, since });
};

/**
 * A listing may be out of date: the state of a record that the file dropped is removed when two readings have
 * missed it, but not while another result of its add is there.
 */
const forgetGone = (draft: MemoryDraft, seen: Observation, ids: ReadonlySet<number>): void => {
  for (const record of draft.now.records.values()) {
    const { key, missedAt, copies = [] } = record;
    const isOfUse = seen.desiredKeys.has(key) || copies.some((copy) => ids.has(copy));
    const id = record.recordId ?? parkedIdOf(key);
    if (id !== null && ids.has(id)) {
      if (missedAt != null) draft.put({ ...record, missedAt: null });
    } else if (id === null) {
      if (!isOfUse && !isPerhapsAdded(record)) draft.forget(key);
    } else if (isOfUse || !isMissedTwice(record, seen)) noteMissed(draft, record, seen);
    else if (isPerhapsAdded(record)) draft.put({ ...record, recordId: null, seen: null });
    else draft.forget(key);
  }
};

/** A dropped record whose id another record took. */
export const forgetDropped = (draft: MemoryDraft, key: string, desiredKeys: ReadonlySet<string>): void => {
  const record = draft.get(key);
  if (!record || record.recordId !== null || desiredKeys.has(key)) return;
  if (!record.copies?.length && !isPerhapsAdded(record)) draft.forget(key);
};

/** An add of it that no reading shows may still take effect. */
const isPerhapsAdded = ({ adds, failure }: RecordState): boolean =>
  failure !== null && (adds > 0 || failure.idsBefore !== undefined);

const noteMissed = (draft: MemoryDraft, record: RecordState, { to }: Observation): void => {
  if (record.missedAt == null) draft.put({ ...record, missedAt: to });
};

const isMissedTwice = ({ missedAt }: RecordState, { from, settle }: Observation): boolean =>
  missedAt != null && Math.abs(from - missedAt) >= settle;

const unpairedIds = ({ pairs }: TemplatePlan, ids: ReadonlySet<number>): ReadonlySet<number> => {
  const paired = new Set(pairs.map(({ actual }) => actual.record.id));
  return new Set([...ids].filter((id) => !paired.has(id)));
};
