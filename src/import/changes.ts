import { dataOf, hasPriority, type DesiredRecord, type RecordData } from '../model/record.ts';
import type { DesiredTemplate } from '../model/template.ts';
import type { Difference } from '../plan/difference.ts';
import { entryOf, pairOf, recordKey } from '../plan/entry.ts';
import { matchesPattern, type RecordPattern } from '../plan/record-pattern.ts';
import { entryInBraces, shownRecord, statableTtl } from './entry.ts';

/** What a file has to say instead, so that it says what the service has. */
export interface FileChange {
  /** The difference that it ends. */
  readonly difference: Difference;
  /** What the file says now; null: nothing. */
  readonly desired: DesiredRecord | null;
  /** What it has to say; null: nothing. */
  readonly wanted: RecordData | null;
}

export interface Changes {
  readonly changes: readonly FileChange[];
  /** What the service has and a file cannot say, in words. */
  readonly unsaid: readonly string[];
  /** Why some differences cannot be accepted now. */
  readonly refusals: readonly string[];
}

/** The changes for the differences that the patterns are about, or for all of them. */
export const changesFor = (
  { records }: DesiredTemplate,
  differences: readonly Difference[],
  patterns: readonly RecordPattern[],
): Changes => {
  const chosen = differences.filter((one) => sidesOf(one).some((side) => isChosen(patterns, side)));
  const unsaid: string[] = [];
  const refusals: string[] = [];
  const found = chosen.flatMap((difference): FileChange[] => {
    const actual = difference.action === 'add' ? undefined : difference.current;
    if (actual && actual.ttl !== null && statableTtl(actual) === null)
      unsaid.push(`a TTL of ${actual.ttl}: ${shownRecord(actual)}`);
    if (!('source' in difference)) {
      const { current } = difference;
      return [{ difference, desired: null, wanted: { ...current, ttl: statableTtl(current) } }];
    }
    const desired = records.find(isAt(difference));
    if (desired) return [{ difference, desired, wanted: actual ? changedTo(desired, actual) : null }];
    const { file, line } = difference.source;
    refusals.push(`${file}:${line}: the file changed while it was compared: try again`);
    return [];
  });
  return { changes: withoutCopies(found, records, unsaid), unsaid, refusals };
};

export const isChosen = (patterns: readonly RecordPattern[], record: RecordData): boolean =>
  patterns.length === 0 || matchesPattern(patterns, record);

const sidesOf = (one: Difference): RecordData[] => [
  ...('source' in one ? [one.desired] : []),
  ...(one.action === 'add' || one.current === undefined ? [] : [one.current]),
];

/** Whether a record of a file is the one that differs. */
const isAt = ({ source, desired }: Extract<Difference, { source: unknown }>) => {
  const key = recordKey(entryOf(desired));
  return (record: DesiredRecord): boolean =>
    record.source.line === source.line &&
    record.source.column === source.column &&
    record.source.file === source.file &&
    recordKey(entryOf(record)) === key;
};

/** What does not differ stays as the file says it; so does a TTL if the file cannot say the other one. */
const changedTo = (desired: DesiredRecord, actual: RecordData): RecordData => {
  const { fields } = pairOf(entryOf(desired), entryOf({ id: 0, ...actual }));
  const ttl = actual.ttl === null ? null : (statableTtl(actual) ?? desired.ttl);
  const changed = fields.map((field) => [field, field === 'ttl' ? ttl : actual[field]]);
  return { ...dataOf(desired), ...Object.fromEntries(changed) };
};

/** A file names each record once. */
const withoutCopies = (
  changes: readonly FileChange[],
  records: readonly DesiredRecord[],
  unsaid: string[],
): FileChange[] => {
  const changed = new Set(changes.map(({ desired }) => desired));
  const keys = new Set(records.flatMap((record) => (changed.has(record) ? [] : recordKey(entryOf(record)))));
  return changes.flatMap((change): FileChange[] => {
    const { desired, wanted } = change;
    if (wanted === null) return [change];
    const priority = hasPriority(wanted.type.toUpperCase()) ? wanted.priority : null;
    const key = recordKey(entryOf({ ...wanted, priority }));
    if (!keys.has(key)) {
      keys.add(key);
      return [change];
    }
    unsaid.push(`a second copy of one record: ${shownRecord(wanted)}`);
    return desired === null ? [] : [{ ...change, wanted: null }];
  });
};

/** What a person changes by hand in a file, so that it says what the service has of one record. */
export interface Paste {
  /** The place of its difference among those given, from 0. */
  readonly at: number;
  /** `FILE:LINE` of what the file says now; the template's file for a new entry. */
  readonly place: string;
  /** What the file says now; null: nothing. */
  readonly before: RecordData | null;
  /** The entry, indented as those of `records`; null if there is to be none. */
  readonly yaml: string | null;
}

/** Variables, and TTLs that come from the template, are written out. */
export const pastesFor = (template: DesiredTemplate, differences: readonly Difference[]): Paste[] =>
  changesFor(template, differences, []).changes.map(({ difference, desired, wanted }) => ({
    at: differences.indexOf(difference),
    place: desired ? `${desired.source.file}:${desired.source.line}` : template.source.file,
    before: desired,
    yaml: wanted && `  - ${entryInBraces(wanted, null)}`,
  }));
