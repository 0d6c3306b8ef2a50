import { escapeControl } from '../lib/escape-control.ts';
import { shellWord } from '../model/shell-word.ts';
import type { RecordData } from '../model/record.ts';
import type { BlockReason, Cause, Difference, Field, Outcome } from '../plan/difference.ts';
import type { AnswerDifference, SubdomainResult } from '../result.ts';

type SurplusReason = Extract<Difference, { action: 'surplus' }>['reason'];
type ShownSubdomainDifference = SubdomainResult['differences'][number];

/** One difference as people read it. Every text in it is visible and harmless to a terminal. */
export interface Row {
  readonly kind: Difference['action'] | ShownSubdomainDifference['kind'] | AnswerDifference['kind'];
  readonly symbol: string;
  readonly word: string;
  readonly type: string;
  readonly name: string;
  /** Null where the content itself changes. */
  readonly content: string | null;
  /** Priority and TTL, where they are stated and stay. */
  readonly facts: readonly string[];
  readonly changes: readonly RowChange[];
  /** The side that has no such record; null where both have one. */
  readonly lackedBy: 'actual' | 'desired' | null;
  readonly outcome: Outcome | null;
  /** Why it differs or is blocked, in a word or two. */
  readonly why: readonly string[];
  /** The place in a file, and the ids at the service. */
  readonly where: readonly string[];
  /** Whole sentences: why, and what to do. */
  readonly remarks: readonly string[];
}

interface RowChange {
  readonly field: Field | 'type';
  readonly from: string;
  readonly to: string;
}

/** Of a difference in this template; `said` are the reasons for skipping it that need not be said again. */
export const rowOf = (difference: Difference, template: string, said: readonly string[] = []): Row => ({
  kind: difference.action,
  ...signs[difference.action],
  ...sidesOf(difference),
  lackedBy: lackedBy(difference),
  outcome: difference.outcome ?? null,
  why: whyOf(difference),
  where: whereOf(difference).map(escapeControl),
  remarks: remarksOf(difference, template, said).map(escapeControl),
});

export const rowOfSubdomain = (difference: ShownSubdomainDifference): Row => {
  const { kind, templateRecord, record, fields } = difference;
  const derivedFrom = templateRecord?.id ?? record?.templateRecordId ?? null;
  return {
    kind,
    ...signs[kind],
    ...recordOf(record ?? templateRecord ?? nothing, templateRecord ?? nothing, fields),
    lackedBy: record === null ? 'actual' : templateRecord === null ? 'desired' : null,
    outcome: null,
    why: [],
    where: [
      ...(record === null ? [] : [`record ${record.id}`]),
      ...(derivedFrom === null ? [] : [`template record ${derivedFrom}`]),
    ],
    remarks: [],
  };
};

/** What these servers answer: on the left, and on the right what the service shows. */
export const rowOfAnswer = (
  { kind, name, type, desired, current }: AnswerDifference,
  servers: readonly string[],
  subdomain: string,
): Row => {
  const relative =
    name === subdomain ? null : name.endsWith(`.${subdomain}`) ? name.slice(0, -subdomain.length - 1) : name;
  const sideOf = (records: readonly RecordData[]): RecordData => ({
    ...nothing,
    ...wholeSet(records),
    type,
    name: relative,
  });
  const [from, to] = [sideOf(current), sideOf(desired)];
  const isChange = kind === 'stale' || kind === 'flattened';
  const fields = (['content', 'ttl'] as const).filter((field) => isChange && from[field] !== to[field]);
  return {
    kind,
    ...signs[kind],
    ...recordOf(kind === 'missing' ? to : from, to, fields),
    lackedBy: kind === 'missing' ? 'actual' : kind === 'foreign' ? 'desired' : null,
    outcome: null,
    why: servers.map(escapeControl),
    where: [],
    remarks: [],
  };
};

/** All records of a set as one. */
const wholeSet = (records: readonly RecordData[]): Pick<RecordData, 'content' | 'ttl'> => ({
  content: records
    .map(({ content, priority }) => (priority === null ? content : `${priority} ${content}`))
    .sort()
    .join(', '),
  ttl: records[0]?.ttl ?? null,
});

/** A write of the past. What was not sent, as a TTL that the file leaves open, stayed as it was. */
export const rowOfWrite = ({
  action,
  before,
  after,
}: Write): Pick<Row, 'kind' | 'symbol' | 'word' | 'lackedBy'> & Sides => {
  const fields = recordFields.filter(
    (field) => before !== null && isStated(after, field) && valueOf(before, field) !== valueOf(after, field),
  );
  const lackedBy = before === null ? 'actual' : null;
  return { kind: action, ...signs[action], ...recordOf(before ?? after, after, fields), lackedBy };
};

const recordFields = ['name', 'content', 'priority', 'ttl'] as const;

/** A priority or TTL that is not stated is left as it is. */
const isStated = (record: RecordData, field: Field): boolean =>
  record[field] !== null || (field !== 'ttl' && field !== 'priority');

interface Write {
  readonly action: 'add' | 'update' | 'park';
  readonly before: RecordData | null;
  readonly after: RecordData;
}

