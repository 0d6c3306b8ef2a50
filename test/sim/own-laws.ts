import type { ActualRecord, RecordData } from '../../src/model/record.ts';
import type { DesiredTemplate } from '../../src/model/template.ts';
import type { TemplateResult } from '../../src/result.ts';
import { isIgnored } from './files.ts';
import { conflictOf, isCopyOfRetry, placeOf } from './laws.ts';
import { keyOf, setOf, shown } from './records.ts';
import { isAdd, recordOf, type SentAttempt, type TemplateCase } from './witness.ts';

/*
 * What we sent is ours: a record that one of our adds made is never left as a stranger's, never makes a second record of
 * what the file says, and never stands as a CNAME beside others or others beside it, whenever it arrives within the
 * fault model. After a lost state, or at a person's `--retry`, none of it is known.
 */

/** What the file wants of a record set decides how many records of our own may stand there. */
export const listFile = ({ mostListed }: TemplateCase, { records }: DesiredTemplate): void => {
  const counts = new Map<string, number>();
  for (const set of records.map(placedSet)) counts.set(set, (counts.get(set) ?? 0) + 1);
  for (const [set, count] of counts) mostListed.set(set, Math.max(count, mostListed.get(set) ?? 0));
};

/** When it is sent: while an add of a template is on its way, the template takes no other, unless a person allowed it. */
export const besideComing = (attempt: SentAttempt, one: TemplateCase): string[] =>
  one.attempts
    .filter((other) => !other.isWaived && other !== attempt && isAdd(other) && other.sent.landed === 'coming')
    .filter((other) => !isCopyOfRetry(other, one.attempts) && !seemsArrived(other, one))
    .map((other) => `adds while ${shown(other.after)} is on its way`);

/** Somebody has made the same record since: nothing tells it from what the add makes. */
export const seemsArrived = ({ key, sent, isAmbiguous }: SentAttempt, one: TemplateCase): boolean =>
  isAmbiguous &&
  [...one.past, ...one.views].some(
    ({ at, records }) =>
      at > sent.at && records.some((record) => keyOf(record) === key && !addOf(record, one)),
  );

/** What it makes was made once more, with an answer: the first copy may come whenever, and the next pass mends what it does. */
const isRepeated = (attempt: SentAttempt, { attempts }: TemplateCase): boolean =>
  attempts.some(
    (later) =>
      later.sent.at > attempt.sent.at && later.sent.told === 'an answer' && later.key === attempt.key,
  );

/** When a write takes effect. */
export const wrongOnArrival = (
  attempt: SentAttempt,
  one: TemplateCase,
  records: readonly ActualRecord[],
): string[] => {
  const arrived = records.find(({ id }) => id === attempt.sent.recordId);
  if (!arrived) return [];
  const others = records.filter(
    (record) => record !== arrived && isOurs(record, one) && !isWaived(record, one),
  );
  const beside = { at: 0, isListing: true, records: others.filter((record) => isPlacedByUs(record, one)) };
  // One that was changed at its name has stood there before, or somebody has put it there; and a person may say that it is
  // another record.
  const { write } = attempt.sent;
  const isMoved = write.action !== 'add' && write.change.name !== null;
  const isAccepted =
    attempt.before === null
      ? attempt.pass.retry || attempt.isWaived || seemsArrived(attempt, one)
      : !isMoved || placeOf(attempt.before) === placeOf(arrived) || isRepeated(attempt, one);
  const conflict = isAccepted ? null : conflictOf(arrived, null, beside, null);
  if (conflict !== null) return [`${shown(arrived)}, which we sent, ${conflict}, which we sent`];
  if (!isAdd(attempt) || attempt.isForgiven || isCopyOfRetry(attempt, one.attempts)) return [];
  const set = placedSet(arrived);
  const file = attempt.pass.desired.get(attempt.sent.templateId);
  const isIgnoredNow = (record: ActualRecord): boolean => file !== undefined && isIgnored(file, record);
  const made = others.filter(
    (record) =>
      placedSet(record) === set && !isIgnoredNow(record) && addOf(record, one)?.isForgiven === false,
  );
  const most = one.mostListed.get(set) ?? 0;
  return made.length + 1 > most
    ? [`makes ${made.length + 1} records of ${set} where the file never had more than ${most}`]
    : [];
};

/** At the end. */
export const leftAsStrangers = (
  one: TemplateCase,
  { surplus, mode }: DesiredTemplate,
  { differences }: TemplateResult,
  records: readonly ActualRecord[],
): string[] =>
  differences.flatMap((difference) => {
    if (difference.action !== 'surplus' || mode !== 'enforce') return [];
    const record = records.find(({ id }) => id === difference.recordId);
    const add = record && addOf(record, one);
    if (!record || !add || add.isForgiven || !isOurs(record, one)) return [];
    // A person has taken the word of a listing that did not show the first one yet.
    if (one.attempts.some((other) => isAdd(other) && other.isForgiven && other.key === add.key)) return [];
    if (surplus === 'park') return [`leaves ${shown(record)}, which our add made, where it could be parked`];
    return difference.cause === 'drifted'
      ? [`calls ${shown(record)}, which our add made, somebody else’s`]
      : [];
  });

const addOf = ({ id }: ActualRecord, { attempts }: TemplateCase): SentAttempt | undefined =>
  attempts.find((attempt) => isAdd(attempt) && attempt.sent.recordId === id);

/** Made by an add that a person's retry repeats, for a listing's word. */
const isWaived = (record: ActualRecord, one: TemplateCase): boolean => addOf(record, one)?.isWaived === true;

/** What somebody has put there stands beside what arrives, whatever we have changed of its content since. */
const isPlacedByUs = (record: ActualRecord, { attempts }: TemplateCase): boolean =>
  attempts.some(
    (other) =>
      recordOf(other) === record.id &&
      other.sent.landed === 'yes' &&
      (other.before === null || placeOf(other.before) !== placeOf(record)),
  );

/** As our last write of it left it; what somebody has changed since is theirs. */
const isOurs = (record: ActualRecord, { attempts }: TemplateCase): boolean => {
  const last = attempts.findLast((other) => recordOf(other) === record.id && other.sent.landed === 'yes');
  return last !== undefined && keyOf(placed(record)) === keyOf(placed(last.after));
};

/** Under the name that the file has for it. */
const placed = (record: RecordData): RecordData => ({ ...record, name: placeOf(record) });

const placedSet = (record: RecordData): string => setOf(placed(record));
