import type { ActualRecord, RecordData } from '../../src/model/record.ts';
import type { DesiredTemplate, ActualTemplate } from '../../src/model/template.ts';
import type { RecordChange } from '../../src/plan/step.ts';
import { canonicalRecord, canonicalType } from './canonical.ts';
import { keyOf, satisfies, setOf } from './records.ts';
import type { Sent } from './service.ts';

/** What a pass is allowed to do, known to the one who started it. */
export interface PassFacts {
  readonly number: number;
  readonly isDryRun: boolean;
  readonly isCommand: boolean;
  readonly force: boolean;
  readonly retry: boolean;
  readonly acceptLoss: boolean;
  /** By template id: the files that are in force, and that this pass is to look at. */
  readonly desired: ReadonlyMap<number, DesiredTemplate>;
  readonly maxAddsPerPass: number;
  /** The call at which the program gets a signal to end. */
  readonly stopAt: number | null;
  readonly settle: number;
  /** How far the client's clock is ahead of the true time. */
  readonly skew: number;
}

/** Records of one template as the client was shown them. */
export interface View {
  readonly at: number;
  readonly isListing: boolean;
  readonly records: readonly ActualRecord[];
  /** Of a dry run, or of a pass that died or had a full disk: no later pass can know it. */
  readonly isForgotten?: boolean;
}

/** A write as it was sent, with its records. */
export interface SentAttempt {
  readonly sent: Sent;
  readonly pass: PassFacts;
  /** What the record would be, were it stored as sent. */
  readonly after: RecordData;
  readonly before: ActualRecord | null;
  readonly key: string;
  readonly set: string;
  /** Whether it was shown since, and whether it was missed in two readings `settle` apart. */
  isShown: boolean;
  isMissed: boolean;
  firstMissedAt: number | null;
  /** A person has retried it since. */
  isForgiven: boolean;
  /** A person has allowed another one since, whether this one still comes or not. */
  isWaived: boolean;
  /** The file was seen without it since. */
  isWithdrawn: boolean;
  /** Whether its outcome is on disk. */
  isKept: boolean;
  /** Whether the answer was complete, so that a client could trust it. */
  isBelieved: boolean;
  /** The clock was set since: the client cannot tell how long ago it was sent. */
  isUndated: boolean;
  /** Its answer showed a record that it may have made, and did not: the client cannot know. */
  isAmbiguous: boolean;
}

/** Everything that was seen of one template since its state began: the basis of the laws. */
export interface TemplateCase {
  readonly templateId: number;
  /** Since the state began, or since a person last retried. */
  attempts: SentAttempt[];
  /** By record id: the key of the desired record for which it was last made, changed or found; `#` once parked. */
  readonly standsFor: Map<number, string>;
  /** By record id: the keys of all desired records for which it may have been taken. */
  readonly everStoodFor: Map<number, Set<string>>;
  /** By key: the id in the state. */
  readonly known: Map<string, number>;
  /** Keys of those that a pass was shown and may have saved, without a proper end. */
  readonly perhapsKnown: Set<string>;
  /** When records with a remaining copy were first missing, by id. */
  readonly missed: Map<number, number>;
  /** Ids that a file has listed since the state began. */
  readonly onceDesired: Set<number>;
  /** Every add that was begun, sent or not. */
  readonly begun: RecordData[];
  /** Every update that was begun, sent or not: a client that died cannot know whether it was sent. */
  readonly begunUpdates: { readonly recordId: number; readonly key: string }[];
  /** Ids that appeared after a similar add was begun: it may have made them. */
  readonly maybe: Set<number>;
  readonly seen: Set<number>;
  /** Of those, the ones that this pass saw first. */
  seenFirst: number[];
  /** Ids that were seen first after an add was begun. */
  readonly late: Set<number>;
  /** What was shown in this pass. */
  views: View[];
  /** How many of them there were when the last write was begun. */
  viewsWhenBegun: number;
  /** What was shown in the passes before. */
  readonly past: View[];
  /** The last listing in a pass that could save it. */
  lastKept: View | null;
  /** Whether anything was saved of it. */
  isMet: boolean;
  /** Whether a person has said that what listings lack, or show otherwise, is not there. */
  isRetried: boolean;
  /** By record set: the most records that a file has listed in it since the state began. */
  readonly mostListed: Map<string, number>;
  /** Edits of its file when the state began. */
  editsWhenMet: number | null;
}

