import type { ActualRecord, RecordData } from '../../src/model/record.ts';
import {
  canonicalName,
  canonicalRecord,
  canonicalType,
  hasPriority,
  isKnownType,
  isParkedName,
  textKind,
} from './canonical.ts';
import {
  type Attempt,
  type FileFacts,
  type LawContext,
  type Standing,
  type TemplateCase,
  type View,
  type Write,
} from './seen.ts';
import { keyOf, placedKeyOf, placedSetOf, placeOf, sameState, satisfies, setOf, shown } from './records.ts';

/*
 * The laws of what leaves, and of what arrives: 13, which is of what is told, stands in told.ts. Where the pass was shown
 * a record in several ways, a write is lawful that is so by one of them: which it goes by is its own affair.
 */

/** Says what is wrong; null where the law is kept. */
type Law = (attempt: Attempt, context: LawContext) => string | null;

type Laws = readonly (readonly [law: number, of: Law])[];

export const sendingLaws = (attempt: Attempt, context: LawContext): string[] =>
  breachesOf(whenSent, attempt, context);

export const arrivalLaws = (attempt: Attempt, context: LawContext): string[] =>
  breachesOf(whenItArrives, attempt, context);

const breachesOf = (laws: Laws, attempt: Attempt, context: LawContext): string[] =>
  laws.flatMap(([number, law]) => {
    const what = law(attempt, context);
    return what === null ? [] : [`law ${number}: ${what}`];
  });

const isAdd = ({ sent }: Attempt): boolean => sent.write.action === 'add';

/** As the pass was shown it last. */
const beforeOf = ({ before }: Attempt): ActualRecord | null => before[0] ?? null;

const nameOf = (attempt: Attempt): string =>
  shown(attempt.after[0] ?? { type: '?', name: null, content: '?', priority: null, ttl: null });

const asSpecified: Law = (attempt, { isOwn }) => {
  if (!isOwn) return 'writes to no template of the client';
  return attempt.after.length === 0
    ? 'updates what is not there'
    : breachOf(attempt.sent.write, beforeOf(attempt));
};

/** What the specification forbids in a request; null if it is valid. */
const breachOf = (write: Write, before: RecordData | null): string | null => {
  const own =
    write.action === 'add' ? write.record : before && { ...before, type: canonicalType(before.type) };
  const sent = write.action === 'add' ? write.record : write.change;
  if (!own) return 'an update of a record that was not shown';
  if (!isKnownType(own) || own.type !== canonicalType(own.type)) return `a write of type ${own.type}`;
  const needsName = own.type === 'PTR' || own.type === 'SRV';
  if (needsName && !sent.name) return `a name is required for ${own.type}`;
  if (hasPriority(own.type) && sent.priority === null) return `a priority is required for ${own.type}`;
  if (!hasPriority(own.type) && sent.priority !== null) return `a priority is not applicable to ${own.type}`;
  return null;
};

const inForce: Law = (attempt, { pass, file, one }) => {
  if (pass.isDryRun) return 'writes in a dry run';
  if (pass.isSuspended) return 'writes what is suspended';
  if (!file) return 'writes a template that no file in force describes';
  if (file.mode === 'report') return 'writes in mode report';
  return file.mode === 'edits' && !pass.force && !isOfEdit(attempt, one, file)
    ? `writes ${nameOf(attempt)} in mode edits without an edit`
    : null;
};

/** An earlier version of the file lacked what is written, or had what makes way. */
const isOfEdit = (attempt: Attempt, one: TemplateCase, file: FileFacts): boolean => {
  const earlier = one.files.slice(0, -1);
  const wanted = file.records.filter((record) => attempt.after.some((after) => isMet(after, record)));
  // An edit may leave the record of one to another one of its set.
  const isNew = wanted.some((record) =>
    earlier.some((version) => inSetOf(record, version) !== inSetOf(record, file)),
  );
  const dropped = earlier.flatMap(({ records }) =>
    records.filter((old) => !file.records.some((record) => sameState(old, record))),
  );
  const isDropped = dropped.length > 0 && attempt.before.some(({ id }) => one.ours.has(id));
  return isNew || (wanted.length === 0 && isDropped) || isUndoing(attempt, one);
};

