import type { ActualRecord, RecordData } from '../../src/model/record.ts';
import type { DesiredTemplate, ActualTemplate } from '../../src/model/template.ts';
import {
  canonicalName,
  canonicalRecord,
  canonicalType,
  isKnownType,
  isParkedName,
  textKind,
} from './canonical.ts';
import { isIgnored } from './files.ts';
import { keyOf, satisfies, setOf, shown } from './records.ts';
import type { Nature } from './nature.ts';
import { breachOf } from './service.ts';
import {
  hasFailed,
  isAdd,
  isPending,
  recordOf,
  type SentAttempt,
  type TemplateCase,
  type View,
} from './witness.ts';

export interface LawContext {
  readonly one: TemplateCase;
  /** The template as the client sees it. */
  readonly view: View | undefined;
  /** The true template. */
  readonly truth: ActualTemplate | undefined;
  readonly desired: DesiredTemplate | undefined;
  readonly nature: Nature;
  readonly isKind: boolean;
  /** Every write of this pass before this one, of all templates. */
  readonly earlier: readonly SentAttempt[];
  readonly edits: number;
}

/** Says what is wrong with a write when it is sent; null if it breaks no law. */
type Law = (attempt: SentAttempt, context: LawContext) => string | null;

export const breaches = (attempt: SentAttempt, context: LawContext): string[] =>
  [...lawsOfAll, ...(isAdd(attempt) ? lawsOfAdds : lawsOfUpdates)].flatMap(
    (law) => law(attempt, context) ?? [],
  );

const specified: Law = ({ sent, before }, { truth }) =>
  truth && !truth.publiclyAvailable ? breachOf(sent.write, before) : 'writes to no template of the client';

const permitted: Law = ({ pass }, { desired, one, edits }) => {
  if (!desired) return 'writes a template that no file in force describes';
  if (pass.isDryRun) return 'writes in a dry run';
  if (desired.mode === 'report') return 'writes in mode report';
  const isUnedited = one.editsWhenMet === null || one.editsWhenMet === edits;
  return desired.mode === 'edits' && !pass.force && isUnedited
    ? 'writes in mode edits without an edit'
    : null;
};

const withinLimits: Law = (attempt, { one, desired, earlier, view }) => {
  if (!desired || attempt.pass.force) return null;
  const { maxAdds, maxChangePercent, minRecords } = desired.limits;
  const own = earlier.filter(({ sent }) => sent.templateId === attempt.sent.templateId);
  if (isAdd(attempt)) {
    const adds = earlier.filter(isAdd).length + 1;
    if (own.filter(isAdd).length + 1 > maxAdds) return 'adds more than maxAdds';
    return adds > attempt.pass.maxAddsPerPass ? 'adds more than maxAddsPerPass' : null;
  }
  const listings = one.views.filter(({ isListing }) => isListing);
  const most = Math.max(
    ...[...listings, ...(view ? [view] : [])].map(({ records }) => records.filter(isKnownType).length),
  );
  const changes = new Set([...own.filter((other) => !isAdd(other)), attempt].map(({ before }) => before?.id));
  // The limit is for the records that the pass found, and those that a listing may not show yet; its own adds do not count.
  const isIn = (views: readonly View[], id: number | null): boolean =>
    views.some(({ records }) => records.some((record) => record.id === id));
  const isNew = ({ at, isListing }: View): boolean => !isListing || attempt.sent.at - at < 600_000;
  const past = one.past.filter(isNew);
  const unlisted = one.attempts
    .filter(isAdd)
    .map(recordOf)
    .filter((id) => isIn(past, id) && !isIn(listings, id));
  const isTooMuch = (listed: number): boolean =>
    listed >= minRecords && changes.size * 100 > (listed + unlisted.length) * maxChangePercent;
  const isByView = !view || isTooMuch(view.records.filter(isKnownType).length);
  return isTooMuch(most) && isTooMuch(most - own.filter(isAdd).length) && isByView
    ? `changes ${changes.size} of ${most} records, more than maxChangePercent`
    : null;
};

/**
 * An edit changes the record that the file listed before and no longer lists: not somebody else's record beside it,
 * and no new one, in any spelling of the name.
 */