export const emptyCase = (templateId: number): TemplateCase => ({
  templateId,
  attempts: [],
  standsFor: new Map(),
  everStoodFor: new Map(),
  known: new Map(),
  perhapsKnown: new Set(),
  missed: new Map(),
  onceDesired: new Set(),
  begun: [],
  begunUpdates: [],
  maybe: new Set(),
  seen: new Set(),
  seenFirst: [],
  late: new Set(),
  views: [],
  viewsWhenBegun: 0,
  past: [],
  lastKept: null,
  isMet: false,
  isRetried: false,
  mostListed: new Map(),
  editsWhenMet: null,
});

/**
 * What a client may take to be the template: the last answer, the last listing, and the last view that lacks nothing
 * of the one before. Which of them it goes by is its own affair, as long as it keeps the law by one.
 */
export const plausibleViews = ({ views }: TemplateCase, isForAny = false): View[] => {
  let believed: View | undefined;
  for (const view of views) {
    const ids = new Set(view.records.map(({ id }) => id));
    if (!believed || believed.records.every(({ id }) => ids.has(id))) believed = view;
  }
  const last = [
    believed,
    views.findLast((view) => !view.isListing),
    views.findLast((view) => view.isListing),
  ];
  // Of several readings since the last answer the last ones may have been for other templates' sake, and older.
  const own = isForAny ? views.slice(views.findLastIndex(({ isListing }) => !isListing) + 1) : [];
  return [...new Set([...last.filter((view) => view !== undefined), ...own])];
};

export const attemptOf = (
  sent: Sent,
  pass: PassFacts,
  view: View | undefined,
  one: TemplateCase,
): SentAttempt => {
  const { write } = sent;
  const before =
    write.action === 'add' ? null : (view?.records.find(({ id }) => id === write.change.recordId) ?? null);
  const stored = write.action === 'add' ? write.record : merged(before, write.change);
  const isDesired = pass.desired.get(sent.templateId)?.records.some((record) => satisfies(stored, record));
  const isOfNameless = before !== null && isNamedByService(one, before) && !isDesired;
  const isNamed = write.action === 'add' || write.change.name !== null;
  // A record that the service named has no name in the file.
  const after = isOfNameless && !isNamed ? { ...stored, name: null } : stored;
  return {
    sent,
    pass,
    after,
    before,
    key: keyOf(after),
    set: setOf(after),
    isShown: false,
    isMissed: false,
    firstMissedAt: null,
    isForgiven: false,
    isWaived: false,
    isWithdrawn: false,
    isKept: false,
    isBelieved: false,
    isUndated: false,
    isAmbiguous: false,
  };
};

/** Whether it was last sent without a name, or has that of the domain and was so before: it may have been restored since. */
const isNamedByService = (
  { standsFor, everStoodFor }: TemplateCase,
  { id, type, name }: ActualRecord,
): boolean => {
  const keys = name === '##DOMAIN##' ? (everStoodFor.get(id) ?? []) : [standsFor.get(id)];
  return [...keys].some((key) => key?.startsWith(`${canonicalType(type)} @ `));
};

const merged = (before: ActualRecord | null, change: RecordChange): RecordData => ({
  type: before?.type ?? '?',
  name: change.name ?? before?.name ?? null,
  content: change.content ?? before?.content ?? '',
  priority: change.priority ?? before?.priority ?? null,
  ttl: change.ttl ?? before?.ttl ?? null,
});

/** A view shows which records belong to which desired ones: the equal ones. */
export const takeView = (one: TemplateCase, desired: DesiredTemplate | undefined, view: View): void => {
  one.views.push(view);
  for (const record of view.records) {
    const isNew = !one.seen.has(record.id);
    if (isNew && one.begun.length > 0) one.late.add(record.id);
    // Somebody may change it before a trusted reading shows it.
    const isLike = (sent: RecordData): boolean => keyOf(sent) === keyOf(record) || isAlike(sent, record);
    if (one.late.has(record.id) && one.begun.some(isLike)) one.maybe.add(record.id);
    for (const { recordId, key } of one.begunUpdates)
      if (recordId === record.id && key === keyOf(record)) takeFor(one, record.id, key);
    // A dry run saves nothing of what it saw.
    if (!isNew || view.isForgotten === true) continue;
    one.seen.add(record.id);
    one.seenFirst.push(record.id);
    for (const attempt of one.attempts)
      attempt.isAmbiguous ||= isAdd(attempt) && !isListed(one, attempt) && isRival(record, attempt);
  }
  for (const attempt of one.attempts) settle(attempt, view);
  if (!desired) return;
  for (const record of view.records) {
    for (const candidate of desired.records) {
      if (keyOf(candidate) === keyOf(record)) one.standsFor.set(record.id, keyOf(record));
      if (isSameContent(candidate, record)) takeFor(one, record.id, keyOf(candidate));
    }
  }
};

