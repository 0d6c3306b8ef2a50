import { escapeControl, maxShown } from '../lib/escape-control.ts';
import type { RecordData } from '../model/record.ts';
import type { Cause, Difference, Outcome } from '../plan/difference.ts';
import type { AnswerDifference, SubdomainResult } from '../result.ts';
import type { ToDo } from './to-do.ts';

type SubdomainDifference = SubdomainResult['differences'][number];

/**
 * One difference for people: a line in a terminal, a row of a table, a line of a message. Every text is visible and
 * harmless to a terminal.
 */
export interface ReportRow {
  readonly kind: Difference['action'] | SubdomainDifference['kind'] | AnswerDifference['kind'];
  readonly sign: string;
  readonly word: string;
  readonly type: string;
  readonly name: string;
  /** Content, priority and TTL as far as they are stated, and whatever else differs. */
  readonly values: readonly RowValue[];
  /** The side that alone has such a record. */
  readonly only: 'actual' | 'desired' | null;
  readonly outcome: Outcome | null;
  /** Why it differs or is blocked, in a word or two. */
  readonly why: readonly string[];
  /** The position in the file, and the ids at the service. */
  readonly where: readonly string[];
  /** Why, in sentences. */
  readonly remarks: readonly string[];
  /** What a person can do; null: nothing, or nothing but what the remarks say. */
  readonly toDo: ToDo | null;
}

/** One part of a record: what it is, or what it is and should be. Contents have no label, others end theirs with a blank. */
export type RowValue =
  | { readonly label: string; readonly isChanged: false; readonly text: string }
  | { readonly label: string; readonly isChanged: true; readonly actual: string; readonly desired: string };

/** The row of a difference. Reasons in `said` are not repeated. */
export const rowOf = (
  difference: Difference,
  toDo: ToDo | null = null,
  said: readonly string[] = [],
): ReportRow => {
  const current = 'current' in difference ? (difference.current ?? null) : null;
  const desired = 'desired' in difference ? difference.desired : null;
  const source = 'source' in difference ? [`${difference.source.file}:${difference.source.line}`] : [];
  return rowWith(difference.action, current, desired, changedFields(difference), {
    outcome: difference.outcome ?? null,
    why: [
      ...('reason' in difference ? [difference.reason] : []),
      // The report says once that causes are unknown.
      ...('cause' in difference && difference.cause !== 'unknown' ? [causeWords[difference.cause]] : []),
    ],
    where: [
      ...source.map(escapeControl),
      ...('recordId' in difference ? [`record ${difference.recordId}`] : []),
    ],
    remarks: remarksOf(difference, said).map(escapeControl),
    toDo,
  });
};

const changedFields = (difference: Difference): readonly FieldName[] => {
  if (difference.action === 'update') return difference.fields;
  if (difference.action === 'park') return ['name', 'content'];
  if (difference.action !== 'blocked' || difference.current === undefined) return [];
  return statedChanges(difference.current, difference.desired);
};

/** A priority or TTL that is not stated stays as it is. */
const statedChanges = (before: RecordData, after: RecordData): FieldName[] =>
  fieldNames.filter(
    (field) =>
      field !== 'type' &&
      (after[field] !== null || field === 'name') &&
      shownValue(field, before[field]) !== shownValue(field, after[field]),
  );

/** Why, unless that is among what is said already. */
const remarksOf = (difference: Difference, said: readonly string[]): string[] => {
  const { error, retryAt } = difference;
  const reasons = error === undefined || said.includes(error) ? [] : [sentence(error)];
  if (difference.action === 'blocked') {
    const { message, conflicts = [] } = difference;
    const records = `record${conflicts.length === 1 ? '' : 's'} ${conflicts.join(', ')}`;
    reasons.unshift(sentence(message), ...(conflicts.length === 0 ? [] : [`In the way: ${records}.`]));
  }
  if (retryAt !== undefined && ![...said, ...reasons].some((text) => text.includes(retryAt)))
    reasons.push(`Next try at ${retryAt}.`);
  return reasons.length === 0 ? [] : [reasons.join(' ')];
};

/** Messages have no full stop, since most of them are shown alone. */
const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

export const rowOfSubdomain = ({ kind, templateRecord, record, fields }: SubdomainDifference): ReportRow => {
  const derivedFrom = templateRecord?.id ?? record?.templateRecordId ?? null;
  return rowWith(kind, record, templateRecord, fields, {
    where: [
      ...(record === null ? [] : [`record ${record.id}`]),
      ...(derivedFrom === null ? [] : [`template record ${derivedFrom}`]),
    ],
  });
};

