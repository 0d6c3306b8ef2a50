import { canonicalType, sameData } from '../../model/canonical.ts';
import type { ActualRecord, RecordData } from '../../model/record.ts';
import { elapsedSince, failedAt, longestLag, type Instant } from '../../memory/backoff.ts';
import {
  abandonedAdds,
  edit,
  isKnownId,
  type MemoryDraft,
  type TemplateMemory,
} from '../../memory/memory.ts';
import { bindAdded, bindChanged } from '../../memory/remembering.ts';
import { desiredKeysOf, entryOf, recordKey } from '../../plan/entry.ts';
import { isLike } from '../../plan/like.ts';
import type { Intent, MatchedAdd, RecordState } from '../../state/memory.ts';
import type { PlanBasis } from './basis.ts';

/**
 * Binds what shows an update of unknown outcome, or has appeared and is like an add that was given up as absent, or that
 * was bound to a record which somebody else may have made.
 */
export const claimArrived = (basis: PlanBasis, at: Instant): TemplateMemory => {
  const memory = edit(basis.memory, (draft) => bindChanged(draft, basis.view, basis.desired));
  return claimCopies({ ...basis, memory: claimLate({ ...basis, memory }, at) }, at);
};

const claimLate = (
  { desired, memory, view }: PlanBasis,
  { now: at, uptime: since }: Instant,
): TemplateMemory => {
  const late = abandonedAdds(memory).filter(({ failure }) => failure!.idsBefore !== undefined);
  if (late.length === 0) return memory;
  const desiredKeys = desiredKeysOf(desired);
  return edit(memory, (draft) => {
    for (const add of late) {
      const { key, wanted: sent, adds, failure } = add;
      const old = new Set(failure!.idsBefore);
      // An update of it that may not have left does not bind it.
      const isBound = (id: number): boolean => draft.now.view.byId.has(id) || draft.now.copyIds.has(id);
      const fresh = view.records.filter(({ id }) => !old.has(id) && !isBound(id));
      const answered = answeredRecord({ key, after: sent }, draft.now, view.records);
      const arrived = answered ?? arrivedOf(add, fresh, late, desiredKeys);
      if (!arrived) continue;
      const own = answered ? null : earlierMatch(draft.now, key, view.records);
      const record = own?.isSame ? own.record : arrived;
      const copies = own && !own.isSame ? [own.record.id] : [];
      bindAdded(draft, { key, sent, record, copies, adds, at, since });
      const { idsBefore = [], since: failedSince } = failure!;
      // Also for the others that it may have made.
      if (!answered) noteMatched(draft, { key, sent, idsBefore, at: failedAt(failure!), since: failedSince });
    }
  });
};

/** The add of unknown outcome of a bound record may still appear: somebody else may have made the bound one. */
export const noteMatched = (draft: MemoryDraft, { key, sent, idsBefore, at, since }: MatchedAdd): void => {
  const others = draft.now.row.matchedAdds?.filter((one) => one.key !== key) ?? [];
  draft.setRow({ matchedAdds: [...others, { key, sent, idsBefore, at, since }] });
};

/** Until it can no longer appear, also in a listing that is behind. */
const claimCopies = (
  { desired, memory, view, pending, settle, unknownPause }: PlanBasis,
  { now, uptime }: Instant,
): TemplateMemory => {
  const matched = memory.row.matchedAdds ?? [];
  if (matched.length === 0) return memory;
  const desiredKeys = desiredKeysOf(desired);
  const open = [...pending.map(({ key, after }) => ({ key, wanted: after })), ...abandonedAdds(memory)];
  const longest = unknownPause + longestLag(settle);
  return edit(memory, (draft) => {
    for (const { key, sent, idsBefore, at: addedAt, since } of matched) {
      const old = new Set(idsBefore);
      const fresh = view.records.filter(({ id }) => !old.has(id) && !isKnownId(draft.now, id));
      const respelled = respelledOf(sent, fresh, desiredKeys).filter((one) => isOfNoOther(one, key, open));
      const [record, ...others] = [...equalTo(key, fresh), ...respelled];
      if (!record) continue;
      const known = draft.get(key);
      const copies = others.map(({ id }) => id);
      // Where the bound one has become another record since, this is the one of the file.
      if (known && known.recordId !== null)
        draft.put({ ...known, copies: [...(known.copies ?? []), record.id, ...copies] });
      else bindAdded(draft, { key, sent, record, copies, adds: known?.adds ?? 1, at: addedAt, since });
    }
    const isOver = ({ at, since }: MatchedAdd): boolean =>
      (elapsedSince(since, uptime) ?? now - at) >= longest;
    if (!matched.some(isOver)) return;
    // This reading may lack records: the next one is the last.
    const left = matched.filter((add) => !isOver(add) || !add.isOver);
    draft.setRow({ matchedAdds: left.map((add) => (isOver(add) ? { ...add, isOver: true } : add)) });
  });
};

/** The first of those that equal it; else the only one that has its content at another spelling of its name. */
const arrivedOf = (
  { key, wanted }: RecordState,
  fresh: readonly ActualRecord[],
  late: readonly RecordState[],
  desiredKeys: ReadonlySet<string>,
): ActualRecord | undefined => {
  const [same] = equalTo(key, fresh).toSorted((a, b) => a.id - b.id);
  if (same) return same;
  const [first, ...others] = respelledOf(wanted, fresh, desiredKeys);
  return first && others.length === 0 && isOfNoOther(first, key, late) ? first : undefined;
};

const equalTo = (key: string, records: readonly ActualRecord[]): readonly ActualRecord[] =>
  records.filter((record) => recordKey(entryOf(record)) === key);

/** The one that the answer to this add showed, if nothing else was bound to it; somebody may have changed it since. */
export const answeredRecord = (
  { key, after }: Pick<Intent, 'key' | 'after'>,
  { row, view }: TemplateMemory,
  records: readonly ActualRecord[],
): ActualRecord | undefined => {
  const id = row.addedIds?.[key];
  if (id === undefined || (view.byId.has(id) && view.byId.get(id)?.key !== key)) return undefined;
  return records.find(
    (record) => record.id === id && canonicalType(record.type) === canonicalType(after.type),
  );
};

/** The record that is bound so far, and whether somebody has made another one of it since. */
export const earlierMatch = (
  { records, view }: TemplateMemory,
  key: string,
  listed: readonly ActualRecord[],
): { readonly record: ActualRecord; readonly isSame: boolean } | null => {
  const id = view.byKey.get(key)?.id;
  const record = listed.find((one) => one.id === id);
  if (!record) return null;
  const seen = records.get(key)?.seen;
  return { record, isSame: recordKey(entryOf(record)) === key || (seen != null && sameData(seen, record)) };
};

/** Those that have the content of an add, at another spelling of its name. */
const respelledOf = (
  sent: RecordData,
  fresh: readonly ActualRecord[],
  desiredKeys: ReadonlySet<string>,
): readonly ActualRecord[] =>
  fresh.filter((record) => mayHaveMade(sent, record) && !desiredKeys.has(recordKey(entryOf(record))));

const mayHaveMade = (sent: RecordData, record: ActualRecord): boolean =>
  isLike(entryOf(sent), entryOf(record)) && entryOf(sent).content === entryOf(record).content;

const isOfNoOther = (
  record: ActualRecord,
  key: string,
  adds: readonly Pick<RecordState, 'key' | 'wanted'>[],
): boolean => adds.every((add) => add.key === key || !mayHaveMade(add.wanted, record));
