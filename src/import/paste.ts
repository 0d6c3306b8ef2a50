import type { RecordData } from '../model/record.ts';
import type { DesiredTemplate } from '../model/template.ts';
import type { Difference } from '../plan/difference.ts';
import { changesFor, isAt, wantedBy, type FileChange } from './changes.ts';
import { entryLines } from './entry.ts';

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
    const wanted = wantedBy(change);
    return {
      at: differences.findIndex((one) => isFor(change, one)),
      place:
        change.kind === 'add'
          ? template.source.file
          : `${change.desired.source.file}:${change.desired.source.line}`,
      before: change.kind === 'add' ? null : change.desired,
      yaml: wanted && entryLines(wanted, null).join('\n'),
    };
  });

const isFor = (change: FileChange, difference: Difference): boolean => {
  if (difference.action === 'surplus' || difference.action === 'park')
    return change.kind === 'add' && change.actual === difference.current;
  return change.kind !== 'add' && isAt(difference)(change.desired);
};
