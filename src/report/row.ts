import { escapeControl, maxShown } from '../lib/escape-control.ts';
import type { RecordData } from '../model/record.ts';
import type { Cause, Difference, Outcome } from '../plan/difference.ts';
import type { SubdomainDifference } from '../result.ts';
import { shortenPair } from './columns.ts';
import { toDosOf } from './to-do.ts';

/**
 * One difference for people: a line in a terminal, a row of a table, a line of a message. Every text is visible and
 * harmless to a terminal.
 */
export type ReportRow = ReturnType<typeof rowBetween>;

/** The differences of a template. What several have to say, or its message (`said`) says already, is said once: with the last. */
export const rowsOf = (
  template: string,
  differences: readonly Difference[],
  said: string | null = null,
  isSettled = true,
): readonly ReportRow[] => {
  const toDos = toDosOf(template, differences, isSettled);
  const rows = differences.map((one) => rowOf(one, toDos.get(one), said));
  const last = new Map(rows.flatMap(({ notes }, at) => notes.map((note) => [note, at])));
  return rows.map((row, at) => ({ ...row, notes: row.notes.filter((note) => last.get(note) === at) }));
};

const rowOf = (one: Difference, toDo: string | undefined, said: string | null): ReportRow => {
  const { error, retryAt } = one;
  const remark = [
    one.action === 'blocked' ? one.message : [],
    error?.replace(/^held: /, '') ?? [],
    retryAt === undefined || error?.includes(retryAt) ? [] : `next try at ${retryAt}`,
  ]
    .flat()
    .filter((text) => said?.includes(text) !== true)
    .map((text) => text.replace(/\.$/, ''))
    .join('; ');
  return {
    ...rowBetween(
      one.action,
      'current' in one ? (one.current ?? null) : null,
      'desired' in one ? one.desired : null,
      one.action === 'update' ? one.fields : undefined,
    ),
    // What holds the whole template is said once, above.
    outcome: one.skippedBy === 'held' && said !== null ? null : (one.outcome ?? null),
    why: [
      'reason' in one ? one.reason : [],
      // The report says once that causes are unknown.
      'cause' in one && one.cause !== 'unknown' ? causeWords[one.cause] : [],
    ].flat(),
    where: [
      'source' in one ? escapeControl(`${one.source.file}:${one.source.line}`) : [],
      'recordId' in one ? `record ${one.recordId}` : [],
    ].flat(),
    notes: [remark === '' ? [] : shownMessage(remark), toDo === undefined ? [] : `To do: ${toDo}`].flat(),
  };
};

/** Words of this program, in which times are without milliseconds, and of others. */
export const shownMessage = (text: string): string =>
  escapeControl(text.replaceAll(/(\dT\d\d:\d\d:\d\d)\.\d{3}Z/g, '$1Z'));

/** The subdomain has the left side, its template the right one. */
export const rowOfSubdomain = ({ kind, templateRecord, record, fields }: SubdomainDifference): ReportRow => {
  const derivedFrom = templateRecord?.id ?? record?.templateRecordId ?? null;
  const where = [
    record === null ? [] : `record ${record.id}`,
    derivedFrom === null ? [] : `template record ${derivedFrom}`,
  ];
  return { ...rowBetween(kind, record, templateRecord, fields), where: where.flat() };
};