const ownFirst: Law = (attempt, { one, view, desired, earlier }) => {
  const { before, after, set, key } = attempt;
  if (!view || !desired || !isEditOfNobodys(attempt, one, desired)) return null;
  const keys = new Set(desired.records.map(keyOf));
  const used = new Set(
    earlier.filter(({ sent }) => sent.templateId === attempt.sent.templateId).map(recordOf),
  );
  const own = view.records.filter((record) => {
    const stoodFor = surelyFor(one, record);
    if (record.id === before?.id || used.has(record.id) || stoodFor?.set !== set || keys.has(stoodFor.key))
      return false;
    const isOfUse = desired.records.some((other) => setAndContent(other, record));
    return !isOfUse && !isIgnored(desired, record) && textKindOf(record) === textKindOf(after);
  });
  const others = desired.records.filter(
    (record) =>
      keyOf(record) !== key &&
      setOf(record) === set &&
      !view.records.some((actual) => satisfies(actual, record)),
  );
  return own.length > others.length
    ? `${before ? `changes ${shown(before)}` : 'adds'} where ${shown(own[0]!)} was what the file wanted before`
    : null;
};

/** An add, or a new content for a record that no file ever listed. */
const isEditOfNobodys = (
  { before, after }: SentAttempt,
  one: TemplateCase,
  desired: DesiredTemplate,
): boolean => {
  if (!desired.records.some((record) => keyOf(record) === keyOf(after))) return false;
  if (before === null) return true;
  const isNobodys = !one.onceDesired.has(before.id) && !one.maybe.has(before.id);
  const isCopy = desired.records.some((record) => keyOf(record) === keyOf(before));
  return isNobodys && !isCopy && !setAndContent(before, after);
};

/** The write that made a record the file's, if the state certainly has it. */
const surelyFor = (one: TemplateCase, record: ActualRecord): SentAttempt | undefined => {
  const last = one.attempts.findLast((attempt) => recordOf(attempt) === record.id);
  if (!last || last.sent.landed !== 'yes' || !last.isBelieved || !last.isKept) return undefined;
  if (one.standsFor.get(record.id) !== last.key || last.isAmbiguous) return undefined;
  // It may be anybody's record that was restored.
  const desired = last.pass.desired.get(one.templateId)?.records ?? [];
  if (!desired.some((other) => keyOf(other) === last.key)) return undefined;
  const isNameless = canonicalName(last.after.name) === '' && canonicalName(record.name) !== '';
  const since = [...one.past, ...one.views].filter(({ at }) => at >= last.sent.at);
  const isAlwaysShown = since.every(({ records }) => records.some(({ id }) => id === record.id));
  return isAlwaysShown && !isNameless ? last : undefined;
};

const textKindOf = (record: RecordData): string | null =>
  canonicalType(record.type) === 'TXT' ? textKind(canonicalRecord(record).content) : null;

const lawsOfAll: readonly Law[] = [specified, permitted, withinLimits, ownFirst];

const asTheFileSays: Law = ({ after }, { desired }) => {
  const isIn = desired?.records.some((record) => keyOf(record) === keyOf(after) && record.ttl === after.ttl);
  return isIn ? null : 'adds what the file does not say';
};

const onceInAPass: Law = (attempt, { earlier }) =>
  earlier.some(({ sent, key }) => sent.templateId === attempt.sent.templateId && key === attempt.key)
    ? 'writes a wanted record twice in one pass'
    : null;

/** A record belongs to the desired one for which it was last written, whatever the service stored. */
export const isForAnother = ({ attempts }: TemplateCase, { key }: SentAttempt, recordId: number): boolean => {
  const last = attempts.findLast((other) => recordOf(other) === recordId);
  return last !== undefined && last.key !== key;
};

/** In a view that could be saved. */
const wasShownAs = (
  { past, views }: TemplateCase,
  id: number,
  key: string,
  isAnswerBelieved: boolean,
): boolean =>
  [...past, ...views].some(
    ({ isListing, records, isForgotten }) =>
      (isListing || isAnswerBelieved) &&
      isForgotten !== true &&
      records.some((record) => record.id === id && keyOf(record) === key),
  );