/** What a file says of the record set. */
const inSetOf = (record: RecordData, { records }: FileFacts): string =>
  records
    .filter((other) => placedSetOf(other) === placedSetOf(record))
    .map((other) => shown(other))
    .sort()
    .join();

/** As the file says it, under its name for it. */
const isMet = (actual: RecordData, desired: RecordData): boolean =>
  satisfies({ ...actual, name: placeOf(actual) }, { ...desired, name: placeOf(desired) });

const toAnEnd: Law = (attempt, { file, one }) => {
  if (isAdd(attempt) || isParking(attempt) || isUndoing(attempt, one)) return null;
  return file?.records.some((record) => attempt.after.some((after) => isMet(after, record)))
    ? null
    : `updates to what nobody wants: ${nameOf(attempt)}`;
};

/** Named by its id, with a content that serves nobody. */
const isParking = ({ before, after }: Attempt): boolean =>
  after.some(
    (record) => placeOf(record) === `_parked-${before[0]?.id}` && inert.has(canonicalRecord(record).content),
  );

const inert = new Set(['0.0.0.0', '::', 'parked.invalid', '0 0 parked.invalid', 'parked']);

/** The record as it was before a write of ours, under its name. */
const isUndoing = ({ before, after, sent }: Attempt, { attempts }: TemplateCase): boolean =>
  attempts.some(
    (other) =>
      other.sent !== sent &&
      !isAdd(other) &&
      other.before[0]?.id === before[0]?.id &&
      [...other.before, ...(other.replaced ? [other.replaced] : [])].some((was) =>
        after.some((record) => placedKeyOf(was) === placedKeyOf(record)),
      ),
  );

const asTheFileSays: Law = (attempt, { file }) =>
  !isAdd(attempt) || file?.records.some((record) => sameState(record, attempt.after[0]!))
    ? null
    : `adds what the file does not say: ${nameOf(attempt)}`;

const ofOurOwn: Law = (attempt, { file, one }) => {
  const [last] = attempt.before;
  if (!last || !file) return null;
  if (!isKnownType(last)) return `touches a type it does not know: ${shown(last)}`;
  if (attempt.before.every((before) => file.isIgnored(before)))
    return `touches what is ignored: ${shown(last)}`;
  if (isUndoing(attempt, one)) return null;
  if (isParking(attempt) && file.surplus !== 'park') return `parks without park: ${shown(last)}`;
  return attempt.before.some((before) => isOurs(before, attempt, file, one))
    ? null
    : `touches a stranger: ${shown(last)}`;
};

/**
 * A record set that the file names belongs to the file, but for texts, which have several owners; and what is parked, if no
 * reading of the pass shows it otherwise.
 */
const isOurs = (before: ActualRecord, attempt: Attempt, file: FileFacts, one: TemplateCase): boolean => {
  const { after, pass, sent } = attempt;
  const views = pass.views.get(sent.templateId) ?? [];
  const readings = views.flatMap(({ records }) => records.filter(({ id }) => id === before.id));
  const isParked = [before, ...readings].every((shownOnce) => isParkedName(placeOf(shownOnce)));
  if (isParked || one.ours.has(before.id) || one.taken.has(before.id)) return true;
  if (file.surplus === 'park' && file.adopt) return true;
  const isInSet = file.records.some((record) => placedSetOf(record) === placedSetOf(before));
  if (before.type.toUpperCase() !== 'TXT') return isInSet;
  const kindOf = (record: RecordData): string | null =>
    textKind(placeOf(record), canonicalRecord(record).content);
  const isSame = after.some((record) => canonicalRecord(record).content === canonicalRecord(before).content);
  return (
    isInSet &&
    (isSame || (kindOf(before) !== null && after.some((record) => kindOf(record) === kindOf(before))))
  );
};

