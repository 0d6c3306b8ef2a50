import type { RecordData } from '../../model/record.ts';
import type { DesiredTemplate } from '../../model/template.ts';
import type { Difference } from '../../plan/difference.ts';
import { entryOf } from '../../plan/entry.ts';
import { entryLines } from '../entry.ts';
import { changesFor, isAt, type FileChange, type SetRecord } from './changes.ts';

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
  changesFor(template, differences, []).changes.map((change) => {
    const at = differences.findIndex((one) => isFor(change, one));
    if (change.kind === 'add')
      return { at, place: template.source.file, before: null, yaml: yamlOf(change.actual) };
    const { source } = change.desired;
    const yaml = change.kind === 'remove' ? null : yamlOf(asSet(change));
    return { at, place: `${source.file}:${source.line}`, before: change.desired, yaml };
  });

const isFor = (change: FileChange, difference: Difference): boolean => {
  if (difference.action === 'surplus' || difference.action === 'park')
    return change.kind === 'add' && change.actual === difference.current;
  return change.kind !== 'add' && isAt(difference)(change.desired);
};

/** A TTL that the file does not state stays unstated. */
const asSet = ({ actual, desired, fields }: SetRecord): RecordData => ({
  ...actual,
  ttl: fields.includes('ttl') ? actual.ttl : desired.ttl,
});

const yamlOf = (record: RecordData): string => entryLines(entryOf({ id: 0, ...record }), null, []).join('\n');
