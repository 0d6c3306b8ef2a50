import { hasPriority, type DesiredRecord, type RecordData } from '../../model/record.ts';
import { definitionOf as typeDefinitionOf } from '../../model/types/table.ts';
import { entryOf, setKey, type ActualEntry } from '../../plan/entry.ts';
import { statableTtl, valueOf } from '../entry.ts';
import type { Assignment } from './assignment.ts';
import type { AddRecord, FileChange, SetRecord } from './changes.ts';
import type { FileEntry } from './entries.ts';
import { valueOfKey, type EntryNode, type EditableDocument } from './yaml-file.ts';

/** How a file is changed for one record. */
export type FileEdit =
  | ({ readonly kind: 'assign' } & Assignment)
  | { readonly kind: 'drop-field'; readonly entry: EntryNode; readonly key: string }
  | { readonly kind: 'drop-element'; readonly entry: EntryNode; readonly element: number }
  | { readonly kind: 'drop-entry'; readonly entry: EntryNode }
  | Insertion;

/** A new entry, after another one; null: at the end of the list, or in a new one. */
export interface Insertion {
  readonly kind: 'insert';
  readonly record: ActualEntry;
  readonly place: EditableDocument;
  readonly after: EntryNode | null;
}

/** What an entry becomes, if any of its records changes; or why that cannot be written. */
export const operationsFor = (
  entry: FileEntry,
  changes: ReadonlyMap<DesiredRecord, FileChange>,
  templateTtl: boolean,
): readonly FileEdit[] | { readonly refusal: string } => {
  const { records, node, isList } = entry;
  const own = records.map((record) => changes.get(record));
  if (own.every((change) => change === undefined)) return [];
  const { file, line } = records[0]!.source;
  if (node === null)
    return { refusal: `${file}:${line}: the entry is an alias of another one: change it by hand` };
  if (own.every((change) => change?.kind === 'remove')) return [{ kind: 'drop-entry', entry: node }];
  const context: EntryContext = { node, templateTtl };
  const [only] = own;
  if (!isList) return only?.kind === 'set' ? settingsFor(only, context) : [];
  const common = commonFields(own);
  const operations: FileEdit[] = [];
  const first = own.find((change) => change?.kind === 'set');
  if (first) operations.push(...settingsFor({ ...first, fields: common }, context));
  for (const [element, change] of own.entries()) {
    if (change === undefined || change.kind === 'add') continue;
    const stays =
      change.kind === 'set' && change.fields.every((field) => field === 'content' || common.includes(field));
    if (!stays) operations.push({ kind: 'drop-element', entry: node, element });
    else if (change.fields.includes('content'))
      operations.push({
        kind: 'assign',
        entry: node,
        key: 'content',
        element,
        value: valueOf(change.actual.content),
      });
    if (change.kind === 'set' && !stays) operations.push(insertionOf(asStated(change), node.in, node));
  }
  const dropped = operations.filter(({ kind }) => kind === 'drop-element').length;
  if (dropped < records.length) return operations;
  return [{ kind: 'drop-entry', entry: node }, ...operations.filter(({ kind }) => kind === 'insert')];
};

/** Where a record that is new to the template is written: after the last of its set, else of its type. */
export const insertionFor = (
  { actual }: AddRecord,
  entries: readonly FileEntry[],
  place: EditableDocument,
): Insertion => {
  const record = entryOf({ id: 0, ...actual });
  const isOfSet = (one: DesiredRecord): boolean => setKey(entryOf(one)) === setKey(record);
  const isOfType = (one: DesiredRecord): boolean => one.type === record.type;
  const beside =
    entries.findLast(({ records }) => records.some(isOfSet)) ??
    entries.findLast(({ records }) => records.some(isOfType));
  return insertionOf(record, place, beside?.node ?? null);
};

const insertionOf = (record: ActualEntry, place: EditableDocument, after: EntryNode | null): Insertion => ({
  kind: 'insert',
  record,
  place,
  after,
});

interface EntryContext {
  readonly node: EntryNode;
  /** Whether the template states a TTL for entries without one. */
  readonly templateTtl: boolean;
}

/** The fields, besides the content, that all records of an entry change to the same value. */
const commonFields = (own: readonly (FileChange | undefined)[]): SetRecord['fields'] => {
  const [first, ...others] = own;
  if (first?.kind !== 'set') return [];
  return first.fields.filter(
    (field) =>
      field !== 'content' &&
      others.every(
        (one) =>
          one?.kind === 'set' && one.fields.includes(field) && one.actual[field] === first.actual[field],
      ),
  );
};

const settingsFor = ({ desired, actual, fields }: SetRecord, context: EntryContext): FileEdit[] => {
  const { node: entry } = context;
  const assign = (key: string, value: string): FileEdit => ({ kind: 'assign', entry, key, value });
  const drop = (key: string): FileEdit => ({ kind: 'drop-field', entry, key });
  return fields.flatMap((field): FileEdit[] => {
    if (field === 'name') return [assign('name', valueOf(actual.name || '@'))];
    if (field === 'content') return contentSettings(desired, actual, { assign, drop, entry });
    if (field === 'priority')
      return [actual.priority === null ? drop('priority') : assign('priority', String(actual.priority))];
    const ttl = statableTtl(actual);
    if (ttl !== null) return [assign('ttl', String(ttl))];
    const isOpenWithout = actual.ttl === null && !context.templateTtl;
    return isOpenWithout ? [drop('ttl')] : [];
  });
};

interface FieldOperations {
  readonly entry: EntryNode;
  readonly assign: (key: string, value: string) => FileEdit;
  readonly drop: (key: string) => FileEdit;
}

const contentSettings = (
  { type, content }: DesiredRecord,
  actual: RecordData,
  { entry, assign, drop }: FieldOperations,
): FileEdit[] => {
  if (valueOfKey(entry.map, 'content') !== undefined) return [assign('content', valueOf(actual.content))];
  const { parts } = typeDefinitionOf(type);
  const [before, after] = [parts?.of(content), parts?.of(actual.content)];
  if (!after) return [...partKeys.map(drop), assign('content', valueOf(actual.content))];
  return partKeys.flatMap((key) =>
    before?.[key] === after[key]
      ? []
      : [assign(key, key === 'target' ? valueOf(after.target) : String(after[key]))],
  );
};

const partKeys = ['weight', 'port', 'target'] as const;

/** A record whose TTL does not change keeps what the file says. */
const asStated = ({ desired, actual, fields }: SetRecord): ActualEntry => {
  const ttl = fields.includes('ttl') ? actual.ttl : desired.ttl;
  const priority = hasPriority(desired.type) ? actual.priority : null;
  return entryOf({ id: 0, ...actual, priority, ttl });
};
