import { canonicalName, sameData } from '../model/canonical.ts';
import { dataOf, type ActualRecord, type RecordData } from '../model/record.ts';
import type { ActualTemplate } from '../model/template.ts';
import { backoffDelay } from '../lib/backoff.ts';
import { idsIn } from '../lib/id-ranges.ts';
import { entryOf, recordKey } from '../plan/entry.ts';
import { copyKey, isOfDesired, parkedKey, type Displaced } from '../plan/memory.ts';
import { isParkedName, parkedForm } from '../plan/parked.ts';
import { isNamed, isRespelled } from '../plan/spelling.ts';
import type { Entry, Failure, Instant, RecordState } from '../state/memory.ts';
import type { EntryOutcome } from './journal.ts';
import { unknownRecord, type Draft, type MemoryChange } from './memory.ts';

/** An answer or a reading decided what became of a write. `view`: what it shows. */
export const takeOutcome =
  (outcome: EntryOutcome, view: ActualTemplate, at: Instant): MemoryChange =>
  (draft) => {
    const { entry } = outcome;
    switch (outcome.kind) {
      case 'accepted':
        // A reading from before it confirms nothing any more, also if the process dies before it saves a newer one.
        draft.setRow({ lastWriteAt: entry.sentAt.now, lastReading: null });
        if (entry.action === 'add') takeAdd(draft, outcome, view);
        else if (entry.action === 'update') takeUpdate(draft, entry, outcome.record);
        else if (isRestored(entry)) takeRestored(draft, entry, outcome.record, at);
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
const isRestored = ({ key }: Entry): boolean => key.endsWith(' back');

const takeAdd = (
  draft: Draft,
  { entry, record, wasLost }: Extract<EntryOutcome, { kind: 'accepted' }>,
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
};

const takeUpdate = (draft: Draft, entry: Entry, record: ActualRecord): void => {
  const before = draft.byId.get(record.id);
  const known = draft.get(entry.key, entry.after);
  const values = valuesAfter(known, entry, record);
  const isOfName =
    before !== undefined && canonicalName(before.wanted.name) === canonicalName(entry.after.name);
  const keptName = values.keptName ?? (isOfName ? before.keptName : null);
  // What the file had dropped when it was sent: if it lists that again, that is an edit. Not if somebody had moved the record.
  const isMoved =
    before?.seen != null && canonicalName(before.seen.name) !== canonicalName(entry.before!.name);
  const cause = isMoved ? 'drifted' : 'edited';
  draft.put({ ...known, ...values, keptName, isOnlyCounted: false }, cause);
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
  const values = dataOf(record);
  // Where it stands is known as before: nothing is to come beside it.
  const keptName = isOut ? null : (known?.keptName ?? null);
  const madeWay = entry.makesWayFor !== null || !isOut;
  draft.put({
    ...draft.get(key, values),
    ...unknownRecord,
    key,
    wanted: keptName === null ? values : { ...values, name: known!.wanted.name },
    keptName,
    recordId: record.id,
    seen: values,
    isAdopted: known === undefined || known.isOnlyCounted || known.isAdopted,
    stored: storedAgain(draft.get(key, values), entry.after, entry.sentAt.now),
    rewritten: isOut ? null : { sent: entry.after, stored: values },
    displaced: madeWay ? displacedBy(known ?? draft.records.get(key), entry) : (known?.displaced ?? null),
    cause: isOut ? null : entry.cause,
  });
};

/** The record before its park. It is put back with the name for which the service stored the current one. */
const displacedBy = (known: RecordState | undefined, { before, after, cause }: Entry): Displaced => {
  // It was parked before, and somebody has moved it since, or nobody answered: what it was then counts.
  const isInert = entryOf(before!).content === entryOf(after).content;
  if (isInert && known?.displaced) return known.displaced;
  const isNamedByService = known?.keptName != null && known.keptName === canonicalName(before!.name);
  // Without a name it could not be put back.
  const name = (isNamedByService ? known.wanted.name : null) ?? before!.name;
  return { was: { ...before!, name }, cause };
};

/** A record that kept its name when it was parked is not parked again. It is out of place for the same reason as before. */
const takeRestored = (draft: Draft, entry: Entry, record: ActualRecord, at: Instant): void => {
  const { before, after, cause } = entry;
  // It is still as it was, and its name may be dark: it is sent again, as what was lost is.
  if (sameData(before!, record) || isParkedName(canonicalName(record.name))) {
    fail(draft, entry, 'lost', 'the service did not put it back', at);
    return;
  }
  const wasKept = !isParkedName(canonicalName(before!.name));
  const stored = dataOf(record);
  draft.put({
    ...draft.get(parkedKey(record.id), after),
    wanted: after,
    recordId: record.id,
    seen: stored,
    keptName: keptNameOf(after, record),
    rewritten: wasKept ? { sent: parkedForm(record, entryOf(record).type), stored } : null,
    // It was this program that put it back, not somebody else.
    stored: null,
    cause,
    displaced: null,
    failure: null,
  });
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
  // A record of the file is known as what the file says, whichever record was to become it.
  const wanted = entry.action === 'park' ? entry.before! : entry.after;
  const known = own ?? draft.get(entry.key, wanted);
  const isRepeated = known.failure?.kind === kind && sameData(known.failure.sent, entry.after);
  const count = isRepeated ? known.failure.count + 1 : 1;
  // What was lost is sent again at once the first time.
  const failures = kind === 'lost' ? count - 1 : count;
  const pause = failures === 0 ? 0 : backoffDelay(failures, growth);
  const failure = { kind, message, count, sent: entry.after, since: at, pause };
  // It may have been done all the same, whatever becomes of later ones, and whatever a person says.
  const isLostPark = kind === 'lost' && entry.action === 'park' && !isRestored(entry);
  const displaced = isLostPark ? displacedBy(known, entry) : known.displaced;
  draft.put({ ...known, failure, displaced, cause: isKnown ? known.cause : entry.cause });
};

/** Milliseconds. */
const growth = { first: 60_000, max: 6 * 3_600_000 };

/** Whether it has the name, or one of the same letters. */
const isSpelledAs = (wanted: RecordData, seen: RecordData): boolean => {
  const [one, other] = [canonicalName(wanted.name), canonicalName(seen.name)];
  return one === other || isRespelled(one, other);
};

/** At a person's word. What was only counted, under a name of its own or beside the record itself, is somebody else's. */
export const liftObstacles: MemoryChange = (draft) => {
  for (const record of draft.all()) {
    const { key, wanted, recordId, seen, keptName, isAdopted, displaced, cause } = record;
    const isOthers = seen !== null && (!isOfDesired(key) || !isSpelledAs(wanted, seen));
    if (record.isOnlyCounted && isOthers) {
      draft.forget(key);
      draft.setRow({ otherIds: [...draft.row.otherIds, recordId!] });
      continue;
    }
    draft.put({ ...unknownRecord, key, wanted, recordId, seen, keptName, isAdopted, displaced, cause });
  }
  draft.setRow({ unlistedIds: [] });
};