const withinLimits: Law = (attempt, { pass, file, one, views }) => {
  const own = pass.attempts.filter(({ sent }) => sent.templateId === attempt.sent.templateId);
  const isAgain = own.some((other) => isSameStep(other, attempt));
  if (isAgain) return `takes a step again in one pass: ${nameOf(attempt)}`;
  if (!file || pass.force) return null;
  const { maxAdds, maxChangePercent, minRecords } = file.limits;
  if (isAdd(attempt)) {
    if (own.filter(isAdd).length + 1 > maxAdds) return 'adds more than maxAdds';
    return pass.attempts.filter(isAdd).length + 1 > pass.maxAddsPerPass
      ? 'adds more than maxAddsPerPass'
      : null;
  }
  const changes = new Set(
    [...own, attempt]
      .filter((other) => !isAdd(other) && !isUndoing(other, one))
      .map((other) => beforeOf(other)?.id),
  );
  // A listing may lack what was added shortly before.
  const added = one.attempts.filter(
    (other) => isAdd(other) && other.sent.at > attempt.sent.at - longestLag,
  ).length;
  const listed = [
    ...views.map(({ records }) => records),
    [...one.standing.values()].map(({ record }) => record),
  ];
  const sizes = listed
    .map((records) => records.filter(isKnownType).length)
    .flatMap((size) => [size, size + added]);
  return sizes.every((size) => size >= minRecords && changes.size * 100 > size * maxChangePercent)
    ? `changes ${changes.size} of ${sizes[0]} records, more than maxChangePercent`
    : null;
};

/** Ms for which a listing may be behind our own writes. */
const longestLag = 600_000;

const isSameStep = (one: Attempt, other: Attempt): boolean =>
  isAdd(one) === isAdd(other) &&
  beforeOf(one)?.id === beforeOf(other)?.id &&
  one.after.length > 0 &&
  other.after.length > 0 &&
  sameState(one.after[0]!, other.after[0]!);

/** No memory of it, and no name of the file is there: a person has to look first. */
const notAtFirstSight: Law = (attempt, { pass, file, one, views }) => {
  if (!isAdd(attempt) || !file || pass.force || pass.retry || file.adopt) return null;
  if (one.ours.size + one.taken.size > 0) return null;
  const sets = new Set(file.records.map(setOf));
  const isStrange = views.every(
    ({ records }) => records.length > 0 && records.every((record) => !sets.has(setOf(record))),
  );
  return isStrange ? 'adds to a template that looks like no file of ours' : null;
};

/** Much that the two passes before were shown is gone: another pass has to agree. */
const notAfterALoss: Law = (attempt, { pass, file, one, views }) => {
  const listing = views.findLast(({ isListing }) => isListing);
  if (!isAdd(attempt) || !file || pass.acceptLoss || !listing) return null;
  const isShown = (id: number, view: { readonly records: readonly ActualRecord[] } | null): boolean =>
    view?.records.some((record) => record.id === id) === true;
  const isMade = (id: number): boolean =>
    one.attempts.some(({ sent, isForgotten }) => sent.recordId === id && !isForgotten);
  // What we added in the last ten minutes may be missing since the listing is older.
  const isYoung = (id: number): boolean =>
    one.attempts.some(
      (other) => isAdd(other) && other.sent.recordId === id && attempt.sent.at - other.sent.at < longestLag,
    );
  // Wanted then and now, and known for that: by its spelling, or since we made it.
  const wanted = [...one.ours].filter((id) =>
    [file, one.keptFile].every((version) =>
      version?.records.some((record) =>
        one.lastListed?.records.some(
          (actual) =>
            actual.id === id && isMet(actual, record) && (isMade(id) || keyOf(actual) === keyOf(record)),
        ),
      ),
    ),
  );
  const lost = wanted.filter(
    (id) => one.lastShown.has(id) && isShown(id, one.lastKept) && !isShown(id, listing) && !isYoung(id),
  );
  // A copy is no loss.
  const there = new Set(listing.records.map((record) => placedKeyOf(record)));
  const keys = new Set(
    one.lastListed?.records
      .filter(({ id }) => lost.includes(id))
      .map((record) => placedKeyOf(record))
      .filter((key) => !there.has(key)),
  );
  return keys.size >= 2 && keys.size * 100 > one.ours.size * file.limits.maxChangePercent
    ? `adds right after the loss of ${lost.map((id) => `#${id}`).join(', ')}`
    : null;
};

/** Whether it makes a record stand at a name, or leave one. */
const isMove = ({ before, after }: Attempt): boolean =>
  before.every((record, at) => placeOf(record) !== placeOf(after[at]!));

const setsOf = ({ before, after }: Attempt): string[] => [...before, ...after].map(placedSetOf);

const atRest: Law = (attempt, { one, service }) =>
  service.isKind
    ? unsettledBy(
        attempt,
        one.attempts.filter(({ sent }) => sent.landed === 'coming'),
        'is on its way',
      )
    : null;

