import { canonicalName, sameData } from '../../model/canonical.ts';
import { dataOf, type PresentRecord, type RecordData } from '../../model/record.ts';
import type { Cause } from '../../plan/difference.ts';
import { entryOf, pairOf, recordKey } from '../../plan/entry.ts';
import { mayBeOneOf } from '../../plan/like.ts';
import { parkedKey, type Displaced } from '../../plan/memory.ts';
import { isParkedName, parkedForm } from '../../plan/parked.ts';
import { changeOf, isPark, isRestore, resultOf, type ParkStep, type Step } from '../../plan/step.ts';
import type { Failure, Intent, RecordMemory } from '../../state/memory.ts';
import type { Attempt } from './attempt.ts';
import type { MemoryDraft } from './memory.ts';
import { bind, park, restore } from './remembering.ts';

/** Remembers a write that counts: what the service made of it, where that is not what was sent. */
export const commit = (draft: MemoryDraft, attempt: Attempt, record: PresentRecord, now: number): void => {
  const { step, intent } = attempt;
  draft.setFacts({ lastWriteAt: intent.at });
  if (!isPark(step)) commitRecord(draft, step, record, now);
  else if (isRestore(step)) commitRestore(draft, step, record);
  else commitPark(draft, step, intent, record);
};

/** Whether the service took the content of a park and not its name; an answer may show a record as it was. */
export const isKeptInPlace = (step: ParkStep, record: PresentRecord): boolean => {
  const present = entryOf(record);
  return (
    !isRestore(step) && !isParkedName(present.name) && present.content === entryOf(resultOf(step)).content
  );
};

const commitRecord = (
  draft: MemoryDraft,
  step: Exclude<Step, ParkStep>,
  record: PresentRecord,
  now: number,
): void => {
  const sent = resultOf(step);
  const present = entryOf(record);
  const previous = draft.get(recordKey(step.wanted));
  bind(draft, step.wanted, present, {
    adds: (previous?.adds ?? 0) + (step.difference.action === 'add' ? 1 : 0),
    stored: { sent, at: [...timesStored(previous, sent), now].slice(-3) },
    rewritten: pairOf(step.wanted, present).fields.length > 0 ? { sent, stored: dataOf(record) } : null,
    failure: null,
    ...keptNameAfter(draft, step, present.name),
  });
};

const timesStored = (previous: RecordMemory | undefined, sent: RecordData): readonly number[] =>
  previous?.stored && sameData(previous.stored.sent, sent) ? previous.stored.at : [];

/**
 * A write that sends a name, or an add without one, tells what the service makes of it; any other does where it shows
 * the name in another spelling.
 */
const keptNameAfter = (
  draft: MemoryDraft,
  step: Exclude<Step, ParkStep>,
  name: string,
): Pick<RecordMemory, 'keptName'> => {
  const sendsName = !('present' in step) || changeOf(step).name !== null;
  const isLike = mayBeOneOf(new Set([canonicalName(resultOf(step).name)]));
  if (sendsName || isLike(name)) return { keptName: name };
  const keptName = draft.ofId(step.present.record.id)?.keptName;
  return keptName === undefined ? {} : { keptName };
};

const commitPark = (
  draft: MemoryDraft,
  step: ParkStep,
  { makesWayFor = null }: Intent,
  record: PresentRecord,
): void => {
  const isOut = isParkedName(entryOf(record).name);
  const key = makesWayFor ?? (isKeptInPlace(step, record) ? stays(step) : null);
  park(draft, record.id, dataOf(record), {
    rewritten: isOut ? null : { sent: resultOf(step), stored: dataOf(record) },
    cause: null,
    displaced: key === null ? null : displacedBy(draft, step.present.record, step.difference.cause, key),
  });
};

/**
 * A park of unknown outcome counts as done, since what it took from its place has to find back there. Should the next
 * reading show it in its place, it was not.
 */
export const supposePark = (
  draft: MemoryDraft,
  { recordId: id, before, after, cause, makesWayFor = null }: Intent,
  failure: Failure | null,
): boolean => {
  if (id === null || before === null || makesWayFor === null) return false;
  const displaced = displacedBy(draft, { ...before, id }, cause, makesWayFor);
  park(draft, id, { ...after, ttl: before.ttl }, { rewritten: null, cause: null, displaced, failure });
  return true;
};

const stays = ({ present }: ParkStep): string => parkedKey(present.record.id);

/** A record that kept its name when it was parked is not parked again. */
const commitRestore = (draft: MemoryDraft, step: ParkStep, record: PresentRecord): void => {
  const { present, difference } = step;
  const stored = dataOf(record);
  const own = draft.now.view.displaced.get(record.id)?.own;
  const wasKept = !isParkedName(present.name);
  const rewritten = wasKept ? { sent: parkedForm(record, present.type), stored } : null;
  const { cause, desired: sent } = difference;
  // Of a name that somebody else gave it, nothing is to be learned.
  const isOwnName = !own || canonicalName(own.wanted.name) === canonicalName(sent.name);
  const changes = { rewritten, ...(isOwnName ? { keptName: canonicalName(record.name) } : {}) };
  if (own) restore(draft, own, record.id, stored, changes);
  // It is out of place for the same reason as before.
  else park(draft, record.id, stored, { ...changes, wanted: sent, cause, displaced: null });
};

/** What a park takes from its place. The name that it goes back to is the one that made the service give it this one. */
const displacedBy = (draft: MemoryDraft, record: PresentRecord, cause: Cause, key: string): Displaced => {
  const known = draft.ofId(record.id);
  const own = known && known.key !== parkedKey(record.id) ? { key: known.key, wanted: known.wanted } : null;
  const isNamedByService = known?.keptName === canonicalName(record.name);
  // Without a name it could not come back.
  const name = (isNamedByService ? known?.wanted.name : null) ?? record.name;
  return { key, own, was: { ...dataOf(record), name }, cause };
};
