import { canonicalName } from '../../model/canonical.ts';
import { dataOf, type ActualRecord } from '../../model/record.ts';
import type { Cause } from '../../plan/difference.ts';
import { entryOf, pairOf, recordKey } from '../../plan/entry.ts';
import { mayBeOneOf } from '../../plan/like.ts';
import { parkedKey, type Displaced } from '../../plan/memory.ts';
import { isParkedName, parkedForm } from '../../plan/parked.ts';
import {
  actualOf,
  changeOf,
  isPark,
  isRestore,
  resultOf,
  type ParkStep,
  type Step,
} from '../../plan/step.ts';
import type { Acceptance, Failure, Intent, RecordState } from '../../state/memory.ts';
import type { Attempt } from './attempt.ts';
import type { Instant } from '../../memory/backoff.ts';
import type { MemoryDraft } from '../../memory/memory.ts';
import { bind, park, restore, storedAgain, type AcceptedValue } from '../../memory/remembering.ts';

/** Notes a successful write, and what the service stored if that differs from what was sent. */
export const commit = (draft: MemoryDraft, attempt: Attempt, record: ActualRecord, moment: Instant): void => {
  const { step, intent } = attempt;
  draft.setRow({ lastWriteAt: intent.at });
  const own = actualOf(step);
  const before = own && dataOf(own.record);
  const accepted = { sent: resultOf(step), before, at: moment.now, since: moment.uptime };
  const earlier = own && (draft.ofId(record.id)?.stored ?? null);
  if (!isPark(step)) commitRecord(draft, step, record, accepted, earlier);
  else {
    const stored = storedAgain(undefined, accepted, earlier);
    if (isRestore(step)) commitRestore(draft, step, record);
    else commitPark(draft, step, intent, record);
    draft.put({ ...draft.ofId(record.id)!, stored });
  }
};

/** Whether the service kept the name of a record that it was to park. */
export const isKeptInPlace = (step: ParkStep, record: ActualRecord): boolean =>
  !isRestore(step) && !isParkedName(entryOf(record).name);

const commitRecord = (
  draft: MemoryDraft,
  step: Exclude<Step, ParkStep>,
  record: ActualRecord,
  accepted: AcceptedValue,
  earlier: Acceptance | null,
): void => {
  const { sent } = accepted;
  const actual = entryOf(record);
  const previous = draft.get(recordKey(step.desired));
  bind(draft, step.desired, actual, {
    adds: (previous?.adds ?? 0) + (step.difference.action === 'add' ? 1 : 0),
    stored: storedAgain(previous, accepted, earlier),
    rewritten: pairOf(step.desired, actual).fields.length > 0 ? { sent, stored: dataOf(record) } : null,
    failure: null,
    ...keptNameAfter(draft, step, actual.name),
  });
};

/**
 * A write with a name, or an add without one, shows the service's spelling of it. Any other write does if its
 * answer shows the name in another spelling.
 */
const keptNameAfter = (
  draft: MemoryDraft,
  step: Exclude<Step, ParkStep>,
  name: string,
): Pick<RecordState, 'keptName'> => {
  const sendsName = !('actual' in step) || changeOf(step).name !== null;
  const isLike = mayBeOneOf(new Set([canonicalName(resultOf(step).name)]));
  if (sendsName || isLike(name)) return { keptName: name };
  const keptName = draft.ofId(step.actual.record.id)?.keptName;
  return keptName === undefined ? {} : { keptName };
};

const commitPark = (
  draft: MemoryDraft,
  step: ParkStep,
  { makesWayFor = null }: Intent,
  record: ActualRecord,
): void => {
  const isOut = isParkedName(entryOf(record).name);
  const key = makesWayFor ?? (isOut ? null : parkedKey(step.actual.record.id));
  park(draft, record.id, dataOf(record), {
    rewritten: isOut ? null : { sent: resultOf(step), stored: dataOf(record) },
    cause: null,
    displaced: key === null ? null : displacedBy(draft, step.actual.record, step.difference.cause, key),
  });
};

/**
 * A park of unknown outcome counts as done, so that its record can be restored. If the next reading shows the
 * record in its place, the park was not done.
 */
export const assumeParked = (
  draft: MemoryDraft,
  { recordId: id, before, after, cause, makesWayFor = null }: Intent,
  failure: Failure | null,
): boolean => {
  if (id === null || before === null || makesWayFor === null) return false;
  const displaced = displacedBy(draft, { ...before, id }, cause, makesWayFor);
  // A listing may still be behind what the record was before.
  const stored = draft.ofId(id)?.stored ?? null;
  const parked = { ...after, ttl: before.ttl };
  park(draft, id, parked, { rewritten: null, cause: null, displaced, failure, stored });
  return true;
};

/** A record that kept its name when it was parked is not parked again. */
const commitRestore = (draft: MemoryDraft, step: ParkStep, record: ActualRecord): void => {
  const { actual, difference } = step;
  const stored = dataOf(record);
  const own = draft.now.view.displaced.get(record.id)?.own;
  const wasKept = !isParkedName(actual.name);
  const rewritten = wasKept ? { sent: parkedForm(record, actual.type), stored } : null;
  const { cause, desired: sent } = difference;
  // A name that somebody else gave the record does not show the service's spelling.
  const isOwnName = !own || canonicalName(own.wanted.name) === canonicalName(sent.name);
  const changes = { rewritten, ...(isOwnName ? { keptName: canonicalName(record.name) } : {}) };
  if (own) restore(draft, own, record.id, stored, changes);
  // It is out of place for the same reason as before.
  else park(draft, record.id, stored, { ...changes, wanted: sent, cause, displaced: null });
};

/** The record before its park. It is restored with the name for which the service stored the current one. */
const displacedBy = (draft: MemoryDraft, record: ActualRecord, cause: Cause, key: string): Displaced => {
  const known = draft.ofId(record.id);
  const own = known && known.key !== parkedKey(record.id) ? { key: known.key, wanted: known.wanted } : null;
  const isNamedByService = known?.keptName === canonicalName(record.name);
  // Without a name it could not be restored.
  const name = (isNamedByService ? known?.wanted.name : null) ?? record.name;
  return { key, own, was: { ...dataOf(record), name }, cause };
};