/** From now on its views are those of an earlier pass; `isForgotten`: which can have saved none of them. */
export const takePast = (one: TemplateCase, isForgotten: boolean): void => {
  one.past.push(...one.views.map((view) => ({ ...view, isForgotten })));
  one.views = [];
};

/** A listing's view of a template outside the scope of the pass is not saved. */
export const forgetSeen = (one: TemplateCase): void => {
  for (const id of one.seenFirst) one.seen.delete(id);
};

/** A file may own a record that differs only in priority and TTL. */
const isSameContent = (desired: RecordData, record: RecordData): boolean =>
  setOf(desired) === setOf(record) && canonicalRecord(desired).content === canonicalRecord(record).content;

export const takeFor = (one: TemplateCase, id: number, key: string): void => {
  const keys = one.everStoodFor.get(id) ?? new Set();
  one.everStoodFor.set(id, keys.add(key));
  one.onceDesired.add(id);
};

/** Whether a listing before the last view showed what it made. */
const isListed = ({ past, views }: TemplateCase, { sent }: SentAttempt): boolean =>
  [...past, ...views.slice(0, -1)].some(
    ({ isListing, records }) => isListing && records.some(({ id }) => id === sent.recordId),
  );

/** Records that an add seems to have made, and did not. */
const isRival = (record: ActualRecord, { sent, after, key }: SentAttempt): boolean =>
  record.id !== sent.recordId && (keyOf(record) === key || isAlike(after, record));

const isAlike = (sent: RecordData, record: RecordData): boolean => {
  const [a, b] = [canonicalRecord(sent), canonicalRecord(record)];
  const isBelow = (name: string, longer: string): boolean => name !== '' && longer.startsWith(`${name}.`);
  const isRenamed = isBelow(a.name, b.name) || isBelow(b.name, a.name);
  const isAtName = a.name === b.name && a.type !== 'TXT';
  return a.type === b.type && (isAtName || (a.content === b.content && isRenamed));
};

const settle = (attempt: SentAttempt, { at, isListing, records }: View): void => {
  if (records.some(({ id }) => id === attempt.sent.recordId)) {
    attempt.isShown = true;
    return;
  }
  const { settle: pause } = attempt.pass;
  if (!isListing || at < attempt.sent.at + pause) return;
  if (attempt.firstMissedAt === null) attempt.firstMissedAt = at;
  else if (at - attempt.firstMissedAt >= pause) attempt.isMissed = true;
};

/** An add whose outcome the client cannot know yet. */
export const isPending = (attempt: SentAttempt): boolean =>
  isAdd(attempt) &&
  attempt.sent.told === 'nothing' &&
  !attempt.isShown &&
  !attempt.isMissed &&
  !attempt.isForgiven &&
  !attempt.isAmbiguous;

/** Its outcome is on disk. An add whose record it is known to have made another one counts no longer. */
export const takeKept = (one: TemplateCase, kept: SentAttempt): void => {
  kept.isKept = true;
  const id = kept.sent.told === 'an answer' ? recordOf(kept) : null;
  for (const attempt of one.attempts)
    if (id !== null && recordOf(attempt) === id && attempt.key !== kept.key) attempt.isWithdrawn = true;
};

/** A pass that ended, or saved what it saw, has seen which records the file dropped. */
export const takeWithdrawn = (one: TemplateCase, desired: DesiredTemplate): void => {
  const keys = new Set(desired.records.map(keyOf));
  for (const attempt of one.attempts) if (!keys.has(attempt.key)) attempt.isWithdrawn = true;
};

/** A record that no file lists and no reading shows is forgotten by any pass that ends properly. */
export const takeGone = (
  one: TemplateCase,
  desired: DesiredTemplate,
  records: readonly ActualRecord[],
): void => {
  const ids = new Set(records.map(({ id }) => id));
  const keys = new Set(desired.records.map(keyOf));
  for (const [key, id] of one.known) if (!keys.has(key) && !ids.has(id)) one.known.delete(key);
};

