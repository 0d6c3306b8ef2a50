import { idsIn, rangesOf } from '../lib/id-ranges.ts';
import { canonicalName, canonicalRecord, canonicalType, sameData } from '../model/canonical.ts';
import { dataOf, type ActualRecord, type RecordData } from '../model/record.ts';
import type { ActualTemplate } from '../model/template.ts';
import { isAddress } from '../model/address.ts';
import { groupBy } from '../model/group.ts';
import { entryOf, recordKey, setKey, type DesiredKeys } from '../plan/entry.ts';
import { isNamed, isRespelled, lettersOf } from '../plan/spelling.ts';
import type { Entry, Instant } from '../state/memory.ts';
import { elapsed, endOf, isBefore, lagOf, longestTime, type Times } from './times.ts';

/*
 * The journal of a template has an entry for each write that left, or was about to, and settles them. While an entry is open,
 * the template is not settled: something that we sent to it may still appear, or the listing is from before it. A process that
 * died leaves a sent entry, and nothing else: it may have left.
 *
 * | state    | since                              | until                                             | open                      |
 * | -------- | ---------------------------------- | ------------------------------------------------- | ------------------------- |
 * | sent     | it is on disk, before it leaves    | an answer or a reading shows it, or its time      | yes                       |
 * | accepted | an answer or a reading showed it   | no listing can be from before it any more         | if this listing is        |
 * | missed   | a reading after its time lacks it  | a second one does, or shows it                    | no                        |
 * | failed   | that, or a person says so          | it cannot appear any more                         | no; it is recognised      |
 *
 * The time of an update in place is `unknownPause`; that of what enters or leaves a name is also the longest in which listings
 * may be behind. What appears at the end of it is visible `settle` later.
 */

/** A template as a listing shows it. */
export interface Reading {
  readonly records: readonly ActualRecord[];
  /** When it was asked for, and when it came. */
  readonly asked: Instant;
  readonly read: Instant;
  /** Whether what it lacks is missing: not where it lost many known records, until another pass agrees. */
  readonly isWhole: boolean;
}

/** What is known besides the journal. */
export interface Known {
  /** Whether the id is of a record that the file has, had, or that we parked. */
  readonly isKnown: (id: number) => boolean;
  /** Whether a reading or a write of ours is remembered of the id. */
  readonly isRemembered: (id: number) => boolean;
  /** Keys of the file's records; none without a file. */
  readonly desiredKeys: DesiredKeys;
}

/** What became of an entry. */
export type EntryOutcome =
  /** `copies`: other records that it may have made; `wasLost`: it was counted as lost before. */
  | {
      readonly kind: 'accepted';
      readonly entry: Entry;
      readonly record: ActualRecord;
      readonly copies: readonly ActualRecord[];
      readonly wasLost: boolean;
    }
  | { readonly kind: 'refused'; readonly entry: Entry }
  | { readonly kind: 'lost'; readonly entry: Entry };

export interface Settlement {
  /** What stays in the journal. */
  readonly entries: readonly Entry[];
  readonly outcomes: readonly EntryOutcome[];
}

