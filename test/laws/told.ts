import type { ActualRecord } from '../../src/model/record.ts';
import type { Difference } from '../../src/plan/difference.ts';
import type { TemplateResult } from '../../src/result.ts';
import { canonicalName, isKnownType, isParkedName } from './canonical.ts';
import type { Attempt, FileFacts, LawContext } from './seen.ts';
import { keyOf, sameKey, satisfies, shown } from './records.ts';

/** Law 13: what is told of a template is true, and it is silent about nothing. */
export const untruths = (result: TemplateResult, context: LawContext): string[] => [
  ...falseOutcomes(result, context),
  ...untoldWrites(result, context),
  ...falseStatus(result),
  ...falseState(result, context),
];

/** `applied` only for what took effect, or stands. */
const falseOutcomes = ({ differences }: TemplateResult, { one, pass, views }: LawContext): string[] =>
  differences.flatMap((difference) => {
    if (difference.outcome !== 'applied' || difference.action === 'surplus') return [];
    if (difference.action === 'blocked') return ['says of a blocked record that it was applied'];
    // A person has retried an add, and the first one appears now.
    const attempts = difference.action === 'add' ? one.attempts : pass.attempts;
    const isDone = attempts.some((attempt) => isOf(attempt, difference) && attempt.sent.landed === 'yes');
    // A refusal may hide a record that is there, and an unknown outcome a success: a reading shows it.
    const stands = views.some(({ records }) =>
      records.some(
        (record) =>
          satisfies(record, difference.desired) ||
          // Its TTL may be another one, and it may be somebody else's who added the same.
          (difference.action === 'add' &&
            (sameKey(record, difference.desired) ||
              (one.ours.has(record.id) && record.type === difference.desired.type))),
      ),
    );
    // So does what the same write left before, also if nothing remembers that.
    const isLeft =
      'recordId' in difference &&
      one.attempts.some(
        (attempt) =>
          attempt === one.standing.get(difference.recordId)?.by &&
          sameKey(attempt.after[0]!, difference.desired),
      );
    return isDone || stands || isLeft
      ? []
      : [`says applied, and it never took effect: ${describe(difference)}`];
  });

const untoldWrites = ({ differences }: TemplateResult, { one, pass }: LawContext): string[] =>
  pass.attempts
    .filter(({ sent }) => sent.templateId === one.templateId)
    .filter((attempt) => !differences.some((difference) => isOf(attempt, difference)))
    .map(({ after }) => `does not tell of a write: ${after[0] ? shown(after[0]) : '?'}`);

const isOf = ({ sent, after }: Attempt, difference: Difference): boolean => {
  if (difference.outcome === undefined || difference.outcome === 'skipped') return false;
  if (sent.write.action === 'add')
    return difference.action === 'add' && sameKey(after[0]!, difference.desired);
  const isChange = difference.action === 'update' || difference.action === 'park';
  return isChange && difference.recordId === sent.write.change.recordId;
};

const falseStatus = ({ status, differences }: TemplateResult): string[] => {
  const open = differences.filter(({ outcome }) => outcome !== 'applied');
  if (status === 'in-sync' && open.length > 0) return ['says in-sync, with differences'];
  const isFailed = differences.some(({ outcome }) => outcome === 'failed' || outcome === 'unknown');
  return isFailed && status !== 'failed' ? [`says ${status}, and a write failed`] : [];
};

/** It must be that of a reading since the last write, or the true one. */
const falseState = (result: TemplateResult, { one, pass, file, views, service }: LawContext): string[] => {
  const { status, message, inSync, differences } = result;
  // Whose listing is of another account, say, was not compared: the message says why.
  const isUnseen = status === 'held' && inSync + differences.length === 0;
  const isDoubted = (status === 'failed' || isUnseen) && message !== null;
  const own = pass.attempts.filter(({ sent }) => sent.templateId === one.templateId);
  const writtenAt =
    own.findLast(({ sent }) => sent.told !== 'refused' && sent.told !== 'not-sent')?.sent.at ?? 0;
  const since = views.filter(({ at }) => at >= writtenAt).map(({ records }) => records);
  if (!service.isKind || isDoubted || !file || since.length === 0) return [];
  const truth = [...one.standing.values()].map(({ record }) => record);
  // That some records are no longer as the pass wrote them is said of all of them together.
  const written = message === null ? [] : own.map(({ sent }) => sent.recordId);
  const complaints = [...since, truth].map((records) => falseBy(records, result, file, written));
  return complaints.some((found) => found.length === 0) ? [] : complaints.at(-1)!;
};

const falseBy = (
  records: readonly ActualRecord[],
  result: TemplateResult,
  file: FileFacts,
  written: readonly (number | null)[],
): string[] => {
  const isMet = (record: (typeof file.records)[number]): boolean =>
    records.some((actual) => satisfies(actual, record));
  const missing = file.records.filter((record) => !isMet(record));
  const named = new Set(result.differences.flatMap((one) => ('desired' in one ? [keyOf(one.desired)] : [])));
  const found = missing
    .filter((record) => !named.has(keyOf(record)))
    .map((record) => `is silent about ${shown(record)}`);
  if (result.inSync > file.records.length - missing.length)
    found.push(`counts ${result.inSync} in sync of ${file.records.length - missing.length}`);
  const told = new Set([
    ...written,
    ...result.differences.flatMap((one) => ('recordId' in one ? [one.recordId] : [])),
  ]);
  for (const record of file.records) {
    const unsaid = records.filter((one) => sameKey(one, record) && !told.has(one.id));
    if (unsaid.length > 1) found.push(`is silent about a copy of ${shown(record)}`);
  }
  const ids = new Set(records.map(({ id }) => id));
  for (const one of result.differences)
    if (one.action === 'surplus' && one.error === undefined && !ids.has(one.recordId))
      found.push('shows a surplus that is gone');
  if (result.status !== 'in-sync') return found;
  const strays = surplusOf(file, records);
  if (missing.length > 0) found.push(`says in-sync without ${shown(missing[0]!)}`);
  if (strays.length > 0) found.push(`says in-sync beside ${shown(strays[0]!)}`);
  return found;
};

/** Records that are neither wanted, nor parked, nor ignored. */
export const surplusOf = (file: FileFacts, records: readonly ActualRecord[]): readonly ActualRecord[] => {
  const used = new Set<string>();
  return records.filter((record) => {
    if (!isKnownType(record) || file.isIgnored(record) || isParkedName(canonicalName(record.name)))
      return false;
    const isWanted = file.records.some((one) => satisfies(record, one)) && !used.has(keyOf(record));
    used.add(keyOf(record));
    return !isWanted;
  });
};

export const describe = (difference: Difference): string => {
  const { action, outcome, error } = difference;
  const record = 'desired' in difference ? difference.desired : difference.current;
  const id = 'recordId' in difference ? `#${difference.recordId} ` : '';
  const why =
    difference.action === 'blocked'
      ? ` [${difference.reason}: ${difference.message}]`
      : difference.action === 'surplus'
        ? ` [${difference.reason}]`
        : '';
  const until = difference.retryAt ? ` until ${difference.retryAt}` : '';
  return `${action} ${id}${shown(record)}${outcome ? ` ${outcome}` : ''}${error ? ` (${error})` : ''}${why}${until}`;
};
