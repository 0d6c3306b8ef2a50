import type { ActualRecord } from '../model/record.ts';
import type { DesiredState, Problem } from '../model/template.ts';
import type { ActualEntry } from '../plan/entry.ts';
import { switchOff, type Allow } from './allow.ts';
import { entryLines, escaped, scalarText, shownRecord, statableTtl } from './entry.ts';
import { sortOut } from './sort-out.ts';

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
  const allow: Allow<ActualEntry> = new Map();
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

interface Layout {
  readonly text: string;
  readonly entryAt: (place: Pick<Problem, 'line'>) => ActualEntry | undefined;
}

const layOut = (
  { name, id, subdomains, remarksTitle, header }: FileContents,
  desired: readonly ActualEntry[],
  remarks: readonly string[],
  allow: Allow<ActualEntry>,
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
    for (const text of entryLines(entry.record, ttl, allow.get(entry))) lines.push({ text, entry });
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
