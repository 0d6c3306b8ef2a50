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

/**
 * The differences of a template. `said`: its message. Why several are as they are, and what there is to do about them, is said
 * once, with the last of them.
 */
export const rowsOf = (
  template: string,
  differences: readonly Difference[],
  said: string | null = null,
): readonly ReportRow[] => {
  const toDos = toDosOf(template, differences);
  const rows = differences.map((one) => rowOf(one, toDos.get(one) ?? null, said));
  const lastOf = (key: 'remark' | 'toDo') => new Map(rows.map((row, at) => [row[key], at]));
  const [remarks, ways] = [lastOf('remark'), lastOf('toDo')];
  return rows.map((row, at) => ({
    ...row,
    remark: remarks.get(row.remark) === at ? row.remark : null,
    toDo: ways.get(row.toDo) === at ? row.toDo : null,
  }));
};

const rowOf = (difference: Difference, toDo: string | null, said: string | null): ReportRow => {
  const { action } = difference;
  const current = 'current' in difference ? (difference.current ?? null) : null;
  const desired = 'desired' in difference ? difference.desired : null;
  const where = [
    'source' in difference ? `${difference.source.file}:${difference.source.line}` : [],
    'recordId' in difference ? `record ${difference.recordId}` : [],
  ];
  return {
    ...rowBetween(action, current, desired, action === 'update' ? difference.fields : undefined),
    // What holds the whole template is said once, above.
    outcome: difference.skippedBy === 'held' && said !== null ? null : (difference.outcome ?? null),
    why: [
      'reason' in difference ? difference.reason : [],
      // The report says once that causes are unknown.
      'cause' in difference && difference.cause !== 'unknown' ? causeWords[difference.cause] : [],
    ].flat(),
    where: where.flat().map(escapeControl),
    remark: remarkOn(difference, said),
    toDo,
  };
};

const remarkOn = (difference: Difference, said: string | null): string | null => {
  const { error, retryAt } = difference;
  const reasons: string[] = [];
  if (difference.action === 'blocked') {
    const { message, conflicts = [] } = difference;
    reasons.push(message);
    if (conflicts.length > 0)
      reasons.push(`In the way: record${conflicts.length === 1 ? '' : 's'} ${conflicts.join(', ')}`);
  }
  if (error !== undefined && said?.includes(error.replace(/^held: /, '')) !== true) reasons.push(error);
  if (retryAt !== undefined && !reasons.some((text) => text.includes(retryAt)))
    reasons.push(`Next try at ${retryAt}`);
  // Messages have no full stop, since most of them are shown alone.
  const sentences = reasons.map((text) => (/[.!?]$/.test(text) ? text : `${text}.`));
  return sentences.length === 0 ? null : shownMessage(sentences.join(' '));
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
    /** The side that alone has such a record. */
    only: actual === null ? ('desired' as const) : desired === null ? ('actual' as const) : null,
    outcome: null as Outcome | null,
    /** Why it differs or is blocked, in a word or two. */
    why: [] as readonly string[],
    /** The position in the file, and the ids at the service. */
    where: [] as readonly string[],
    /** Why, in sentences. */
    remark: null as string | null,
    /** What a person can do; null: nothing, or nothing but what the remark says. */
    toDo: null as string | null,
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
export const recordText = (record: RecordData): string => changeText(null, record);

/** A change of a record in one line. */
export const changeText = (before: RecordData | null, after: RecordData): string => {
  // Both sides fit into what a line shows.
  const [from, to] = shortenPair((before ?? after).content, after.content, 600);
  const lineOf = ({ type, name, priority, ttl }: RecordData, content: string): string =>
    [name ?? '@', type, priority ?? [], content, ttl === null ? [] : `ttl ${ttl}`]
      .flat()
      .map((part) => escapeControl(String(part)))
      .join(' ');
  return before === null ? lineOf(after, to) : `${lineOf(before, from)} → ${lineOf(after, to)}`;
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