/** A person had it sent although the first one might still come, and one of the two has been shown. */
export const isCopyOfRetry = (
  { pass, key, sent: { at } }: SentAttempt,
  attempts: readonly SentAttempt[],
): boolean =>
  pass.retry &&
  attempts.some((first) => isAdd(first) && first.key === key && first.sent.at < at && first.isShown);

/** Truth: an earlier add of the same record succeeded, or may still take effect. */
const noSecond: Law = (attempt, { one, truth, isKind }) => {
  for (const earlier of addsOf(one, attempt.key)) {
    const { sent, pass, isMissed, isForgiven, isAmbiguous, isBelieved } = earlier;
    if (sent.landed === 'coming' && isKind && !earlier.isWaived && !isCopyOfRetry(earlier, one.attempts))
      return 'adds again what is still coming';
    const { recordId } = sent;
    const existing = truth?.records.find(({ id }) => id === recordId);
    if (sent.landed !== 'yes' || recordId === null || !existing) continue;
    // Somebody changed it into another record before it was shown, or a person said not to wait for it.
    const isOver = isForgiven || isAmbiguous || !wasShownAs(one, recordId, attempt.key, isBelieved);
    if (isOver && keyOf(existing) !== attempt.key) continue;
    if (one.standsFor.get(recordId) !== attempt.key || isForAnother(one, attempt, recordId)) continue;
    // If the service names nameless records, this one cannot be identified.
    const isNamed = canonicalName(attempt.after.name) === '' && canonicalName(existing.name) !== '';
    if (isNamed && !isBelieved) continue;
    // The state has one id for a desired record: the last one written for it is missing.
    const last = one.attempts.findLast((other) => other.key === attempt.key && recordOf(other) !== null);
    const id = last && recordOf(last);
    if (id != null && id !== recordId && missedTwice(one, attempt, id)) continue;
    // A person has taken the word of listings that are behind.
    if (isForgiven && missedTwice(one, attempt, recordId)) continue;
    if (isKind) return `adds again what stands as #${recordId}`;
    if (pass.number === attempt.pass.number) return `adds again, in one pass, what stands as #${recordId}`;
    if (!isMissed && !missedTwice(one, attempt, recordId))
      return `adds again what stands as #${recordId}, not missed twice`;
  }
  return null;
};

/** Once, and once more; a third time only at a person's request. */
const mostTwice: Law = (attempt, { one }) =>
  addsOf(one, attempt.key).filter((other) => !hasFailed(other) && !other.isForgiven && !other.isWithdrawn)
    .length >= 2
    ? 'adds a third time'
    : null;

/** For any content of the file: a pass may risk at most two adds of unknown outcome in a record set. */
const mostTwiceInASet: Law = (attempt, { one, view }) => {
  // A record that is there by now, from anybody, is no longer needed.
  const isThere = ({ key }: SentAttempt): boolean =>
    view?.records.some((record) => keyOf(record) === key) === true;
  const lost = one.attempts.filter(
    (other, at) =>
      !isThere(other) &&
      isAdd(other) &&
      other.set === attempt.set &&
      other.sent.told === 'nothing' &&
      !other.isShown &&
      !other.isForgiven &&
      !other.isAmbiguous &&
      // An add that the service now refuses cannot take effect; and one that it takes makes the record, however named.
      !one.attempts
        .slice(at)
        .some((later) => later.key === other.key && (hasFailed(later) || isAnswered(later, view))),
  );
  return lost.length >= 2 ? `adds to a record set after ${lost.length} adds of unknown outcome` : null;
};

const isAnswered = (attempt: SentAttempt, view: View | undefined): boolean =>
  attempt.sent.told === 'an answer' && view?.records.some(({ id }) => id === recordOf(attempt)) === true;