/** The journal after a listing. Without a file, no record is another one of the file. */
export const settle = (
  entries: readonly Entry[],
  reading: Reading,
  known: Known,
  times: Times,
): Settlement => {
  if (entries.length === 0) return { entries, outcomes: [] };
  const outcomes: EntryOutcome[] = [];
  const changed = new Map<number, Entry | null>();
  const end = (entry: Entry, outcome: EntryOutcome, next: Entry | null): void => {
    outcomes.push(outcome);
    changed.set(entry.id, next);
  };
  const accept = (entry: Entry, record: ActualRecord, copies: readonly ActualRecord[]): void => {
    const accepted = acceptedAs(entry, record, reading.read, isDoubtful(entry, record));
    const wasLost = entry.state === 'failed';
    end(entry, { kind: 'accepted', entry: accepted, record, copies, wasLost }, accepted);
  };
  for (const { entry, records } of arrivalsOf(entries, reading, known)) {
    const [first, ...copies] = records;
    accept(entry, first!, copies);
  }
  const byId = new Map(reading.records.map((record) => [record.id, record]));
  // What is shown may come from the last write of a record: an earlier one of the same values may still appear.
  const last = lastById(entries);
  for (const entry of entries) {
    if (entry.state === 'accepted' || changed.has(entry.id)) continue;
    const record = entry.recordId === null ? undefined : byId.get(entry.recordId);
    const isShown = record !== undefined && shows(record, entry);
    if (isShown && !repeats(last.get(entry.recordId)!, entry) && !mayBeOld(record, entries, reading, times))
      accept(entry, record, []);
    else if (isRefused(entry, reading)) end(entry, { kind: 'refused', entry }, null);
    else if (record && isIgnored(entry, record, reading, times)) accept(entry, record, []);
    else {
      const next = afterTime(withOthers(entry, reading, known), reading, times);
      if (next.state === 'failed' && entry.state !== 'failed')
        end(entry, { kind: 'lost', entry: next }, next);
      else if (next !== entry) changed.set(entry.id, next);
    }
  }
  const now = entries.flatMap((entry) => (changed.has(entry.id) ? (changed.get(entry.id) ?? []) : [entry]));
  return { entries: withoutOver(now, reading.read, times), outcomes };
};

/**
 * Without entries of which no listing can be from before it, nor show it late. One that was accepted stays beside an earlier
 * write of its record that may still appear: what is shown is from the later one.
 */
export const withoutOver = (entries: readonly Entry[], now: Instant, times: Times): readonly Entry[] => {
  const sent = new Set(entries.flatMap(({ state, recordId }) => (state === 'sent' ? [recordId] : [])));
  const left = entries.filter(
    (entry) => !isOver(entry, now, times) || (entry.state === 'accepted' && sent.has(entry.recordId)),
  );
  return left.length === entries.length ? entries : left;
};

/** What an answer shows otherwise than it was stored, somebody else has changed since: no listing is behind in showing that. */
export const withoutContradicted = (
  entries: readonly Entry[],
  { records }: ActualTemplate,
  of: Entry,
): readonly Entry[] => {
  const last = lastById(entries.filter(({ state }) => state === 'accepted'));
  const changed = new Set(
    records.flatMap((record): number[] => {
      const stored = record.id === of.recordId ? null : last.get(record.id)?.stored;
      return stored && !sameData(record, stored) ? [record.id] : [];
    }),
  );
  return entries.filter(({ state, recordId }) => state !== 'accepted' || !changed.has(recordId!));
};

const lastById = (entries: readonly Entry[]): ReadonlyMap<number | null, Entry> =>
  new Map(entries.map((entry) => [entry.recordId, entry]));

const isOver = (entry: Entry, now: Instant, times: Times): boolean => {
  if (entry.state === 'accepted') return elapsed(entry.acceptedAt!, now) >= lagOf(times);
  return entry.state === 'failed' && elapsed(entry.sentAt, now) >= timeOf({ ...entry, before: null }, times);
};

/**
 * For a person who takes the listing's word: what earlier runs sent neither appears late nor is missing any more. What the
 * listing shows as it was stored stays, since a later listing may be older.
 */
export const takeWord = (
  entries: readonly Entry[],
  run: string,
  records: readonly ActualRecord[],
): Settlement => {
  const byId = new Map(records.map((record) => [record.id, record]));
  const outcomes: EntryOutcome[] = [];
  const left = entries.flatMap((entry): Entry[] => {
    if (entry.run === run || entry.state === 'failed') return [entry];
    if (entry.state === 'accepted') {
      const record = byId.get(entry.recordId!);
      return record && sameData(record, entry.stored!) ? [entry] : [];
    }
    const failed: Entry = { ...entry, state: 'failed' };
    outcomes.push({ kind: 'lost', entry: failed });
    return [failed];
  });
  return { entries: left, outcomes };
};

interface Arrival {
  readonly entry: Entry;
  readonly records: readonly ActualRecord[];
}

/**
 * New records that adds made: those that equal what was sent, then those with its content under another spelling of its
 * name, unless they are another record of the file; the lowest id first. Where an answer showed one that is only counted, an
 * equal one takes its place.
 */
