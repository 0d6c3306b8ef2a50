import { escapeControl } from '../lib/escape-control.ts';
import type { RecordData } from '../model/record.ts';
import type { Difference, Outcome } from '../plan/difference.ts';
import type { AnswerDifference, SubdomainResult } from '../result.ts';
import type { ToDo } from './to-do.ts';
import { causeWordsOf, placesOf, remarksOf } from './row-remarks.ts';
import {
  isStated,
  nothing,
  recordFields,
  recordSides,
  sideMissingFrom,
  sidesOf,
  valueOf,
  type RowSides,
} from './row-sides.ts';

type ShownSubdomainDifference = SubdomainResult['differences'][number];

/** One difference for people. Every text is visible and harmless to a terminal. */
export interface ReportRow extends RowSides {
  readonly kind: Difference['action'] | ShownSubdomainDifference['kind'] | AnswerDifference['kind'];
  readonly symbol: string;
  readonly word: string;
  /** The side without the record; null if both have one. */
  readonly missingFrom: 'actual' | 'desired' | null;
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

/** The row of a difference. Reasons in `said` are not repeated. */
export const rowOf = (
  difference: Difference,
  toDo: ToDo | null = null,
  said: readonly string[] = [],
): ReportRow => ({
  kind: difference.action,
  ...symbols[difference.action],
  ...sidesOf(difference),
  missingFrom: sideMissingFrom(difference),
  outcome: difference.outcome ?? null,
  why: causeWordsOf(difference),
  where: placesOf(difference).map(escapeControl),
  remarks: remarksOf(difference, said).map(escapeControl),
  toDo: toDo && { own: escapeControl(toDo.own), shared: escapeControl(toDo.shared) },
});

export const rowOfSubdomain = (difference: ShownSubdomainDifference): ReportRow => {
  const { kind, templateRecord, record, fields } = difference;
  const derivedFrom = templateRecord?.id ?? record?.templateRecordId ?? null;
  return {
    kind,
    ...symbols[kind],
    ...recordSides(record ?? templateRecord ?? nothing, templateRecord ?? nothing, fields),
    missingFrom: record === null ? 'actual' : templateRecord === null ? 'desired' : null,
    outcome: null,
    why: [],
    where: [
      ...(record === null ? [] : [`record ${record.id}`]),
      ...(derivedFrom === null ? [] : [`template record ${derivedFrom}`]),
    ],
    remarks: [],
    toDo: null,
  };
};

/** The answers of these servers on the left, what the service shows on the right. */
export const rowOfAnswer = (
  { kind, name, type, desired, current, message }: AnswerDifference,
  servers: readonly string[],
  subdomain: string,
): ReportRow => {
  const relative =
    name === subdomain ? null : name.endsWith(`.${subdomain}`) ? name.slice(0, -subdomain.length - 1) : name;
  const sideOf = (records: readonly RecordData[]): RecordData => ({
    ...nothing,
    ...wholeSet(records),
    type,
    name: relative,
  });
  const [from, to] = [sideOf(current), sideOf(desired)];
  const isChange = kind === 'stale';
  const fields = (['content', 'ttl'] as const).filter((field) => isChange && from[field] !== to[field]);
  return {
    kind,
    ...symbols[kind],
    ...recordSides(kind === 'missing' ? to : from, to, fields),
    missingFrom: kind === 'missing' ? 'actual' : null,
    outcome: null,
    why: servers.map(escapeControl),
    where: [],
    remarks: message === undefined ? [] : [escapeControl(message)],
    toDo: null,
  };
};

/** A write of the history. Values that were not sent stayed as they were. */
export const rowOfWrite = ({
  action,
  before,
  after,
}: Write): Pick<ReportRow, 'kind' | 'symbol' | 'word' | 'missingFrom'> & RowSides => {
  const fields = recordFields.filter(
    (field) => before !== null && isStated(after, field) && valueOf(before, field) !== valueOf(after, field),
  );
  const missingFrom = before === null ? 'actual' : null;
  return { kind: action, ...symbols[action], ...recordSides(before ?? after, after, fields), missingFrom };
};

interface Write {
  readonly action: 'add' | 'update' | 'park';
  readonly before: RecordData | null;
  readonly after: RecordData;
}

const symbols: Record<ReportRow['kind'], Pick<ReportRow, 'symbol' | 'word'>> = {
  add: { symbol: '+', word: 'add' },
  update: { symbol: '~', word: 'change' },
  park: { symbol: '»', word: 'park' },
  surplus: { symbol: '?', word: 'surplus' },
  blocked: { symbol: '!', word: 'blocked' },
  missing: { symbol: '-', word: 'missing' },
  stale: { symbol: '~', word: 'stale' },
  foreign: { symbol: '?', word: 'foreign' },
  dangling: { symbol: '!', word: 'dangling' },
};

export const outcomeWords: Record<Outcome, string> = {
  applied: 'applied',
  failed: 'failed',
  unknown: 'outcome unknown',
  skipped: 'skipped',
};

/** All records of a set as one record. */
const wholeSet = (records: readonly RecordData[]): Pick<RecordData, 'content' | 'ttl'> => ({
  content: records
    .map(({ content, priority }) => (priority === null ? content : `${priority} ${content}`))
    .sort()
    .join(', '),
  ttl: records[0]?.ttl ?? null,
});