/** A pass with a proper end has saved what it saw last. */
export const takeEnd = (
  one: TemplateCase,
  desired: DesiredTemplate,
  { at, records }: View,
  pause: number,
): void => {
  const from = one.views[0]?.at ?? at;
  for (const record of desired.records) {
    const copies = records.filter((actual) => satisfies(actual, record));
    const known = one.known.get(keyOf(record));
    const [first] = copies.toSorted((a, b) => a.id - b.id);
    if (!first || copies.some(({ id }) => id === known)) continue;
    const write = one.attempts.findLast((attempt) => attempt.key === keyOf(record));
    const written = copies.find(({ id }) => write && recordOf(write) === id);
    if (written) {
      one.known.set(keyOf(record), written.id);
      continue;
    }
    // A record that was missed only once may still be there, unless an add was sent for it.
    const add = one.attempts.findLast((attempt) => isAdd(attempt) && attempt.key === keyOf(record));
    const isAdded = add !== undefined && add.sent.recordId !== known;
    const there = records.find(({ id }) => id === known);
    if (there && !desired.records.some((other) => satisfies(there, other))) continue;
    const missedAt = known === undefined ? undefined : one.missed.get(known);
    const isMissedTwice = missedAt !== undefined && from - missedAt >= pause;
    if (known === undefined || there || isAdded || isMissedTwice) one.known.set(keyOf(record), first.id);
    else if (missedAt === undefined) one.missed.set(known, at);
  }
};

/** A pass without a proper end may have saved any of its readings. */
export const takeDoubt = (one: TemplateCase, desired: DesiredTemplate): void => {
  for (const record of desired.records) {
    const copies = one.views.flatMap(({ records }) => records.filter((actual) => satisfies(actual, record)));
    const key = keyOf(record);
    const add = one.attempts.findLast((attempt) => isAdd(attempt) && attempt.key === key);
    const isAdded = copies.some(({ id }) => id === add?.sent.recordId);
    if (isAdded || (copies.length > 0 && !one.known.has(key))) one.perhapsKnown.add(key);
  }
};

/** The state may or may not have what it had: it is held to what is true either way. */
export const loseCommits = (one: TemplateCase): void => {
  for (const attempt of one.attempts) {
    attempt.isForgiven = true;
    attempt.isKept = false;
    attempt.isBelieved = false;
    if (attempt.sent.told === 'an answer') attempt.sent.told = 'nothing';
    one.perhapsKnown.add(attempt.key);
  }
  for (const key of one.known.keys()) one.perhapsKnown.add(key);
  one.missed.clear();
  one.lastKept = null;
};

/** The record that it made or changed, if it did. */
export const recordOf = ({ sent }: SentAttempt): number | null =>
  sent.write.action === 'add' ? sent.recordId : sent.write.change.recordId;

export const isAdd = ({ sent }: SentAttempt): boolean => sent.write.action === 'add';

/** Whether the client can know that it did not land. */
export const hasFailed = ({ sent }: SentAttempt): boolean => sent.told === 'failed';

export const templateIn = (templates: readonly ActualTemplate[], id: number): ActualTemplate | undefined =>
  templates.find((template) => template.id === id);

/** As far as a law goes by it later, for states that are seen again. */
export const remembered = (one: TemplateCase, now: number): unknown => {
  const age = (at: number | null): number | null => at && Math.min(3_600, Math.round((now - at) / 1_000));
  const { attempts, views, past, lastKept } = one;
  return [
    attempts.map(({ sent, pass, before, key, ...flags }) => [
      key,
      { ...flags, after: null, firstMissedAt: age(flags.firstMissedAt) },
      [sent.landed, sent.recordId, sent.told, age(sent.at), age(sent.dueAt), before?.id, pass.retry],
    ]),
    [one.standsFor, one.everStoodFor, one.known, one.missed, one.mostListed].map((map) =>
      [...map].map(([key, value]) => [key, value instanceof Set ? [...value] : value]),
    ),
    [one.perhapsKnown, one.onceDesired, one.maybe, one.seen, one.late].map((set) => [...set]),
    [
      views.at(-1)?.records,
      past.at(-1)?.records,
      lastKept?.records,
      one.isMet,
      one.isRetried,
      one.editsWhenMet,
    ],
  ];
};
