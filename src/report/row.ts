import { escapeControl } from '../lib/escape-control.ts';
import { shellWord } from '../model/shell-word.ts';
import type { RecordData } from '../model/record.ts';
import type { BlockReason, Cause, Difference, Field, Outcome } from '../plan/difference.ts';
import type { AnswerDifference, SubdomainResult } from '../result.ts';

type SurplusReason = Extract<Difference, { action: 'surplus' }>['reason'];
type SubdomainDifference = SubdomainResult['differences'][number];

/** One difference as people read it. Every text in it is visible and harmless to a terminal. */
export interface Row {
  readonly kind: Difference['action'] | SubdomainDifference['kind'] | AnswerDifference['kind'];
  readonly symbol: string;
  readonly word: string;
  readonly type: string;
  readonly name: string;
  /** Null where the content itself changes. */
  readonly content: string | null;
  /** Priority and TTL, where they are stated and stay. */
  readonly facts: readonly string[];
  readonly changes: readonly Change[];
  readonly outcome: Outcome | null;
  readonly notes: readonly string[];
  /** Whole sentences: why, and what to do. */
  readonly remarks: readonly string[];
}

interface Change {
  readonly field: Field | 'type';
  readonly from: string;
  readonly to: string;
}

/** Of a difference in this template; `said` are the reasons for skipping it that need not be said again. */
export const rowOf = (difference: Difference, template: string, said: readonly string[] = []): Row => ({
  kind: difference.action,
  ...signs[difference.action],
  ...sidesOf(difference),
  outcome: difference.outcome ?? null,
  notes: notesOf(difference).map(escapeControl),
  remarks: remarksOf(difference, template, said).map(escapeControl),
});

export const rowOfSubdomain = (difference: SubdomainDifference): Row => {
  const { kind, templateRecord, record, fields } = difference;
  const derivedFrom = templateRecord?.id ?? record?.templateRecordId ?? null;
  return {
    kind,
    ...signs[kind],
    ...recordOf(record ?? templateRecord ?? nothing, templateRecord ?? nothing, fields),
    outcome: null,
    notes: [
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
    outcome: null,
    notes: servers.map(escapeControl),
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
}: Write): Pick<Row, 'kind' | 'symbol' | 'word'> & Sides => {
  const fields = (['name', 'content', 'priority', 'ttl'] as const).filter(
    (field) => before !== null && wasSent(after, field) && valueOf(before, field) !== valueOf(after, field),
  );
  return { kind: action, ...signs[action], ...recordOf(before ?? after, after, fields) };
};

const wasSent = (after: RecordData, field: Field): boolean =>
  after[field] !== null || (field !== 'ttl' && field !== 'priority');

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
  const record = difference.action === 'surplus' ? difference.current : difference.desired;
  return recordOf(record, record, []);
};

type Sides = Pick<Row, 'type' | 'name' | 'content' | 'facts' | 'changes'>;

const recordOf = (from: RecordData, to: RecordData, fields: readonly Change['field'][]): Sides => ({
  type: escapeControl(from.type),
  name: valueOf(from, 'name'),
  content: fields.includes('content') ? null : valueOf(from, 'content'),
  facts: (['priority', 'ttl'] as const)
    .filter((field) => from[field] !== null && !fields.includes(field))
    .map((field) => `${field} ${from[field]}`),
  changes: fields.map((field) => ({ field, from: valueOf(from, field), to: valueOf(to, field) })),
});

const valueOf = (record: RecordData, field: Change['field']): string => {
  const value = record[field];
  if (field === 'name' && (value === null || value === '')) return '@';
  if (value === '') return '(empty)';
  return value === null ? '(none)' : escapeControl(String(value));
};

const notesOf = (difference: Difference): string[] => [
  ...('reason' in difference ? [difference.reason] : []),
  ...('cause' in difference ? [causes[difference.cause]] : []),
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
    ...(difference.action === 'blocked' ? [sentence(difference.message), ...standsNow(difference)] : []),
    ...(error === undefined ? [] : [sentence(error)]),
    ...(retryAt === undefined ? [] : [`Next try at ${retryAt}.`]),
  ];
  return [
    ...(why.length === 0 ? [] : [why.join(' ')]),
    ...('reason' in difference ? [`To do: ${advice[difference.reason](shellWord(template))}`] : []),
  ];
};

/** Messages end without a full stop, since most of them stand alone. */
const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

const standsNow = ({ current, conflicts = [] }: Extract<Difference, { action: 'blocked' }>): string[] => [
  ...(current === undefined
    ? []
    : [`There now: ${[current.content, ...recordOf(current, current, []).facts].join(', ')}.`]),
  ...(conflicts.length === 0
    ? []
    : [`In the way: record${conflicts.length === 1 ? '' : 's'} ${conflicts.join(', ')}.`]),
];

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
