import { canonicalName, canonicalRecord, sameData, type CanonicalRecord } from '../model/canonical.ts';
import { groupBy } from '../model/group.ts';
import { dataOf, type RecordData } from '../model/record.ts';
import type { ActualTemplate } from '../model/template.ts';
import { exclude } from '../plan/conflict.ts';
import { entryOf, recordKey, type Pair } from '../plan/entry.ts';
import { parkedIdIn } from '../plan/memory.ts';
import { isParkedName } from '../plan/parked.ts';
import { placesIn } from '../plan/places.ts';
import type { TemplatePlan } from '../plan/plan.ts';
import { isPark } from '../plan/step.ts';
import type { RecordState } from '../state/memory.ts';
import type { Draft, MemoryChange } from './memory.ts';

/** A plan of a settled template, at the end of a pass. `isGone`: two readings lack the id. `isComplete`: the file is all there. */
export const observe =
  (
    plan: TemplatePlan,
    view: ActualTemplate,
    isGone: (id: number) => boolean,
    isComplete: boolean,
  ): MemoryChange =>
  (draft) => {
    const ids = new Set(view.records.map(({ id }) => id));
    const paired = new Set(plan.pairs.map(({ actual }) => actual.record.id));
    for (const pair of plan.pairs)
      if (!keepsOther(draft, pair, ids, paired, isGone)) observePair(draft, pair);
    settleDisplaced(draft, plan, isComplete);
    for (const step of plan.steps)
      if (!isPark(step))
        noteCause(draft, recordKey(step.desired), step.difference.desired, step.difference.cause);
    for (const { desired } of plan.blocked)
      noteCause(draft, recordKey(entryOf(desired)), desired, firstCause(draft));
    for (const record of draft.all()) {
      const { key, recordId } = record;
      if (recordId === null) {
        // What a refused park of somebody else's record has to wait for stays known while that is there.
        const isPaused = record.failure !== null && ids.has(parkedIdIn(key));
        if (!draft.desiredKeys.has(key) && record.lostAdds === 0 && !isPaused) draft.forget(key);
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

/**
 * A record that made way stays parked once what needed its place is there, or another value of it; and if the file, where all of
 * that is there, wants nothing any more that is missing there.
 */
const settleDisplaced = (draft: Draft, { pairs, missing }: TemplatePlan, isComplete: boolean): void => {
  const parked = draft
    .all()
    .filter(({ displaced, seen }) => displaced !== null && isParkedName(canonicalName(seen?.name ?? null)));
  if (parked.length === 0) return;
  const places = placesIn(draft);
  // Also what the service stored otherwise than it was sent.
  const isThere = ({ desired, actual, fields }: Pair): boolean =>
    places.of(actual) === places.ofName(desired.name) &&
    (!fields.includes('content') || draft.byId.get(actual.record.id)?.key === recordKey(desired));
  const placeOf = ({ name }: CanonicalRecord): string => places.ofName(name);
  const there = pairs.filter(isThere).map(({ desired }) => desired);
  const others = pairs.filter((pair) => !isThere(pair)).map(({ desired }) => desired);
  const thereAt = groupBy(there, placeOf);
  const lackingAt = new Set([...missing, ...others].map(placeOf));
  for (const record of parked) {
    const was = canonicalRecord(record.displaced!.was);
    const isInstead = thereAt.get(placeOf(was))?.some((one) => one.type === was.type || exclude(one, was));
    if (isInstead === true || (isComplete && !lackingAt.has(placeOf(was))))
      draft.put({ ...record, displaced: null });
  }
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
    owner.displaced === null &&
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
};
