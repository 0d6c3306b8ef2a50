import type { RecordData } from '../model/record.ts';
import type { DesiredTemplate } from '../model/template.ts';
import type { Difference } from '../plan/difference.ts';
import { changesFor } from './changes.ts';
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
  changesFor(template, differences, []).changes.map(({ difference, desired, wanted }) => ({
    at: differences.indexOf(difference),
    place: desired ? `${desired.source.file}:${desired.source.line}` : template.source.file,
    before: desired,
    yaml: wanted && entryLines(wanted, null).join('\n'),
  }));
