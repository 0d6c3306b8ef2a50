import { allowableChecks, type AllowableCheck } from '../desired/check-id.ts';
import { unusualTtl } from '../desired/record-checks.ts';
import { UserError } from '../errors.ts';
import { groupBy } from '../model/group.ts';
import { hasPriority, isRecordType, type ActualRecord } from '../model/record.ts';
import type { DesiredState } from '../model/template.ts';
import { maxUnsigned16 } from '../model/types/srv.ts';
import { byId, compareText, entryOf, recordKey, type ActualEntry } from '../plan/entry.ts';
import { isParkedName } from '../plan/parked.ts';
import { entryInBraces, escaped, scalarText, shownRecord, statableTtl } from './entry.ts';

/** What a file is to say of a template. */
export interface FileContents extends Judgement {
  readonly name: string;
  /** Null if the name is unique. */
  readonly id: number | null;
  readonly subdomains?: readonly string[];
  readonly records: readonly ActualRecord[];
  /** Lines before the template. */
  readonly header: string;
}

interface Judgement {
  /** What the ids of the records count. */
  readonly noun?: 'record' | 'line';
  /** Why else a record that a file can describe is not to be in it. */
  readonly whyNot?: (entry: ActualEntry) => string | null;
}

export interface WrittenFile {
  readonly text: string;
  readonly desired: number;
  readonly remarks: readonly string[];
}

/**
 * The file that describes a template as it is, the same for any order of its records. Checks that object are switched off
 * record by record, so that the file is valid; what a file cannot describe becomes a comment. `load`: what a text says as
 * a template file. Throws a `UserError` if there can be no such file.
 */
export const writeTemplate = async (
  { name, id, subdomains = [], records, header, ...judgement }: FileContents,
  load: (text: string) => Promise<DesiredState>,
): Promise<WrittenFile> => {
  const { desired, remarks } = sortOut(records, judgement);
  const ttl = commonTtl(desired);
  const head = [
    ...header.split('\n').slice(0, -1),
    `template: ${scalarText(escaped(name))}`,
    ...(id === null ? [] : [`id: ${id}`]),
    ...(ttl === null ? [] : [`ttl: ${ttl}`]),
    ...(subdomains.length === 0 ? [] : [`subdomains: [${subdomains.map(scalarText).join(', ')}]`]),
    '# The service cannot delete a record: one whose entry is removed here is renamed to _parked-ID instead.',
    'surplus: park',
    desired.length === 0 ? 'records: []' : 'records:',
  ];
  const comment = ['', '# What this file cannot say:', ...remarks.map((remark) => `# - ${remark}`)];
  const allowed = new Map<ActualEntry, readonly AllowableCheck[]>();
  for (;;) {
    const entries = desired.map((entry) => `  - ${entryInBraces(entry.record, ttl, allowed.get(entry))}`);
    const text = [...head, ...entries, ...(remarks.length === 0 ? [] : comment), ''].join('\n');
    const { problems } = await load(text);
    // For each entry its first problem, which may be the reason for its others.
    const settled = new Set<ActualEntry>();
    for (const { check, line } of problems) {
      const entry = desired[(line ?? 0) - head.length - 1];
      if (entry === undefined || settled.has(entry)) continue;
      const known = allowed.get(entry) ?? [];
      const allow = allowableChecks.filter((one) => one === check || known.includes(one));
      if (allow.length === known.length) continue;
      allowed.set(entry, allow);
      settled.add(entry);
    }
    if (settled.size > 0) continue;
    const error = problems.find(({ severity }) => severity === 'error');
    if (!error) return { text, desired: desired.length, remarks };
    throw new UserError(`it cannot be described by a file: ${error.message} [${error.check}]`);
  }
};

/**
 * The most common TTL, which the template can state once; the lowest of several. Null if a record has no TTL that a file
 * can state, since it would get this one, or if a check would object to it.
 */
const commonTtl = (desired: readonly ActualEntry[]): number | null => {
  const ttls = desired.map(({ record }) => statableTtl(record) ?? Number.NaN);
  const [most] = [...groupBy(ttls, (ttl) => ttl)].sort(
    ([a, some], [b, others]) => others.length - some.length || a - b,
  );
  return most === undefined || ttls.includes(Number.NaN) || unusualTtl(most[0]) !== null ? null : most[0];
};

/**
 * The records that a file can describe, in the order in which they are written, and in words, by id, what it cannot. The same
 * for any order of the records.
 */
export const sortOut = (
  records: readonly ActualRecord[],
  { noun = 'record', whyNot = () => null }: Judgement = {},
): { readonly desired: readonly ActualEntry[]; readonly remarks: readonly string[] } => {
  const desired = new Map<string, ActualEntry>();
  const remarks: string[] = [];
  for (const entry of records.map(entryOf).sort(byId)) {
    const { record } = entry;
    const key = recordKey(entry);
    const twin = desired.get(key);
    const copied = twin ? `is a copy of ${noun} ${twin.record.id}` : null;
    const why = whyUnstatable(entry) ?? whyNot(entry) ?? copied;
    if (why === null) desired.set(key, entry);
    const isWithoutTtl = record.ttl !== statableTtl(record);
    const remark =
      why ?? (isWithoutTtl ? 'has a TTL that a file cannot state, and is listed without one' : null);
    if (remark !== null) remarks.push(`${noun} ${record.id} ${remark}: ${shownRecord(record)}`);
  }
  return { desired: [...desired.values()].sort(byPlace), remarks };
};

const whyUnstatable = ({ record, type, name }: ActualEntry): string | null => {
  const { priority } = record;
  if (record.isUnreadable) return 'cannot be understood';
  if (!isRecordType(type)) return 'has a type that a file cannot describe';
  if (isParkedName(name)) return 'is parked';
  return hasPriority(type) && priority !== null && (priority < 0 || priority > maxUnsigned16)
    ? 'has a priority that a file cannot state'
    : null;
};

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