const arrivalsOf = (entries: readonly Entry[], { records }: Reading, known: Known): readonly Arrival[] => {
  const adds = entries.filter(
    ({ action, state, isOnlyCounted }) => action === 'add' && (state !== 'accepted' || isOnlyCounted),
  );
  if (adds.length === 0) return [];
  const unknown = records.filter(({ id }) => !known.isKnown(id)).sort((a, b) => a.id - b.id);
  const keys = new Map(unknown.map((record) => [record, recordKey(entryOf(record))]));
  const taken = new Set<ActualRecord>();
  const found = new Map<Entry, readonly ActualRecord[]>();
  for (const isExact of [true, false])
    for (const entry of adds) {
      if (found.has(entry) || (entry.state === 'accepted' && !isExact)) continue;
      const before = new Set(idsIn(entry.idsBefore));
      const isNew = ({ id }: ActualRecord): boolean =>
        entry.state === 'accepted' ? !known.isRemembered(id) && id !== entry.recordId : !before.has(id);
      const matching = unknown.filter((record) => {
        const key = keys.get(record)!;
        if (taken.has(record) || !isNew(record)) return false;
        return isExact ? key === entry.key : !known.desiredKeys.has(key) && isRespelling(entry.after, record);
      });
      if (matching.length === 0) continue;
      found.set(entry, matching);
      for (const record of matching) taken.add(record);
    }
  return [...found].map(([entry, matching]) => ({ entry, records: matching }));
};

/** What another record of the file equals is not what the add made, also if the file drops that one. */
const withOthers = (entry: Entry, { records }: Reading, { isKnown, desiredKeys }: Known): Entry => {
  if (entry.action !== 'add') return entry;
  const before = new Set(idsIn(entry.idsBefore));
  const others = records.filter(
    (record) =>
      !before.has(record.id) &&
      !isKnown(record.id) &&
      isRespelling(entry.after, record) &&
      desiredKeys.has(recordKey(entryOf(record))),
  );
  return others.length === 0
    ? entry
    : { ...entry, idsBefore: rangesOf([...before, ...others.map(({ id }) => id)]) };
};

/** What nobody answered for may be somebody's at a longer name. */
const isDoubtful = ({ action, after }: Entry, { name }: ActualRecord): boolean => {
  const [sent, stored] = [canonicalName(after.name), canonicalName(name)];
  return action === 'add' && sent !== stored && !isRespelled(sent, stored);
};

const isRespelling = (sent: RecordData, stored: RecordData): boolean => {
  const [one, other] = [canonicalRecord(sent), canonicalRecord(stored)];
  const isSame = one.type === other.type && one.content === other.content && one.priority === other.priority;
  return isSame && isNamed(one.name, other.name);
};

/** A TTL that was not sent may be any. Another spelling of the name may be what stood there before. */
const shows = (record: ActualRecord, { before, after }: Entry): boolean =>
  isRespelling(after, record) &&
  (after.ttl === null || after.ttl === record.ttl) &&
  !(before !== null && sameData(before, record));

/** Whether what an earlier write would make is what a later one may have made: of a TTL that one of them did not send, any. */
const repeats = (later: Entry, { id, after }: Entry): boolean =>
  later.id !== id &&
  later.state !== 'failed' &&
  recordKey(entryOf(later.after)) === recordKey(entryOf(after)) &&
  (after.ttl === null || later.after.ttl === null || later.after.ttl === after.ttl);

/** Whether the record stood like that before a write of ours, and the listing may be from before it. */
const mayBeOld = (
  record: ActualRecord,
  entries: readonly Entry[],
  { asked }: Reading,
  times: Times,
): boolean =>
  entries.some(
    ({ state, recordId, before, acceptedAt }) =>
      state === 'accepted' &&
      recordId === record.id &&
      before !== null &&
      sameData(before, record) &&
      elapsed(acceptedAt!, asked) < lagOf(times),
  );

/** One reading after a refusal is enough: that is an answer, and says that nothing was written. */
const isRefused = ({ refusedAt }: Entry, { asked, isWhole }: Reading): boolean =>
  refusedAt !== null && isWhole && !isBefore(asked, refusedAt);