const asShown: Law = (attempt, { one, service, views }) => {
  if (!service.isKind) return null;
  const unseen = one.attempts.filter((other) => {
    const { recordId, at } = other.sent;
    if (recordId === null || one.standing.get(recordId)?.by !== other || other.stored === null) return false;
    const { stored } = other;
    // What can be sent again in place, and has not shown itself when it could not come any more, is over before its time.
    const isUntold = other.sent.told === 'nothing' || other.pass.hasDied;
    if (isUntold && !isMove(other) && views.filter((view) => view.at > at + service.delay).length >= 2)
      return false;
    // What somebody made of it just before is in no listing that the write was planned from.
    const { replaced, before } = other;
    if (replaced !== null && !before.some((record) => sameState(record, replaced))) return false;
    // What an older listing shows in its place may be from a write whose expectation a person has waived.
    if (one.attempts.some((earlier) => earlier.isWaived && earlier.sent.recordId === recordId)) return false;
    return !views.some(
      (view) =>
        view.at >= at && view.records.some((record) => record.id === recordId && isAsPlaced(record, stored)),
    );
  });
  return unsettledBy(attempt, unseen, 'was not shown to this pass');
};

/** But for the service's spelling of its name. */
const isAsPlaced = (one: RecordData, other: RecordData): boolean =>
  placedKeyOf(one) === placedKeyOf(other) && one.ttl === other.ttl;

/** The client can know of it, and has no leave to forget it. */
const isAccountable = ({ isForgotten, isWaived, isRivalled, isMisled }: Attempt): boolean =>
  !isForgotten && !isWaived && !isRivalled && !isMisled;

const unsettledBy = (attempt: Attempt, others: readonly Attempt[], why: string): string | null => {
  const open = others.filter((other) => other !== attempt && isAccountable(other));
  const [first] = open;
  if (first && isMove(attempt))
    return `${isAdd(attempt) ? 'adds' : 'moves'} ${nameOf(attempt)} while ${nameOf(first)} ${why}`;
  const sets = setsOf(attempt);
  const beside = open.find((other) => isMove(other) && setsOf(other).some((set) => sets.includes(set)));
  return beside ? `writes ${nameOf(attempt)} while ${nameOf(beside)} ${why}` : null;
};

const notMadeAlready: Law = (attempt, { one, service, views, file }) => {
  if (!isAdd(attempt)) return null;
  const key = keyOf(attempt.after[0]!);
  const made = one.attempts.filter((other) => other !== attempt && isAdd(other) && isAccountable(other));
  const standing = made.find(
    (other) =>
      other.sent.landed === 'yes' &&
      keyOf(other.after[0]!) === key &&
      one.standing.get(other.sent.recordId!)?.by === other &&
      !(file?.adopt && isNamedByService(other)),
  );
  if (standing && service.isKind)
    return `adds again what stands as #${standing.sent.recordId}: ${nameOf(attempt)}`;
  const counted = made.filter(({ sent }) => sent.told === 'nothing' || sent.told === 'an answer');
  if (counted.filter((other) => keyOf(other.after[0]!) === key && !other.isWithdrawn).length >= 2)
    return `adds a third time: ${nameOf(attempt)}`;
  const set = setOf(attempt.after[0]!);
  const isLost = (other: Attempt): boolean =>
    setOf(other.after[0]!) === set &&
    other.sent.told === 'nothing' &&
    !other.isShown &&
    !isListed(other, views) &&
    // One that the service refuses since cannot take effect; and one that it answers, or shows, has made the record.
    !one.attempts
      .slice(one.attempts.indexOf(other) + 1)
      .some(
        (later) =>
          isAdd(later) &&
          keyOf(later.after[0]!) === keyOf(other.after[0]!) &&
          (later.sent.told !== 'nothing' || later.isShown),
      );
  const lost = made.filter(isLost);
  return lost.length >= 2 ? `adds to a record set after ${lost.length} lost adds: ${nameOf(attempt)}` : null;
};

/** Its record is there by now, from anybody. */
const isListed = ({ after }: Attempt, views: readonly View[]): boolean =>
  views.some(({ records }) => records.some((record) => keyOf(record) === keyOf(after[0]!)));

/** A name cannot be taken from it again: with `adopt`, a person has said that the file's record comes beside it. */
const isNamedByService = ({ after, stored }: Attempt): boolean =>
  stored !== null && canonicalName(after[0]!.name) === '' && canonicalName(stored.name) !== '';

