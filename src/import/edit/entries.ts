import type { DesiredRecord } from '../../model/record.ts';
import {
  asList,
  offsetOf,
  recordsIn,
  resolved,
  valueOfKey,
  asMap,
  type EntryNode,
  type EditableDocument,
} from './yaml-file.ts';

/** An entry of a file with the records that it describes. */
export interface FileEntry {
  /** Null if it is an alias of another value. */
  readonly node: EntryNode | null;
  readonly records: readonly DesiredRecord[];
  /** Whether each record is an element of the list in `content`. */
  readonly isList: boolean;
}

/** The entries of a document, whose records are in its order. */
export const entriesOf = (place: EditableDocument, records: readonly DesiredRecord[]): FileEntry[] => {
  const { file, root } = place;
  const list = recordsIn(root);
  let next = 0;
  return (list?.items ?? []).map((item, index) => {
    const own: DesiredRecord[] = [];
    for (; next < records.length && offsetOf(file, records[next]!.source) < item.range[2]; next += 1)
      own.push(records[next]!);
    const map = asMap(item);
    const content = map && resolved(valueOfKey(map, 'content'), place);
    return {
      node: map ? { in: place, list: list!, index, map } : null,
      records: own,
      isList: asList(content) !== undefined,
    };
  });
};