/** The answer and a later reading show the record as it was: the service ignores the change. */
const isIgnored = (
  { unchangedAt, before }: Entry,
  record: ActualRecord,
  { asked }: Reading,
  times: Times,
): boolean =>
  unchangedAt !== null &&
  before !== null &&
  elapsed(unchangedAt, asked) >= times.settle &&
  sameData(before, record);

/** How long after it was sent a write may still appear. An update in place can be sent again, whatever became of it. */
const timeOf = (entry: Pick<Entry, 'before' | 'after'>, times: Times): number =>
  staysAtName(entry) ? times.unknownPause + times.settle : longestTime(times);

const afterTime = (entry: Entry, { asked, read, isWhole }: Reading, times: Times): Entry => {
  if (!isWhole) return entry;
  if (entry.state === 'missed')
    return elapsed(entry.missedAt!, asked) >= times.settle ? { ...entry, state: 'failed' } : entry;
  const isMissed = entry.state === 'sent' && elapsed(entry.sentAt, asked) >= timeOf(entry, times);
  return isMissed ? { ...entry, state: 'missed', missedAt: read } : entry;
};

/** `isOnlyCounted`: the record may be somebody else's. */
export const acceptedAs = (
  entry: Entry,
  record: ActualRecord,
  acceptedAt: Instant,
  isOnlyCounted = false,
): Entry => ({
  ...entry,
  state: 'accepted',
  recordId: record.id,
  stored: dataOf(record),
  acceptedAt,
  idsBefore: [],
  error: null,
  refusedAt: null,
  unchangedAt: null,
  isOnlyCounted,
});

/** An entry because of which the template is not settled. */
export interface OpenEntry {
  readonly entry: Entry;
  /** Until when, in ms since the epoch. */
  readonly until: number;
  /** It was accepted, and the listing is from before it; else its outcome is unknown. */
  readonly isBehind: boolean;
}

/** Empty if the template is settled. */
export const openEntries = (
  entries: readonly Entry[],
  records: readonly ActualRecord[],
  now: Instant,
  times: Times,
): readonly OpenEntry[] => {
  if (entries.length === 0) return [];
  const lag = lagOf(times);
  const unknown = entries
    .filter(({ state }) => state === 'sent')
    .map((entry) => ({ entry, until: endOf(entry.sentAt, timeOf(entry, times), now), isBehind: false }));
  const accepted = entries.filter(
    ({ state, acceptedAt }) => state === 'accepted' && elapsed(acceptedAt!, now) < lag,
  );
  const last = lastById(accepted);
  if (last.size === 0) return unknown;
  const byId = new Map(records.map((record) => [record.id, record]));
  const ofRecord = groupBy(accepted, ({ recordId }) => recordId);
  const behind = [...last.values()]
    .filter(({ recordId, stored }) => {
      const record = byId.get(recordId!);
      const own = ofRecord.get(recordId)!;
      if (!record) return own.some(({ before }) => before === null);
      return !sameData(record, stored!) && own.some((entry) => isFromBefore(record, entry));
    })
    // The listing may be from before any of them.
    .flatMap(({ recordId }) => ofRecord.get(recordId)!)
    .map((entry) => ({ entry, until: endOf(entry.acceptedAt!, lag, now), isBehind: true }));
  return [...unknown, ...behind];
};

/**
 * What the write changed is as it was, also if somebody else has changed the rest before; of a write that moved the record,
 * its name says that. Where it changed nothing of what it should have, all of the record is as it was.
 */
const isFromBefore = (record: ActualRecord, { before, after, stored }: Entry): boolean => {
  if (before === null) return false;
  const [was, sent, is, shown] = [before, after, stored!, record].map(valuesOf);
  const changed = valueKeys.filter((key) => was![key] !== sent![key] && was![key] !== is![key]);
  if (changed.includes('name')) return shown!.name === was!.name;
  const decisive = changed.length > 0 ? changed : valueKeys;
  return decisive.every((key) => shown![key] === was![key]);
};

const valueKeys = ['name', 'content', 'priority', 'ttl'] as const;

const valuesOf = (data: RecordData): Pick<RecordData, (typeof valueKeys)[number]> => ({
  ...canonicalRecord(data),
  ttl: data.ttl,
});