/** A known id, or a record never seen, needs two readings that agree. */
const readTwice: Law = (attempt, { one, desired }) => {
  const id = one.known.get(attempt.key);
  const isKnownElsewhere =
    id !== undefined && (one.standsFor.get(id) !== attempt.key || isForAnother(one, attempt, id));
  // The last record written for it is missing, if the previous one stays as something else.
  const last = one.attempts.findLast((other) => other.key === attempt.key && recordOf(other) !== null);
  const lastId = last && recordOf(last);
  // Or it is another desired record now.
  const isGone =
    lastId != null && (missedTwice(one, attempt, lastId) || one.standsFor.get(lastId) !== attempt.key);
  const isSure = id !== undefined && !one.perhapsKnown.has(attempt.key);
  // What somebody has changed into an ignored record is as good as gone.
  const isOurs = (record: ActualRecord): boolean => !desired || !isIgnored(desired, record);
  const isRetried = isRetryOfNameless(attempt, one, id);
  if (isSure && !isRetried && !isKnownElsewhere && !isGone && !missedTwice(one, attempt, id, isOurs)) {
    return `adds what is known as #${id} and was not missed in two readings`;
  }
  const lacks = (view: View): boolean => !view.records.some((record) => keyOf(record) === attempt.key);
  return one.isMet || twoListings(one.views, attempt, lacks) ? null : 'adds at first sight after one reading';
};

/**
 * A person wants another record beside one of unknown outcome that somebody has given a name since: no write makes it
 * the nameless one again.
 */
const isRetryOfNameless = (
  { pass, after, key }: SentAttempt,
  { attempts, views }: TemplateCase,
  id: number | undefined,
): boolean =>
  pass.retry &&
  canonicalName(after.name) === '' &&
  views.at(-1)?.records.some((record) => record.id === id && canonicalName(record.name) !== '') === true &&
  attempts.some(
    (other) => isAdd(other) && other.key === key && other.sent.told === 'nothing' && recordOf(other) === id,
  );

/** This pass was shown the record, and it is there. */
const notSeen: Law = (attempt, { one, truth, isKind }) => {
  const seen = one.views.flatMap(({ records }) => records.filter((record) => keyOf(record) === attempt.key));
  const existing = seen.find(({ id }) =>
    truth?.records.some((record) => record.id === id && keyOf(record) === attempt.key),
  );
  if (!existing) return null;
  // The record of another desired one may still become it: only an exact copy is one too many.
  const isTaken =
    one.maybe.has(existing.id) ||
    [...(one.everStoodFor.get(existing.id) ?? [])].some((key) => key !== attempt.key);
  if (isTaken && !satisfies(existing, attempt.after)) return null;
  return isKind || !missedTwice(one, attempt, existing.id)
    ? `adds what it was shown as #${existing.id}`
    : null;
};

/** A template without any agreement so far and without a set of the file: a person has to look first. */
const notAtFirstSight: Law = ({ pass }, { one, desired, view }) => {
  if (
    !view ||
    !desired ||
    pass.force ||
    pass.retry ||
    desired.adopt ||
    one.onceDesired.size + one.maybe.size > 0
  )
    return null;
  const sets = new Set(view.records.map(setOf));
  // It need not know a record that appeared during this pass, in a reading for another template.
  if (one.views.some(({ records }) => records.length === 0)) return null;
  if (sets.size === 0 || desired.records.some((record) => sets.has(setOf(record)))) return null;
  return 'adds to a template that looks like no file of ours';
};

/**
 * Much that memory knows was there in the pass before, and in the last one that came to its end: another pass has to
 * agree that it is gone.
 */
const notAfterALoss: Law = ({ pass }, { one, view, desired }) => {
  const listings = [one.past.findLast(({ isListing }) => isListing), one.lastKept];
  if (!view || !desired || pass.acceptLoss) return null;
  const shows = (records: readonly ActualRecord[] | undefined, id: number): boolean =>
    records?.some((record) => record.id === id) === true;
  const known = [...one.known].filter(([key]) => !one.perhapsKnown.has(key)).map(([, id]) => id);
  const lost = [...new Set(known)].filter(
    (id) => listings.every((listing) => shows(listing?.records, id)) && !shows(view.records, id),
  );
  const isMany =
    lost.length >= 2 && lost.length * 100 > one.onceDesired.size * desired.limits.maxChangePercent;
  return isMany ? `adds right after the loss of ${lost.map((id) => `#${id}`).join(', ')}` : null;
};