const notMadeMeanwhile: Law = (attempt, { one, service, file }) => {
  if (!isAdd(attempt) || !service.isKind || !isAccountable(attempt) || attempt.pass.retry) return null;
  const copy = one.attempts.find(
    (other) =>
      other !== attempt &&
      isAccountable(other) &&
      isAdd(other) &&
      keyOf(other.after[0]!) === keyOf(attempt.after[0]!) &&
      one.standing.get(other.sent.recordId ?? -1)?.by === other &&
      !(file?.adopt && isNamedByService(other)),
  );
  return copy ? `makes a second ${nameOf(attempt)} beside #${copy.sent.recordId}` : null;
};

/** Null MX beside others is the same for MX (RFC 7505 §3). */
const alone: Law = (attempt, { one, service, pass, file, views }) => {
  const { stored, replaced, sent } = attempt;
  if (!stored || !service.isKind || !isAccountable(attempt) || pass.retry) return null;
  const isAtItsName = replaced !== null && placeOf(replaced) === placeOf(stored);
  if (isAtItsName && isNullMx(replaced) === isNullMx(stored)) return null;
  if (isParkedName(placeOf(stored)) || isUndoing(attempt, one)) return null;
  // A service that keeps names or contents as they are has put it there.
  const isAsMeant = (after: RecordData): boolean =>
    placeOf(after) === placeOf(stored) && isNullMx(after) === isNullMx(stored);
  if (!attempt.after.some(isAsMeant)) return null;
  const before = views.filter(({ at }) => at <= sent.at);
  // One listing may be wrong, and agree with the one before it.
  const isAlone = before.filter(({ isListing }) => isListing).length < 2;
  const readAt = Math.min(before[0]?.at ?? sent.at, (isAlone ? one.lastListed?.at : undefined) ?? Infinity);
  const isShown = (there: ActualRecord): boolean =>
    before.some(({ records }) =>
      records.some((listed) => listed.id === there.id && sameState(listed, there)),
    );
  const isKnowable = ({ by, since, record }: Standing): boolean =>
    by ? isAccountable(by) && by !== attempt : isShown(record) || since < readAt - service.lag;
  // What has no name could not come back: what needs its place comes first, and the next write parks it.
  const isParkedNext = (there: ActualRecord): boolean => placeOf(there) === '' && file?.surplus === 'park';
  const other = [...one.standing.values()].find(
    (there) =>
      there.record.id !== stored.id &&
      isKnowable(there) &&
      !isParkedNext(there.record) &&
      excludes(there.record, stored) &&
      !(isAtItsName && excludes(there.record, replaced)),
  );
  return other ? `${shown(stored)} stands beside ${shown(other.record)}` : null;
};

const isNullMx = (record: RecordData): boolean => {
  const { type, content } = canonicalRecord(record);
  return type === 'MX' && content === '.';
};

const excludes = (one: RecordData, other: RecordData): boolean => {
  if (placeOf(one) !== placeOf(other)) return false;
  const types = [canonicalRecord(one).type, canonicalRecord(other).type];
  return (
    types.includes('CNAME') || (types.every((type) => type === 'MX') && isNullMx(one) !== isNullMx(other))
  );
};

/** A refused write waits for a minute at least, unless the record is edited or a person says so. */
const notAtOnce: Law = (attempt, { one, pass, now }) => {
  if (pass.isCommand) return null;
  const refused = one.attempts.findLast(
    (other) => other.sent.told === 'refused' && !other.pass.hasDied && isSameStep(other, attempt),
  );
  const isSameClock = refused?.pass.skew === pass.skew;
  const wasTaken = one.attempts.some(
    (other) => refused && other.sent.at > refused.sent.at && other.stored && isSameStep(other, attempt),
  );
  const [after] = attempt.after;
  // What was refused was there, as a listing has shown, and has gone since.
  const wasThere = [one.lastListed, one.lastKept].some(
    (view) =>
      refused &&
      isAdd(attempt) &&
      after &&
      view &&
      view.at > refused.sent.at &&
      view.records.some((record) => placedKeyOf(record) === placedKeyOf(after)),
  );
  const ttlIn = ({ files }: Attempt['pass']): number | null | undefined =>
    files.get(attempt.sent.templateId)?.records.find((record) => after && keyOf(record) === keyOf(after))
      ?.ttl;
  return refused &&
    !wasTaken &&
    !wasThere &&
    isSameClock &&
    // An edit there and back is one, too.
    one.attempts.every((other) => other.sent.at < refused.sent.at || ttlIn(pass) === ttlIn(other.pass)) &&
    !refused.isForgotten &&
    !refused.isWaived &&
    !refused.isWithdrawn &&
    // A process that died may not have kept the answer.
    now - refused.sent.at < 59_000
    ? `sends at once what was refused: ${nameOf(attempt)}`
    : null;
};

