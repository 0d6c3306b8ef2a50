import { allowableChecks, type AllowableCheck } from '../desired/check-id.ts';
import { hasPriority, isRecordType, type ActualRecord } from '../model/record.ts';
import type { DesiredState, Problem } from '../model/template.ts';
import { maxUnsigned16 } from '../model/types/srv.ts';
import { byId, compareText, entryOf, recordKey, type ActualEntry } from '../plan/entry.ts';
import { isParkedName } from '../plan/parked.ts';
import { entryInBraces, escaped, scalarText, shownRecord, statableTtl } from './entry.ts';

/** What a file is to say of a template. */
export interface FileContents {
  readonly name: string;
  /** Null if the name is unique. */
  readonly id: number | null;
  readonly subdomains: readonly string[];
  readonly records: readonly ActualRecord[];
  /** What else the file cannot say. */
  readonly remarks: readonly string[];
  /** Of its comment about that. */
  readonly remarksTitle: string;
  /** Lines before the template. */
  readonly header: string;
}

export interface WrittenFile {
  readonly text: string;
  readonly desired: number;
  readonly remarks: number;
}

/**
 * The file that describes a template as it is, the same for any order of its records. Checks that object are switched off
 * record by record, so that the file is valid; what a file cannot describe becomes a comment. `load`: what a text says as
 * a template file.
 */
export const writeTemplate = async (
  contents: FileContents,
  load: (text: string) => Promise<DesiredState>,
): Promise<WrittenFile | { readonly refusal: string }> => {
  const sorted = sortOut(contents.records);
  const remarks = [...contents.remarks, ...sorted.remarks];
  const desired = new Set(sorted.desired);
  const allow: Allow = new Map();
  for (;;) {
    const { text, entryAt } = layOut(contents, [...desired], remarks, allow);
    const { problems } = await load(text);
    if (switchOff(problems, entryAt, allow)) continue;
    const errors = problems.filter(({ severity }) => severity === 'error');
    const undescribable = new Map(errors.map((one) => [entryAt(one), one.message]));
    const before = desired.size;
    for (const [entry, message] of undescribable) {
      if (!entry || !desired.delete(entry)) continue;
      const { record } = entry;
      remarks.push(`record ${record.id} cannot be in a file (${message}): ${shownRecord(record)}`);
    }
    if (desired.size < before) continue;
    const [stubborn] = errors;
    if (stubborn) return { refusal: `${stubborn.message} [${stubborn.check}]` };
    return { text, desired: desired.size, remarks: remarks.length };
  }
};

/** The checks that are switched off for each entry. */
type Allow = Map<ActualEntry, readonly AllowableCheck[]>;

/**
 * Switches off what objects to entries: for each its first problem, which may be the reason for its others. False if
 * nothing was left to switch off.
 */
const switchOff = (problems: readonly Problem[], entryAt: Layout['entryAt'], allow: Allow): boolean => {
  const settled = new Set<ActualEntry>();
  for (const problem of problems) {
    const entry = entryAt(problem);
    if (entry === undefined || settled.has(entry)) continue;
    const known = allow.get(entry) ?? [];
    const allowed = allowableChecks.filter((one) => one === problem.check || known.includes(one));
    if (allowed.length === known.length) continue;
    allow.set(entry, allowed);
    settled.add(entry);
  }
  return settled.size > 0;
};

interface Layout {
  readonly text: string;
  readonly entryAt: (place: Pick<Problem, 'line'>) => ActualEntry | undefined;
}

