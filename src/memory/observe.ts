import { sameData } from '../model/canonical.ts';
import type { ActualTemplate } from '../model/template.ts';
import { recordKey, type Pair } from '../plan/entry.ts';
import type { TemplatePlan } from '../plan/plan.ts';
import type { Failure, RecordState } from '../state/memory.ts';
import { isKnownId, parkedIdOf, type MemoryDraft } from './memory.ts';
import { bind, isPerhapsAdded, noteCause, storedUnseen } from './remembering.ts';

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
  for (const pair of plan.pairs)
    if (!keepsOther(draft, pair, seen, ids, unpaired)) observePair(draft, pair, seen.to);
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
const observePair = (draft: MemoryDraft, pair: Pair, to: number): void => {
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
  const wanted = draft.get(recordKey(pair.desired));
  if (!inSync) bind(draft, pair.desired, pair.actual);
  else if (wanted?.failure && isBesideAdd(wanted.failure, pair.actual.record.id, to))
    bind(draft, pair.desired, pair.actual, { rewritten: null });
  else {
    const unseen = storedUnseen(draft, wanted);
    bind(draft, pair.desired, pair.actual, { ...unseen, rewritten: null, failure: null });
  }
};

/** The record is older than an add of it that may still take effect. */
const isBesideAdd = ({ kind, idsBefore = [], retryAt }: Failure, id: number, now: number): boolean =>
  kind === 'unknown' && now < retryAt && idsBefore.includes(id);

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

const noteMissed = (draft: MemoryDraft, record: RecordState, { to }: Observation): void => {
  if (record.missedAt == null) draft.put({ ...record, missedAt: to });
};

const isMissedTwice = ({ missedAt }: RecordState, { from, settle }: Observation): boolean =>
  missedAt != null && Math.abs(from - missedAt) >= settle;

const unpairedIds = ({ pairs }: TemplatePlan, ids: ReadonlySet<number>): ReadonlySet<number> => {
  const paired = new Set(pairs.map(({ actual }) => actual.record.id));
  return new Set([...ids].filter((id) => !paired.has(id)));
};