/** What an answer to any write showed a pass that could save it is there, though no listing shows it. */
const onceAnswered: Law = (attempt, { one, truth, nature }) => {
  if (nature.listed === null || one.isRetried) return null;
  const views = [...one.past, ...one.views].filter(({ isForgotten }) => isForgotten !== true);
  const answered = new Set(
    views.flatMap(({ isListing, records }) => (isListing ? [] : records.map(({ id }) => id))),
  );
  const existing = truth?.records.find(
    ({ id, ...record }) => answered.has(id) && keyOf(record) === attempt.key,
  );
  return existing ? `adds what an answer showed as #${existing.id}` : null;
};

/**
 * Without a subdomain, nothing can show the first copy of a record that is never listed; its answer shows what the listing
 * lacks.
 */
const onceUnlisted: Law = (attempt, { one, desired, truth, nature }) => {
  if (nature.listed === null || one.isRetried) return null;
  const made = new Set(one.attempts.filter(isAdd).map(recordOf));
  const copied = truth?.records.filter(({ id }) => !made.has(id)).map(keyOf) ?? [];
  const before = one.attempts.find(
    (other) => isAdd(other) && other.sent.isAnswered && copied.includes(other.key),
  );
  if (copied.includes(attempt.key) && desired && desired.subdomains.length > 0)
    return `adds ${shown(attempt.after)}, which a subdomain shows`;
  return before && copied.includes(attempt.key)
    ? `adds a second record that no listing shows, after ${shown(before.after)}`
    : null;
};

/** A record of the panel that is the wanted one, under the longer name that the panel writes. */
const inAnotherSpelling: Law = ({ after }, { one, desired, truth, nature }) => {
  if (!nature.spellsPanel || one.isRetried || desired?.adopt) return null;
  const own = new Set(one.attempts.map(recordOf));
  const { type, name } = canonicalRecord(after);
  const existing = truth?.records.find((record) => {
    const other = canonicalRecord(record);
    return !own.has(record.id) && other.type === type && other.name.startsWith(`${name}.`);
  });
  return existing ? `adds ${shown(after)} beside ${shown(existing)}, which is it in another spelling` : null;
};

const noConflict: Law = ({ after }, { view, one }) => conflictOf(after, null, view, one);

/** A record set with an add of unknown outcome gets no other add. */
const notBesidePending: Law = (attempt, { one }) => {
  const pending = one.attempts.find((other) => isPending(other) && other.set === attempt.set);
  return pending ? `adds beside ${shown(pending.after)}, whose outcome is unknown` : null;
};

const lawsOfAdds: readonly Law[] = [
  asTheFileSays,
  onceInAPass,
  noSecond,
  mostTwice,
  mostTwiceInASet,
  readTwice,
  notSeen,
  notAtFirstSight,
  notAfterALoss,
  onceAnswered,
  onceUnlisted,
  inAnotherSpelling,
  noConflict,
  notBesidePending,
];

/** A listing may be behind it, by the time at which the pass was first shown the template. */
const isRecent = ({ isUndated, sent }: SentAttempt, { views }: TemplateCase, at: number): boolean =>
  isUndated || (views[0]?.at ?? at) - sent.at < 600_000;

const shownAndNotEqual: Law = (attempt, { one, earlier }) => {
  const { before, after } = attempt;
  if (!before) return 'updates a record that the last reading did not show';
  // An old reading may show it as before a park of this pass.
  const isOfThisPass = earlier.some((other) => recordOf(other) === before.id);
  if (isOfThisPass && isUndo(attempt, one)) return null;
  // An old reading shows it as it was before another write of ours.
  const isBehind = one.attempts.some(
    (other) => recordOf(other) === before.id && isRecent(other, one, attempt.sent.at),
  );
  return keyOf(before) === keyOf(after) && before.ttl === after.ttl && !isBehind
    ? `writes ${shown(before)} as it is`
    : null;
};

