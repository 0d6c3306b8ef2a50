import type { ActualRecord } from '../../src/model/record.ts';
import type { DesiredTemplate } from '../../src/model/template.ts';
import type { Difference } from '../../src/plan/difference.ts';
import type { TemplateResult } from '../../src/result.ts';
import { canonicalName, isKnownType, isParkedName } from './canonical.ts';
import { isIgnored } from './files.ts';
import { keyOf, satisfies, sameKey, shown } from './records.ts';
import { hasFailed, isAdd, type SentAttempt, type TemplateCase } from './witness.ts';

export interface ResultContext {
  readonly one: TemplateCase;
  readonly desired: DesiredTemplate;
  /** The writes of this pass to this template, in their order. */
  readonly attempts: readonly SentAttempt[];
  /** The true records. */
  readonly truth: readonly ActualRecord[];
  readonly isKind: boolean;
}

/** A result must be true. */
export const untruths = (result: TemplateResult, context: ResultContext): string[] => [
  ...falseOutcomes(result, context),
  ...untoldWrites(result, context),
  ...falseState(result, context),
  ...falseStatus(result),
];

/** `applied` only for a write that was stored, or whose desired record is there. */
const falseOutcomes = (result: TemplateResult, { attempts, one }: ResultContext): string[] =>
  result.differences.flatMap((difference) => {
    if (difference.outcome !== 'applied' || difference.action === 'surplus') return [];
    if (difference.action === 'blocked') return ['says of a blocked record that it was applied'];
    // A person has retried an add, and the first one appears now.
    const sent = difference.action === 'add' ? one.attempts : attempts;
    const isLanded = sent.some((attempt) => isOf(attempt, difference) && attempt.sent.landed === 'yes');
    // A refusal may hide an existing record, and an unknown outcome may be a success: a reading shows it.
    const stands = one.views.some(({ records }) =>
      records.some(
        (record) =>
          (difference.action === 'add' || record.id === difference.recordId) &&
          (satisfies(record, difference.desired) || one.maybe.has(record.id)),
      ),
    );
    return isLanded || stands ? [] : [`says applied, and it never landed: ${describe(difference)}`];
  });

/** Every write is in the report. */
const untoldWrites = (result: TemplateResult, { attempts }: ResultContext): string[] =>
  attempts
    .filter((attempt) => !result.differences.some((difference) => isOf(attempt, difference)))
    .map((attempt) => `does not tell of a write: ${shown(attempt.after)}`);

const isOf = (attempt: SentAttempt, difference: Difference): boolean => {
  if (difference.outcome === undefined || difference.outcome === 'skipped') return false;
  if (difference.action === 'add') return isAdd(attempt) && sameKey(attempt.after, difference.desired);
  const isChange = difference.action === 'update' || difference.action === 'park';
  return isChange && attempt.before?.id === difference.recordId;
};

/**
 * The state must be that of a reading since the last write to the template, as long as it could be believed; or the true
 * one, which a listing may be behind.
 */
const falseState = (result: TemplateResult, context: ResultContext): string[] => {
  const { one, attempts, truth, isKind } = context;
  const isDoubted = result.status === 'failed' && result.message !== null;
  const writtenAt = attempts.findLast((attempt) => !hasFailed(attempt))?.sent.at ?? 0;
  const views = one.views.filter(({ at }) => at >= writtenAt);
  if (!isKind || isDoubted || views.length === 0) return [];
  const complaints = views.map(({ records }) => falseBy(records, result, context));
  const isTrue = [...complaints, falseBy(truth, result, context)].some((found) => found.length === 0);
  return isTrue ? [] : complaints.at(-1)!;
};

const falseBy = (
  records: readonly ActualRecord[],
  result: TemplateResult,
  { one, desired }: ResultContext,
): string[] => {
  const inSync = desired.records.filter((record) => records.some((actual) => satisfies(actual, record)));
  const missing = desired.records.filter((record) => !inSync.includes(record));
  const found: string[] = [];
  // A listing may be behind a write that they name, or show what a later one of unknown outcome made.
  const isInDoubt = one.attempts.some(
    (attempt) => !isAdd(attempt) && attempt.sent.told === 'nothing' && attempt.sent.landed === 'yes',
  );
  // Somebody may have given a record the value that it had before our write, or a listing is behind that.
  const writtenLately = one.attempts.flatMap(({ sent, before }) =>
    sent.landed === 'yes' && before && (one.views.at(-1)?.at ?? 0) - sent.at < 600_000 ? [before] : [],
  );
  const awaited = result.differences.filter(
    (other) =>
      (other.action === 'blocked' &&
        other.reason === 'pending-write' &&
        (isInDoubt || other.recordId !== undefined)) ||
      (other.action === 'blocked' &&
        ['pending-write', 'not-converging'].includes(other.reason) &&
        writtenLately.some((before) => satisfies(before, other.desired))) ||
      (other.action === 'surplus' && other.retryAt !== undefined) ||
      (other.action === 'update' && writtenLately.some(({ id }) => id === other.recordId)),
  );
  const isCounted = result.inSync <= inSync.length && result.inSync + awaited.length >= inSync.length;
  if (!isCounted) found.push(`counts ${result.inSync} in sync of ${inSync.length}`);
  for (const record of missing) {
    const isTold = result.differences.some(
      (difference) => 'source' in difference && difference.source.line === record.source.line,
    );
    if (!isTold) found.push(`is silent about ${shown(record)}`);
  }
  const ids = new Set(records.map(({ id }) => id));
  for (const difference of result.differences) {
    const isDoubted = 'error' in difference && difference.error !== undefined;
    if (difference.action === 'surplus' && !isDoubted && !ids.has(difference.recordId))
      found.push('shows a surplus that is gone');
  }
  if (result.status === 'in-sync') {
    const strays = surplusOf(desired, records);
    if (missing.length > 0) found.push(`says in-sync without ${shown(missing[0]!)}`);
    if (strays.length > 0) found.push(`says in-sync beside ${shown(strays[0]!)}`);
  }
  return found;
};

/** Records that are neither desired, nor parked, nor ignored. */
export const surplusOf = (
  desired: DesiredTemplate,
  records: readonly ActualRecord[],
): readonly ActualRecord[] => {
  const used = new Set<string>();
  return records.filter((record) => {
    if (!isKnownType(record) || isIgnored(desired, record)) return false;
    if (isParkedName(canonicalName(record.name))) return false;
    const key = keyOf(record);
    const isDesired = desired.records.some((one) => satisfies(record, one)) && !used.has(key);
    used.add(key);
    return !isDesired;
  });
};

const falseStatus = ({ status, differences }: TemplateResult): string[] => {
  const open = differences.filter(({ outcome }) => outcome !== 'applied');
  if (status === 'in-sync' && open.length > 0) return ['says in-sync, with differences'];
  const isFailed = differences.some(({ outcome }) => outcome === 'failed' || outcome === 'unknown');
  return isFailed && status !== 'failed' ? [`says ${status}, and a write failed`] : [];
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