const signs: Record<Row['kind'], Pick<Row, 'symbol' | 'word'>> = {
  add: { symbol: '+', word: 'add' },
  update: { symbol: '~', word: 'change' },
  park: { symbol: '»', word: 'park' },
  surplus: { symbol: '?', word: 'surplus' },
  blocked: { symbol: '!', word: 'blocked' },
  missing: { symbol: '-', word: 'missing' },
  stale: { symbol: '~', word: 'stale' },
  foreign: { symbol: '?', word: 'foreign' },
  flattened: { symbol: '=', word: 'flattened' },
};

export const outcomeWords: Record<Outcome, string> = {
  applied: 'applied',
  failed: 'failed',
  unknown: 'outcome unknown',
  skipped: 'skipped',
};

const nothing: RecordData = { type: '', name: null, content: '', priority: null, ttl: null };

const sidesOf = (difference: Difference): Sides => {
  if (difference.action === 'update') {
    return recordOf(difference.current, difference.desired, difference.fields);
  }
  if (difference.action === 'park') {
    return recordOf(difference.current, difference.desired, ['name', 'content']);
  }
  if (difference.action === 'blocked') return sidesOfBlocked(difference);
  const record = difference.action === 'surplus' ? difference.current : difference.desired;
  return recordOf(record, record, []);
};

/** What the file leaves open is no change. */
const sidesOfBlocked = ({ current, desired }: BlockedDifference): Sides => {
  const fields = recordFields.filter(
    (field) =>
      current !== undefined &&
      isStated(desired, field) &&
      valueOf(current, field) !== valueOf(desired, field),
  );
  return recordOf(current ?? desired, desired, fields);
};

type BlockedDifference = Extract<Difference, { action: 'blocked' }>;

const lackedBy = (difference: Difference): Row['lackedBy'] => {
  if (difference.action === 'surplus') return 'desired';
  return 'current' in difference ? null : 'actual';
};

type Sides = Pick<Row, 'type' | 'name' | 'content' | 'facts' | 'changes'>;

const recordOf = (from: RecordData, to: RecordData, fields: readonly RowChange['field'][]): Sides => ({
  type: escapeControl(from.type),
  name: valueOf(from, 'name'),
  content: fields.includes('content') ? null : valueOf(from, 'content'),
  facts: (['priority', 'ttl'] as const)
    .filter((field) => from[field] !== null && !fields.includes(field))
    .map((field) => `${field} ${from[field]}`),
  changes: fields.map((field) => ({ field, from: valueOf(from, field), to: valueOf(to, field) })),
});

const valueOf = (record: RecordData, field: RowChange['field']): string => {
  const value = record[field];
  if (field === 'name' && (value === null || value === '')) return '@';
  if (value === '') return '(empty)';
  return value === null ? '(none)' : escapeControl(String(value));
};

const whyOf = (difference: Difference): string[] => [
  ...('reason' in difference ? [difference.reason] : []),
  ...('cause' in difference ? [causes[difference.cause]] : []),
];

const whereOf = (difference: Difference): string[] => [
  ...('source' in difference ? [`${difference.source.file}:${difference.source.line}`] : []),
  ...('recordId' in difference ? [`record ${difference.recordId}`] : []),
];

const causes: Record<Cause, string> = {
  edited: 'edited',
  drifted: 'drifted',
  both: 'edited and drifted',
  unknown: 'cause unknown',
};

const remarksOf = (difference: Difference, template: string, said: readonly string[]): string[] => {
  const { retryAt } = difference;
  const error = said.includes(difference.error ?? '') ? undefined : difference.error;
  const why = [
    ...(difference.action === 'blocked' ? [sentence(difference.message), ...inTheWay(difference)] : []),
    ...(error === undefined ? [] : [sentence(error)]),
    ...(retryAt === undefined ? [] : [`Next try at ${retryAt}.`]),
  ];
  return [
    ...(why.length === 0 ? [] : [why.join(' ')]),
    ...('reason' in difference ? [`${toDo}${advice[difference.reason](shellWord(template))}`] : []),
  ];
};

/** What the remark begins with that says what a person can do. */
export const toDo = 'To do: ';

/** Messages end without a full stop, since most of them stand alone. */
const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

const inTheWay = ({ conflicts = [] }: BlockedDifference): string[] =>
  conflicts.length === 0
    ? []
    : [`In the way: record${conflicts.length === 1 ? '' : 's'} ${conflicts.join(', ')}.`];

/** What a person can do; `name` is the template's, as a shell takes it. */
const advice: Record<BlockReason | SurplusReason, (name: string) => string> = {
  'cname-conflict': () => clearTheWay,
  'null-mx-conflict': () => clearTheWay,
  'pending-write': (name) =>
    `look whether the service has the record. If it stays away, \`dns-template-sync apply --retry ${name}\` adds it once more.`,
  'not-converging': () => 'write in the file what the service stores, or change the record at the service.',
  refused: () => 'change the record in the file to what the service takes. An apply tries at once.',
  vanished: (name) =>
    `find out who removes it. Then \`dns-template-sync apply --retry ${name}\` adds it once more.`,
  unlisted: () =>
    'add it to the file, name it under `ignore`, or remove it at the service by hand. ' +
    '`surplus: park` with `adopt: true` moves it aside.',
  duplicate: () =>
    'remove one of the two at the service by hand. `surplus: park` with `adopt: true` moves this one aside.',
};

const clearTheWay =
  'remove what is in the way at the service, or change the file, or let `surplus: park` move aside what has a name.';