const toAnEnd: Law = (attempt, { desired, one }) => {
  const { before, after } = attempt;
  if (desired?.records.some((record) => satisfies(after, record))) return null;
  const isPark = canonicalName(after.name).startsWith(`_parked-${before?.id}`);
  if (isPark && desired?.surplus === 'park') return null;
  // A displaced record is restored in the pass that finds its name empty.
  return isUndo(attempt, one) || isMistaken(attempt, one)
    ? null
    : `updates ${before && shown(before)} to what nobody wants: ${shown(after)}`;
};

/** The record before another write, under its name then, or under the name that was sent for it. */
const isUndo = ({ before, after }: SentAttempt, { attempts }: TemplateCase): boolean => {
  const own = attempts.filter((other) => before !== null && recordOf(other) === before.id);
  const states = own.flatMap((other) => [other.before ?? [], other.after].flat());
  if (!states.some(({ name }) => canonicalName(name) === canonicalName(after.name))) return false;
  // A listing may be behind what the write replaced.
  return own.some((other) =>
    [other.before, other.sent.replaced].some(
      (was) => was && keyOf({ ...was, name: after.name }) === keyOf(after),
    ),
  );
};

const notFromItsPlace: Law = ({ before, after, sent: { at } }, { desired, view, truth, one }) => {
  if (!before || !view || keyOf(before) === keyOf(after)) return null;
  // A listing may be behind a write of this record.
  const isAwaited = one.attempts.some(
    (other) =>
      (other.isBelieved || other.sent.told === 'an answer') &&
      isRecent(other, one, at) &&
      recordOf(other) === before.id &&
      keyOf(other.after) !== keyOf(before),
  );
  if (isAwaited) return null;
  const place = desired?.records.find((record) => satisfies(before, record));
  if (!place) return null;
  // Also one that a write of ours has just made of another record.
  const made = truth?.records.filter(({ id }) =>
    one.attempts.some((other) => recordOf(other) === id && isRecent(other, one, at)),
  );
  const copies = new Set(
    [...view.records, ...(made ?? [])].flatMap((record) => (satisfies(record, place) ? record.id : [])),
  );
  return copies.size > 1 ? null : `takes ${shown(before)} away, which the file wants just so`;
};

/** Whether an add without a name may have made it, if the service gives names. */
export const mayBeNamed = (record: RecordData, attempt: SentAttempt): boolean => {
  const [is, sent] = [canonicalRecord(record), canonicalRecord(attempt.after)] as const;
  return isAdd(attempt) && sent.name === '' && is.type === sent.type && is.content === sent.content;
};

/** Somebody made it at the same time as an add that may have made it. */
const isMistaken = ({ before }: SentAttempt, { attempts }: TemplateCase): boolean =>
  before !== null && attempts.some((other) => other.isAmbiguous && mayBeNamed(before, other));

/** Ignored records, unknown types, and records that the file never listed. */
const notForeign: Law = (attempt, { desired, one }) => {
  const { before, after } = attempt;
  if (!before || !desired) return null;
  if (!isKnownType(before)) return `touches a type it does not know: ${shown(before)}`;
  if (isIgnored(desired, before)) return `touches an ignored record: ${shown(before)}`;
  // What a park left without a use, at its name, is ours to mend, whatever the file says by now.
  const isChanged = canonicalRecord(before).content !== canonicalRecord(after).content;
  if (isUndo(attempt, one) && (isChanged || isParkUnshown(attempt, one))) return null;
  if (isMistaken(attempt, one)) return null;
  const isOurs = one.onceDesired.has(before.id) || one.maybe.has(before.id);
  const isInSet = desired.records.some((record) => setOf(record) === setOf(before));
  const kindOf = (record: RecordData): string | null => textKind(canonicalRecord(record).content);
  const isOfOneKind = kindOf(before) !== null && kindOf(before) === kindOf(after);
  if (
    isInSet &&
    (canonicalType(before.type) !== 'TXT' || isOfOneKind || isOurs || setAndContent(before, after))
  )
    return null;
  const stoodFor = [...(one.everStoodFor.get(before.id) ?? [])];
  // An edit changes the record of a dropped one of the set.
  if (stoodFor.some((other) => other.startsWith(`${attempt.set} `)) || one.maybe.has(before.id)) return null;
  const mayBeUsed = isOurs || desired.adopt || isParkedName(canonicalName(before.name));
  return desired.surplus === 'park' && mayBeUsed ? null : `touches a foreign record: ${shown(before)}`;
};