/** The record sets that open entries concern. An update that keeps its record at its name can be sent again at once. */
export const closedSets = (open: readonly OpenEntry[]): ReadonlySet<string> =>
  new Set(
    open
      .filter(({ entry, isBehind }) => isBehind || !staysAtName(entry))
      .flatMap(({ entry: { before, after } }) => (before ? [before, after] : [after]))
      .map((data) => setKey(canonicalRecord(data))),
  );

const staysAtName = ({ before, after }: Pick<Entry, 'before' | 'after'>): boolean =>
  before !== null && canonicalName(before.name) === canonicalName(after.name);

/** What an answer says about the write that it answers. */
export type Verdict =
  | {
      readonly kind: 'accepted';
      readonly record: ActualRecord;
      readonly copies: readonly ActualRecord[];
      readonly isOnlyCounted: boolean;
      /** Whether the answer is the next view; else it is believed of this record alone. */
      readonly isWhole: boolean;
    }
  | { readonly kind: 'unchanged' | 'unknown'; readonly error: string };

/**
 * | of the right template                                    | an answer to an update | an answer to an add         |
 * | -------------------------------------------------------- | ---------------------- | --------------------------- |
 * | whole, with one new record, of its type or its content   | believed of its record | that is the record          |
 * | whole, with another new record, or none                  | believed of its record | unknown                     |
 * | it lacks records of the view, or shows more than one new | believed of its record | a new one that equals it is |
 *
 * `isOld`: whether a reading, or a write of ours, is remembered of the id.
 */
export const judgeAnswer = (
  entry: Entry,
  view: ActualTemplate,
  answer: ActualTemplate,
  isOld: (id: number) => boolean,
): Verdict => {
  if (answer.id !== view.id) return undecided(`the answer is template ${answer.id}, not ${view.id}`);
  const shown = new Set(answer.records.map(({ id }) => id));
  const lacks = view.records.filter(({ id }) => !shown.has(id)).length;
  const seen = new Set(view.records.map(({ id }) => id));
  const more = answer.records.filter(({ id }) => !seen.has(id) && !isOld(id)).sort((a, b) => a.id - b.id);
  if (entry.action !== 'add') {
    const record = answer.records.find(({ id }) => id === entry.recordId);
    if (!record) return undecided('the answer does not show the record');
    if (sameData(record, entry.before!))
      return { kind: 'unchanged', error: 'the answer shows the record as it was' };
    return { kind: 'accepted', record, copies: [], isOnlyCounted: false, isWhole: lacks + more.length === 0 };
  }
  const [same, ...copies] = more.filter((record) => recordKey(entryOf(record)) === entry.key);
  const isWhole = lacks === 0 && more.length === 1;
  if (same) return { kind: 'accepted', record: same, copies, isOnlyCounted: false, isWhole };
  const [only] = more;
  if (isWhole && isOfType(entry.after, only!))
    return {
      kind: 'accepted',
      record: only!,
      copies: [],
      isOnlyCounted: !isOwn(entry.after, only!),
      isWhole,
    };
  if (lacks > 0) return undecided(`the answer lacks ${lacks} of the template's records`);
  return undecided(
    more.length === 0
      ? 'the answer does not show the record'
      : `the answer has ${more.length} other new records`,
  );
};

/** A service may also turn a type into another one. */
const isOfType = (sent: RecordData, stored: RecordData): boolean =>
  canonicalType(sent.type) === canonicalType(stored.type) || sent.content === stored.content;

const undecided = (error: string): Verdict => ({ kind: 'unknown', error });

/**
 * Whether a new record is certainly ours: by its content and its name, in any spelling of that, or by its name and the letters
 * and digits of its content.
 */
const isOwn = (sent: RecordData, stored: RecordData): boolean => {
  const [one, other] = [canonicalRecord(sent), canonicalRecord(stored)];
  if (one.type !== other.type) return false;
  if (one.content === other.content) return isNamed(one.name, other.name);
  return (
    one.name === other.name && !isAddress(one.content) && lettersOf(one.content) === lettersOf(other.content)
  );
};