/** The answers of these servers on the left, what the service shows on the right. */
export const rowOfAnswer = (
  { kind, name, type, desired, current, message }: AnswerDifference,
  servers: readonly string[],
  subdomain: string,
): ReportRow => {
  const below = `.${subdomain}`;
  const relative = name === subdomain ? null : name.endsWith(below) ? name.slice(0, -below.length) : name;
  const [from, to] = [asOne(current), asOne(desired)].map((set) => ({ ...set, type, name: relative }));
  const changed =
    kind === 'stale' ? (['content', 'ttl'] as const).filter((field) => from![field] !== to![field]) : [];
  return rowWith(kind, kind === 'missing' ? null : from!, to!, changed, {
    why: servers.map(escapeControl),
    remarks: message === undefined ? [] : [escapeControl(message)],
  });
};

/** All records of a set as one record. */
const asOne = (records: readonly RecordData[]): RecordData => ({
  ...nothing,
  content: records
    .map(({ content, priority }) => (priority === null ? content : `${priority} ${content}`))
    .sort()
    .join(', '),
  ttl: records[0]?.ttl ?? null,
});

/** A write of the history. Values that were not sent stayed as they were. */
export const rowOfWrite = ({
  action,
  before,
  after,
}: {
  readonly action: 'add' | 'update' | 'park';
  readonly before: RecordData | null;
  readonly after: RecordData;
}): ReportRow => rowWith(action, before, after, before === null ? [] : statedChanges(before, after));

const rowWith = (
  kind: ReportRow['kind'],
  actual: RecordData | null,
  desired: RecordData | null,
  changed: readonly FieldName[],
  more: Partial<ReportRow> = {},
): ReportRow => {
  const record = actual ?? desired ?? nothing;
  const isShown = (field: FieldName): boolean =>
    changed.includes(field) || (field !== 'type' && field !== 'name' && record[field] !== null);
  const [sign, word] = kinds[kind];
  return {
    kind,
    sign,
    word,
    type: escapeControl(record.type),
    name: shownValue('name', record.name),
    values: fieldNames.filter(isShown).map((field): RowValue => {
      const label = field === 'content' ? '' : `${field} `;
      if (!changed.includes(field) || actual === null || desired === null)
        return { label, isChanged: false, text: shownValue(field, record[field]) };
      const [from, to] = shownPair(field, actual[field], desired[field]);
      return { label, isChanged: true, actual: from, desired: to };
    }),
    only: actual === null ? 'desired' : desired === null ? 'actual' : null,
    outcome: null,
    why: [],
    where: [],
    remarks: [],
    toDo: null,
    ...more,
  };
};

const nothing: RecordData = { type: '', name: null, content: '', priority: null, ttl: null };

const fieldNames = ['type', 'name', 'content', 'priority', 'ttl'] as const;
type FieldName = (typeof fieldNames)[number];
type Value = RecordData[FieldName];

const shownValue = (field: FieldName, value: Value): string => {
  if (field === 'name' && (value === null || value === '')) return '@';
  if (value === '') return '(empty)';
  return value === null ? '(none)' : escapeControl(String(value));
};

/** Two texts that are shortened start shortly before they differ. */
export const shownPair = (field: FieldName, from: Value, to: Value): readonly [string, string] => {
  let start = -kept;
  if (typeof from === 'string' && typeof to === 'string' && Math.max(from.length, to.length) > maxShown)
    while (start + kept < from.length && from[start + kept] === to[start + kept]) start += 1;
  const shown = (value: Value): string =>
    shownValue(field, start > 0 ? `…${String(value).slice(start)}` : value);
  return [shown(from), shown(to)];
};

/** Characters before the difference. */
const kept = 60;

const kinds: Record<ReportRow['kind'], readonly [sign: string, word: string]> = {
  add: ['+', 'add'],
  update: ['~', 'change'],
  park: ['»', 'park'],
  surplus: ['?', 'surplus'],
  blocked: ['!', 'blocked'],
  missing: ['-', 'missing'],
  stale: ['~', 'stale'],
  foreign: ['?', 'foreign'],
  dangling: ['!', 'dangling'],
};

export const outcomeWords: Record<Outcome, string> = {
  applied: 'applied',
  failed: 'failed',
  unknown: 'outcome unknown',
  skipped: 'skipped',
};

/** Why a difference exists, in words. */
export const causeWords: Record<Cause, string> = {
  edited: 'edited',
  drifted: 'drifted',
  both: 'edited and drifted',
  unknown: 'cause unknown',
};