/** An old reading may show it as it was before a park of ours. */
const isParkUnshown = ({ before, sent }: SentAttempt, one: TemplateCase): boolean =>
  one.attempts.some(
    (other) =>
      recordOf(other) === before?.id &&
      isParkedName(canonicalName(other.after.name)) &&
      isRecent(other, one, sent.at),
  );

const setAndContent = (before: RecordData, after: RecordData): boolean =>
  setOf(before) === setOf(after) && canonicalRecord(before).content === canonicalRecord(after).content;

/** A park has its own name, and a restored record had its name before. */
const noNewConflict: Law = (attempt, { view, desired, one }) => {
  const { before, after } = attempt;
  const isDesired = desired?.records.some((record) => satisfies(after, record)) === true;
  if (!before || !isDesired || isUndo(attempt, one)) return null;
  // An old reading shows it as it was before another write of ours, and only a person may take its word.
  const last = one.attempts.findLast((other) => recordOf(other) === before.id && other.sent.landed === 'yes');
  const showsBefore = last !== undefined && last.before !== null && keyOf(last.before) === keyOf(before);
  const isBehind = showsBefore && !attempt.pass.retry;
  return conflictOf(after, isBehind ? { ...before, ...last.after } : before, view, one);
};

const lawsOfUpdates: readonly Law[] = [shownAndNotEqual, toAnEnd, notFromItsPlace, notForeign, noNewConflict];