/** What stood there before this pass could list it, in any spelling of its name. */
const notWhatStood: Law = (attempt, { one, pass, file, service, views }) => {
  const [after] = attempt.after;
  if (!isAdd(attempt) || !after || !file || !service.isKind || pass.retry) return null;
  const listedAt = views[0]?.at ?? attempt.sent.at;
  // An earlier pass's reading, with which this one's agreed, spares the second listing (semantics: two readings).
  const listings = views.filter(({ isListing }) => isListing);
  const sparedBy = listings.length === 1 ? one.lastListed : null;
  const there = [...one.standing.values()].find(({ record, since, by }) => {
    if (since > listedAt - (by ? service.ownLag : service.lag) || file.isIgnored(record)) return false;
    const isHidden = !listings[0]?.records.some(({ id }) => id === record.id);
    if (by === null && isHidden && sparedBy && since > sparedBy.at) return false;
    const isOtherwise = isSpelledOtherwise(record, after);
    if (isOtherwise && (by?.isForgotten || file.adopt)) return false;
    const isAnother = by === null && isOtherwise && !one.ours.has(record.id);
    return placedKeyOf(record) === placedKeyOf(after) ? !isNeeded(record, file, one) : isAnother;
  });
  return there ? `adds ${shown(after)}, and ${shown(there.record)} stood there before` : null;
};

/** What was it, as the last kept listing shows, and is there still, though an ignore rule matches it by now. */
const notWhatIsIgnored: Law = (attempt, { one, pass, file, service, views }) => {
  const [after] = attempt.after;
  if (!isAdd(attempt) || !after || !file || !service.isKind || pass.retry || !one.lastKept) return null;
  const listedAt = views[0]?.at ?? attempt.sent.at;
  const isIt = (record: RecordData): boolean => placedKeyOf(record) === placedKeyOf(after);
  const was = one.lastKept.records.filter(isIt);
  if (was.length !== 1 || !one.keptFile?.records.some(isIt) || !one.ours.has(was[0]!.id)) return null;
  const now = one.standing.get(was[0]!.id);
  // What is kept is what an answer of that pass has shown after its listing.
  const isKept =
    now !== undefined &&
    now.since > one.lastKept.at + 1_000 &&
    // What was parked since is not there any more.
    !placeOf(now.record).startsWith('_parked-');
  return isKept && now.since < listedAt - service.lag && file.isIgnored(now.record)
    ? `adds ${shown(after)}, which is there as ${shown(now.record)} and ignored`
    : null;
};

const isSpelledOtherwise = (record: RecordData, after: RecordData): boolean =>
  canonicalRecord(record).type === canonicalRecord(after).type &&
  placeOf(record) === placeOf(after) &&
  canonicalName(record.name) !== canonicalName(after.name);

/** It stands for another record of the file, which is the same to the service. */
const isNeeded = (record: RecordData, file: FileFacts, one: TemplateCase): boolean =>
  file.records.filter((wanted) => placedKeyOf(wanted) === placedKeyOf(record)).length >
  [...one.standing.values()].filter((other) => placedKeyOf(other.record) === placedKeyOf(record)).length;

const whenSent: Laws = [
  [1, asSpecified],
  [2, inForce],
  [3, toAnEnd],
  [4, asTheFileSays],
  [5, ofOurOwn],
  [6, withinLimits],
  [6, notAtFirstSight],
  [6, notAfterALoss],
  [7, atRest],
  [8, asShown],
  [9, notMadeAlready],
  [11, notAtOnce],
  [12, notWhatStood],
  [12, notWhatIsIgnored],
];

const whenItArrives: Laws = [
  [9, notMadeMeanwhile],
  [10, alone],
];