const layOut = (
  { name, id, subdomains, remarksTitle, header }: FileContents,
  desired: readonly ActualEntry[],
  remarks: readonly string[],
  allow: Allow,
): Layout => {
  const ttl = commonTtl(desired);
  const lines: { text: string; entry?: ActualEntry }[] = [
    ...header.split('\n').slice(0, -1),
    `template: ${scalarText(escaped(name))}`,
    ...(id === null ? [] : [`id: ${id}`]),
    ...(ttl === null ? [] : [`ttl: ${ttl}`]),
    ...(subdomains.length === 0 ? [] : [`subdomains: [${subdomains.map(scalarText).join(', ')}]`]),
    '# The service cannot delete a record: one whose entry is removed here is renamed to _parked-ID instead.',
    'surplus: park',
    desired.length === 0 ? 'records: []' : 'records:',
  ].map((text) => ({ text }));
  for (const entry of desired)
    lines.push({ text: `  - ${entryInBraces(entry.record, ttl, allow.get(entry))}`, entry });
  if (remarks.length > 0)
    for (const text of ['', `# ${remarksTitle}`, ...remarks.map((remark) => `# - ${remark}`)])
      lines.push({ text });
  return {
    text: lines.map(({ text }) => `${text}\n`).join(''),
    entryAt: ({ line }) => (line === null ? undefined : lines[line - 1]?.entry),
  };
};

/**
 * The most common TTL, which the template can state once; the lowest of several. Null if a record has no TTL that a file
 * can state, since it would get this one, or if a check would object to it.
 */
const commonTtl = (desired: readonly ActualEntry[]): number | null => {
  const counts = new Map<number, number>();
  for (const { record } of desired) {
    const ttl = statableTtl(record);
    if (ttl === null) return null;
    counts.set(ttl, (counts.get(ttl) ?? 0) + 1);
  }
  const [first] = [...counts].sort(([a, times], [b, others]) => others - times || a - b);
  return first === undefined || first[0] < shortestTtl || first[0] > longestTtl ? null : first[0];
};

/** Seconds; a check objects to others. */
const [shortestTtl, longestTtl] = [60, 604_800];

export interface SortedOut {
  /** The records that a file can describe, in the order in which they are written. */
  readonly desired: readonly ActualEntry[];
  /** What a file cannot describe, in words, by record id. */
  readonly remarks: readonly string[];
}

/** Gives the same for any order of the records. */
export const sortOut = (records: readonly ActualRecord[]): SortedOut => {
  const desired = new Map<string, ActualEntry>();
  const remarks: string[] = [];
  for (const actual of records.map(entryOf).sort(byId)) {
    const remark = whyNotDesired(actual, desired.get(recordKey(actual)));
    if (remark === null) desired.set(recordKey(actual), actual);
    remarks.push(...(remark ?? ttlRemark(actual.record)));
  }
  return { desired: [...desired.values()].sort(byPlace), remarks };
};

const whyNotDesired = (
  { record, type, name }: ActualEntry,
  twin: ActualEntry | undefined,
): string[] | null => {
  const { id, priority } = record;
  const because = (reason: string): string[] => [`record ${id} ${reason}: ${shownRecord(record)}`];
  if (record.isUnreadable) return because('cannot be understood');
  if (!isRecordType(type)) return because('has a type that a file cannot describe');
  if (isParkedName(name)) return because('is parked');
  if (hasPriority(type) && priority !== null && (priority < 0 || priority > maxUnsigned16)) {
    return because('has a priority that a file cannot state');
  }
  return twin === undefined ? null : because(`is a copy of record ${twin.record.id}`);
};

const ttlRemark = (record: ActualRecord): string[] =>
  record.ttl === null || statableTtl(record) !== null
    ? []
    : [
        `record ${record.id} has a TTL that a file cannot state, and is listed without one: ${shownRecord(record)}`,
      ];

/** By type, then by name: the subdomain itself first, and names below a name after it. */
const byPlace = (a: ActualEntry, b: ActualEntry): number =>
  compareText(a.type, b.type) ||
  compareText(sortKey(a.name), sortKey(b.name)) ||
  (a.priority ?? -1) - (b.priority ?? -1) ||
  compareText(a.content, b.content);

/** Numbers, as in reverse zones, come first and sort by value. */
const sortKey = (name: string): string =>
  name
    .split('.')
    .toReversed()
    .map((label) => (/^\d+$/.test(label) ? label.padStart(10, '0') : label))
    .join('\0');