/** Some services make names absolute ones. */
export const placeOf = ({ name }: RecordData): string =>
  canonicalName(name).replace(/(?:^|\.)##domain##$|\.$/i, '');

/** A record that was parked for a write that was then refused, and stays parked; a nameless one has to. */
export const leftParked = (attempts: readonly SentAttempt[], truth: readonly ActualRecord[]): string[] =>
  attempts.flatMap((park, at) => {
    const { before, after } = park;
    const isPark = before && canonicalName(before.name) !== '' && isParkedName(after.name ?? '');
    if (!isPark || isParkedName(canonicalName(before.name)) || park.sent.landed !== 'yes') return [];
    const later = attempts.slice(at + 1);
    const view = { at: 0, isListing: true, records: [before] };
    const refused = later.find(
      (attempt) => hasFailed(attempt) && conflictOf(attempt.after, attempt.before, view, null) !== null,
    );
    // It cannot be restored beside a record that it excludes.
    const there = truth.map((record) => ({ ...record, name: placeOf(record) }));
    const back = { ...before, name: placeOf(before) };
    const isTaken = conflictOf(back, null, { at: 0, isListing: true, records: there }, null) !== null;
    return refused && !isTaken && later.every((attempt) => attempt.before?.id !== before.id)
      ? [`leaves ${shown(before)} parked, which made way for ${shown(refused.after)}`]
      : [];
  });

/** A name of the file from which the last record was moved away, without a try to write the desired one. */
export const leftEmpty = (
  attempts: readonly SentAttempt[],
  desired: DesiredTemplate,
  truth: readonly ActualRecord[],
  { views, known }: TemplateCase,
): string[] => {
  // An answer may show it unchanged.
  const isTaken = (name: string): boolean =>
    [...truth, ...(views.at(-1)?.records ?? [])].some((record) => placeOf(record) === name);
  /** Somebody has removed a record meanwhile: while a listing may be behind that, nothing more is added. */
  const isLessSince = (since: number): boolean => {
    const before = views.findLast((view) => view.at < since)?.records ?? [];
    const later = views.filter((view) => view.at >= since);
    return later.some(({ records }) => before.some(({ id }) => records.every((record) => record.id !== id)));
  };
  return attempts.flatMap(({ after, sent }, at) => {
    // Somebody else may have moved it by then, not this write.
    const { replaced: before } = sent;
    if (!before || sent.landed !== 'yes' || isParkedName(placeOf(before))) return [];
    // The client cannot know that this is the service's name of the subdomain itself.
    if (placeOf(before) === '' && canonicalName(before.name) !== '') return [];
    const place = placeOf(before);
    // The reading from which it was planned may have shown another record there, or this one elsewhere.
    const there = views
      .findLast((view) => view.at < sent.at)
      ?.records.filter((record) => placeOf(record) === place);
    if (there && !(there.length === 1 && there[0]!.id === before.id)) return [];
    // If somebody else has moved it, it is not at its name.
    if (!isParkedName(placeOf(after)) && known.get(keyOf(before)) !== before.id) return [];
    const isLeft = placeOf(after) !== place && desired.records.some((record) => placeOf(record) === place);
    const isTried = attempts.slice(at + 1).some((later) => placeOf(later.after) === place);
    return isLeft && !isTried && !isTaken(place) && !isLessSince(sent.at)
      ? [`takes ${shown(before)} away, and leaves ${place || '@'} empty`]
      : [];
  });
};

const addsOf = (one: TemplateCase, key: string): SentAttempt[] =>
  one.attempts.filter((attempt) => isAdd(attempt) && attempt.key === key);

/** In two listings since it was last shown to a pass that could save it, in any passes. */
const missedTwice = (
  one: TemplateCase,
  attempt: SentAttempt,
  id: number,
  isOurs: (record: ActualRecord) => boolean = () => true,
): boolean => {
  const views = [...one.past, ...one.views];
  const isShown = ({ records }: View): boolean =>
    records.some((record) => record.id === id && isOurs(record));
  const since = views.slice(views.findLastIndex((view) => isShown(view) && !view.isForgotten) + 1);
  return twoListings(since, attempt, (view) => !isShown(view));
};

const twoListings = (
  views: readonly View[],
  { pass }: SentAttempt,
  isSo: (view: View) => boolean,
): boolean => {
  const listings = views.filter((view) => view.isListing && isSo(view));
  const [first] = listings;
  const last = listings.at(-1);
  return first !== undefined && last !== undefined && first !== last && last.at - first.at >= pass.settle;
};

/** `one` has the known spellings of sent names at the service; null if only the name itself counts. */
export const conflictOf = (
  after: RecordData,
  before: RecordData | null,
  view: View | undefined,
  one: TemplateCase | null,
): string | null => {
  const result = canonicalRecord(after);
  const records = view?.records ?? [];
  const names = new Set([result.name, ...(one ? keptNames(one, records, result.name) : [])]);
  for (const record of records) {
    if (before && 'id' in before && record.id === before.id) continue;
    const other = canonicalRecord(record);
    if (!names.has(other.name)) continue;
    const isNew = before === null || canonicalRecord(before).name !== other.name;
    if (isNew && before && names.has(canonicalRecord(before).name) && other.name !== result.name) continue;
    if (isNew && (other.type === 'CNAME' || result.type === 'CNAME'))
      return `conflicts with ${shown(record)}`;
    const isMx = other.type === 'MX' && result.type === 'MX';
    const isNewTarget = isNew || canonicalRecord(before).content !== result.content;
    if (isMx && isNewTarget && (other.content === '.') !== (result.content === '.')) {
      return `conflicts with ${shown(record)}`;
    }
  }
  return null;
};

/** The service's spellings of this sent name, from records that are certainly the file's. */
const keptNames = (one: TemplateCase, records: readonly ActualRecord[], name: string): string[] =>
  records.flatMap((record) => {
    const last = surelyFor(one, record);
    const isNameSent = last?.sent.write.action === 'add' || last?.sent.write.change.name != null;
    if (!last || !isNameSent || canonicalName(last.after.name) !== name) return [];
    const told = [...one.past, ...one.views].find(({ at }) => at >= last.sent.at);
    const shownAs = told?.records.filter(({ id }) => id === record.id) ?? [];
    // An answer may show the previous state, and the name that somebody gave it.
    const isEffective = placeOf(record) === name || last.before?.name !== record.name;
    const isStill = (kept: string): boolean =>
      isEffective && kept === canonicalName(record.name) && !isParkedName(kept);
    return shownAs.map((kept) => canonicalName(kept.name)).filter(isStill);
  });