/** The bare row of two sides. Values of a write that were not sent stayed as they were. */
export const rowBetween = (
  kind: keyof typeof kinds,
  actual: RecordData | null,
  desired: RecordData | null,
  changed: readonly FieldName[] = statedChanges(actual, desired),
) => {
  const record = actual ?? desired ?? { type: '', name: null, content: '', priority: null, ttl: null };
  const isShown = (field: FieldName): boolean =>
    changed.includes(field) || (field !== 'type' && field !== 'name' && record[field] !== null);
  const [sign, word, color] = kinds[kind];
  return {
    kind,
    sign,
    word,
    /** In a terminal. */
    color,
    type: escapeControl(record.type),
    name: escapeControl(textOf('name', record.name)),
    /**
     * Content, priority and TTL as far as they are stated, and whatever else differs. Contents have no label, others end
     * theirs with a blank. `desired` null: it is the same on both sides, or there is one side only.
     */
    values: fieldNames.filter(isShown).map((field) => {
      const label = field === 'content' ? '' : `${field} `;
      if (!changed.includes(field) || actual === null || desired === null)
        return { label, text: escapeControl(textOf(field, record[field])), desired: null };
      // Two long texts start shortly before they differ.
      const [from, to] = shortenPair(textOf(field, actual[field]), textOf(field, desired[field]), maxShown);
      return { label, text: escapeControl(from), desired: escapeControl(to) };
    }),
    outcome: null as Outcome | null,
    /** Why it differs or is blocked, in a word or two. */
    why: [] as readonly string[],
    /** The position in the file, and the ids at the service. */
    where: [] as readonly string[],
    /** Why, and what a person can do, in sentences. */
    notes: [] as readonly string[],
  };
};

const fieldNames = ['type', 'name', 'content', 'priority', 'ttl'] as const;
type FieldName = (typeof fieldNames)[number];

/** A priority or TTL that is not stated stays as it is. */
const statedChanges = (before: RecordData | null, after: RecordData | null): readonly FieldName[] =>
  before === null || after === null
    ? []
    : fieldNames.filter((field) => {
        const isStated = field !== 'type' && (after[field] !== null || field === 'name');
        return isStated && textOf(field, before[field]) !== textOf(field, after[field]);
      });

const textOf = (field: FieldName, value: RecordData[FieldName]): string => {
  if (field === 'name' && (value === null || value === '')) return '@';
  return value === '' ? '(empty)' : String(value ?? '(none)');
};

/** A record in one line for people: name, type, data. */
export const recordText = ({ type, name, content, priority, ttl }: RecordData): string =>
  [name ?? '@', type, priority ?? [], content, ttl === null ? [] : `ttl ${ttl}`]
    .flat()
    .map((part) => escapeControl(String(part)))
    .join(' ');

/** A change of a record in one line. Both sides fit into what a line shows. */
export const changeText = (before: RecordData | null, after: RecordData): string => {
  if (before === null) return recordText(after);
  const [from, to] = shortenPair(before.content, after.content, 600);
  return `${recordText({ ...before, content: from })} → ${recordText({ ...after, content: to })}`;
};

const kinds = {
  add: ['+', 'add', 'green'],
  update: ['~', 'change', 'yellow'],
  park: ['»', 'park', 'cyan'],
  surplus: ['?', 'surplus', 'magenta'],
  blocked: ['!', 'blocked', 'red'],
  missing: ['-', 'missing', 'red'],
  stale: ['~', 'stale', 'yellow'],
  foreign: ['?', 'foreign', 'magenta'],
  dangling: ['!', 'dangling', 'red'],
} as const;

/** Of templates, writes and clients: a state is shown by sign, word and colour. */
export const states = {
  off: ['○', 'not asked', 'cyan'],
  'in-sync': ['✓', 'in sync', 'green'],
  pending: ['○', 'pending', 'cyan'],
  drifted: ['≠', 'differs', 'yellow'],
  suspended: ['⊘', 'suspended', 'cyan'],
  held: ['‖', 'held', 'magenta'],
  failed: ['✗', 'failed', 'red'],
  applied: ['✓', 'applied', 'green'],
  unknown: ['?', 'outcome unknown', 'red'],
  skipped: ['‖', 'held back', 'magenta'],
  duplicate: ['≠', 'stored twice', 'yellow'],
  healthy: ['✓', 'healthy', 'green'],
  starting: ['○', 'starting', 'cyan'],
  failing: ['✗', 'failing', 'red'],
  denied: ['✗', 'denied', 'red'],
} as const;
export type State = keyof typeof states;

export const wordOf = (state: State): string => states[state][1];

/** Why a difference exists, in words. */
export const causeWords: Record<Cause, string> = {
  edited: 'edited',
  drifted: 'drifted',
  both: 'edited and drifted',
  unknown: 'cause unknown',
};
