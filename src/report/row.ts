import { escapeControl, maxShown } from '../lib/escape-control.ts';
import type { RecordData } from '../model/record.ts';
import type { Cause, Difference, Field, Outcome } from '../plan/difference.ts';
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

/** One part of a record on both sides, which may be the same; null: that side has no such record. */
export interface RowValue {
  readonly field: Field | 'type';
  readonly isChanged: boolean;
  readonly actual: string | null;
  readonly desired: string | null;
}

/** The row of a difference. Reasons in `said` are not repeated. */
export const rowOf = (
  difference: Difference,
  toDo: ToDo | null = null,
  said: readonly string[] = [],
): ReportRow => {
  const current = 'current' in difference ? (difference.current ?? null) : null;
  const desired = 'desired' in difference ? difference.desired : null;
  return rowWith(difference.action, current, desired, changedFields(difference), {
    outcome: difference.outcome ?? null,
    why: [
      ...('reason' in difference ? [difference.reason] : []),
      // The report says once that causes are unknown.
      ...('cause' in difference && difference.cause !== 'unknown' ? [causeWords[difference.cause]] : []),
    ],
    where: [
      ...('source' in difference
        ? [escapeControl(`${difference.source.file}:${difference.source.line}`)]
        : []),
      ...('recordId' in difference ? [`record ${difference.recordId}`] : []),
    ],
    remarks: remarksOf(difference, said).map(escapeControl),
    toDo,
  });
};

const changedFields = (difference: Difference): readonly RowValue['field'][] => {
  if (difference.action === 'update') return difference.fields;
  if (difference.action === 'park') return ['name', 'content'];
  if (difference.action !== 'blocked' || difference.current === undefined) return [];
  return statedChanges(difference.current, difference.desired);
};

/** A priority or TTL that is not stated stays as it is. */
const statedChanges = (before: RecordData, after: RecordData): Field[] =>
  (['name', 'content', 'priority', 'ttl'] as const).filter(
    (field) =>
      (after[field] !== null || field === 'name') &&
      shownValue(field, before[field]) !== shownValue(field, after[field]),
  );

/** Why, unless that is among what is said already. */
const remarksOf = (difference: Difference, said: readonly string[]): string[] => {
  const { error, retryAt } = difference;
  const reasons = [
    ...(difference.action === 'blocked' ? [sentence(difference.message), ...inTheWay(difference)] : []),
    ...(error === undefined || said.includes(error) ? [] : [sentence(error)]),
  ];
  if (retryAt !== undefined && ![...said, ...reasons].some((text) => text.includes(retryAt)))
    reasons.push(`Next try at ${retryAt}.`);
  return reasons.length === 0 ? [] : [reasons.join(' ')];
};

/** Messages have no full stop, since most of them are shown alone. */
const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

const inTheWay = ({ conflicts = [] }: Extract<Difference, { action: 'blocked' }>): string[] =>
  conflicts.length === 0
    ? []
    : [`In the way: record${conflicts.length === 1 ? '' : 's'} ${conflicts.join(', ')}.`];

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
  const [from, to] = [current, desired].map((set) => ({ ...nothing, ...asOne(set), type, name: relative }));
  const changed =
    kind === 'stale' ? (['content', 'ttl'] as const).filter((field) => from![field] !== to![field]) : [];
  return rowWith(kind, kind === 'missing' ? null : from!, to!, changed, {
    why: servers.map(escapeControl),
    remarks: message === undefined ? [] : [escapeControl(message)],
  });
};

/** All records of a set as one record. */
const asOne = (records: readonly RecordData[]): Pick<RecordData, 'content' | 'ttl'> => ({
  content: records
    .map(({ content, priority }) => (priority === null ? content : `${priority} ${content}`))
    .sort()
    .join(', '),
  ttl: records[0]?.ttl ?? null,
});

interface Write {
  readonly action: 'add' | 'update' | 'park';
  readonly before: RecordData | null;
  readonly after: RecordData;
}

/** A write of the history. Values that were not sent stayed as they were. */
export const rowOfWrite = ({ action, before, after }: Write): ReportRow =>
  rowWith(action, before, after, before === null ? [] : statedChanges(before, after));

/** Without `changed`, the actual values are those of both sides. */
const rowWith = (
  kind: ReportRow['kind'],
  actual: RecordData | null,
  desired: RecordData | null,
  changed: readonly RowValue['field'][],
  more: Partial<ReportRow> = {},
): ReportRow => {
  const record = actual ?? desired ?? nothing;
  const isShown = (field: RowValue['field']): boolean =>
    changed.includes(field) ||
    field === 'content' ||
    ((field === 'priority' || field === 'ttl') && record[field] !== null);
  return {
    kind,
    ...signs[kind],
    type: escapeControl(record.type),
    name: shownValue('name', record.name),
    values: allFields.filter(isShown).map((field) => {
      const isChanged = changed.includes(field) && actual !== null && desired !== null;
      const [from, to] = isChanged
        ? shownPair(field, actual[field], desired[field])
        : [shownValue(field, record[field]), shownValue(field, record[field])];
      return { field, isChanged, actual: actual && from, desired: desired && to };
    }),
    outcome: null,
    why: [],
    where: [],
    remarks: [],
    toDo: null,
    ...more,
  };
};

const nothing: RecordData = { type: '', name: null, content: '', priority: null, ttl: null };

const allFields = ['type', 'name', 'content', 'priority', 'ttl'] as const;

const shownValue = (field: RowValue['field'], value: Value): string => {
  if (field === 'name' && (value === null || value === '')) return '@';
  if (value === '') return '(empty)';
  return value === null ? '(none)' : escapeControl(String(value));
};

type Value = RecordData['priority' | 'content' | 'name'];

/** Two texts that are shortened start shortly before they differ. */
export const shownPair = (field: RowValue['field'], from: Value, to: Value): readonly [string, string] => {
  if (typeof from !== 'string' || typeof to !== 'string')
    return [shownValue(field, from), shownValue(field, to)];
  let start = -kept;
  if (Math.max(from.length, to.length) > maxShown)
    while (start + kept < from.length && from[start + kept] === to[start + kept]) start += 1;
  const shown = (text: string): string => shownValue(field, start <= 0 ? text : `…${text.slice(start)}`);
  return [shown(from), shown(to)];
};

/** Characters before the difference. */
const kept = 60;

const signs: Record<ReportRow['kind'], Pick<ReportRow, 'sign' | 'word'>> = {
  add: { sign: '+', word: 'add' },
  update: { sign: '~', word: 'change' },
  park: { sign: '»', word: 'park' },
  surplus: { sign: '?', word: 'surplus' },
  blocked: { sign: '!', word: 'blocked' },
  missing: { sign: '-', word: 'missing' },
  stale: { sign: '~', word: 'stale' },
  foreign: { sign: '?', word: 'foreign' },
  dangling: { sign: '!', word: 'dangling' },
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

/** A value that changes is on both sides. */
export const isChange = (value: RowValue): value is RowValue & { actual: string; desired: string } =>
  value.isChanged;

/** Contents need no label. */
export const labelOf = ({ field }: RowValue): string => (field === 'content' ? '' : `${field} `);
