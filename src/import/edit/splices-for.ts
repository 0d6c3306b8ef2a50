import { isAlias, visit, type Alias, type ParsedNode, type YAMLMap, type YAMLSeq } from 'yaml';
import type { AllowableCheck } from '../../desired/check-id.ts';
import { entryInBraces, entryLines } from '../entry.ts';
import { lineAfter } from '../existing-entries.ts';
import {
  assign,
  define,
  inOneLine,
  isSharedNode,
  keepAliases,
  replaceNode,
  type Definition,
} from './assignment.ts';
import type { Insertion, FileEdit } from './operations.ts';
import { addField, columnOf, endOfItem, insertLines, markerOf, removeFields, removeItems } from './parts.ts';
import type { Splice } from './splices.ts';
import {
  asList,
  isParsedAlias,
  pairOfKey,
  recordsIn,
  resolved,
  valueOfKey,
  type EntryNode,
  type EditableDocument,
  type YamlFile,
} from './yaml-file.ts';

/** The entry, by its mapping, or the new record that a splice is for. */
export type Mark = YAMLMap.Parsed | Insertion;

export interface AllowedChecks {
  /** Null for a new record. */
  readonly entry: EntryNode | null;
  readonly checks: readonly AllowableCheck[];
}

export interface Edit {
  readonly operations: readonly FileEdit[];
  /** Values that are written there instead of into the entry. */
  readonly shared: ReadonlyMap<FileEdit, Definition>;
  /** Checks that are switched off, in order. */
  readonly allow: ReadonlyMap<Mark, AllowedChecks>;
  /** What entries without a TTL get. */
  readonly templateTtl: number | null;
}

export type FileSplices = ReadonlyMap<YamlFile, readonly Splice<Mark>[]>;

export const splicesFor = (edit: Edit): FileSplices => {
  const found = new Map<YamlFile, Splice<Mark>[]>();
  const add = ({ file }: EditableDocument, splices: readonly Splice<Mark>[]): void =>
    void found.set(file, [...(found.get(file) ?? []), ...splices]);
  const own = edit.operations.filter((one) => !edit.shared.has(one));
  const unused = replacedAliases(own);
  const defined = new Set<ParsedNode>();
  for (const [operation, definition] of edit.shared) {
    if (operation.kind !== 'assign' || defined.has(definition.node)) continue;
    defined.add(definition.node);
    add(definition.in, [define(definition, operation.value)]);
  }
  for (const [entry, operations] of groupBy(own, (one) => (isOfList(one) ? null : one.entry)))
    add(entry.in, marked(entrySplices(entry, operations, unused), entry.map));
  for (const { entry, checks } of edit.allow.values())
    if (entry) add(entry.in, marked(allowSplices(entry, checks), entry.map));
  for (const [place, operations] of groupBy(own, (one) => (isOfList(one) ? placeOf(one) : null)))
    add(place, listSplices(place, operations.filter(isOfList), edit, unused));
  return found;
};

type ListOperation = Extract<FileEdit, { kind: 'drop-entry' | 'insert' }>;

const isOfList = (one: FileEdit): one is ListOperation => one.kind === 'drop-entry' || one.kind === 'insert';

const placeOf = (one: ListOperation): EditableDocument => (one.kind === 'insert' ? one.place : one.entry.in);

const marked = (splices: readonly Splice[], mark: Mark): Splice<Mark>[] =>
  splices.map((one) => ({ ...one, mark }));

const groupBy = <Key>(
  operations: readonly FileEdit[],
  keyOf: (one: FileEdit) => Key | null,
): ReadonlyMap<Key, FileEdit[]> => {
  const groups = new Map<Key, FileEdit[]>();
  for (const one of operations) {
    const key = keyOf(one);
    if (key !== null) groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return groups;
};

/** Aliases that go away. */
const replacedAliases = (operations: readonly FileEdit[]): ReadonlySet<Alias.Parsed> => {
  const found = new Set<Alias.Parsed>();
  const collect = (node: ParsedNode | null | undefined): void => {
    if (isAlias(node)) found.add(node);
    else if (node) visit(node, { Alias: (_, alias) => void (isParsedAlias(alias) && found.add(alias)) });
  };
  for (const one of operations) {
    if (one.kind === 'drop-entry') collect(one.entry.map);
    if (one.kind === 'drop-field') collect(valueOfKey(one.entry.map, one.key));
    if (one.kind !== 'assign' && one.kind !== 'drop-element') continue;
    const field = valueOfKey(one.entry.map, one.kind === 'assign' ? one.key : 'content');
    collect(one.element === undefined || isAlias(field) ? field : asList(field)?.items[one.element]);
  }
  return found;
};

const entrySplices = (
  entry: EntryNode,
  operations: readonly FileEdit[],
  unused: ReadonlySet<Alias.Parsed>,
): Splice[] => {
  const { map, in: place } = entry;
  const dropped = new Set(operations.flatMap((one) => (one.kind === 'drop-field' ? one.key : [])));
  const ofContent = operations.filter(
    (one) => one.kind === 'drop-element' || (one.kind === 'assign' && one.element !== undefined),
  );
  const ofFields = operations.flatMap((one) =>
    one.kind === 'assign' && one.element === undefined ? assign(one, unused) : [],
  );
  return [
    ...[...dropped].flatMap((key) => keepAliasesOf(valueOfKey(map, key), place, unused)),
    ...removeFields(map, dropped, place.file),
    ...(ofContent.length === 0 ? [] : contentSplices(entry, ofContent, unused)),
    ...ofFields,
  ];
};

/** A list that other entries use too becomes one of this entry's own. */
const contentSplices = (
  { map, in: place }: EntryNode,
  operations: readonly FileEdit[],
  unused: ReadonlySet<Alias.Parsed>,
): Splice[] => {
  const field = valueOfKey(map, 'content')!;
  const list = asList(resolved(field, place))!;
  const removed = new Set(operations.flatMap((one) => (one.kind === 'drop-element' ? one.element : [])));
  if (!isSharedNode(field, place)) {
    return [
      ...operations.flatMap((one) => (one.kind === 'assign' ? assign(one, unused) : [])),
      ...[...removed].flatMap((index) => keepAliases(list.items[index]!, place, unused)),
      ...removeItems(list, removed, place.file),
    ];
  }
  const values = new Map(
    operations.flatMap((one) => (one.kind === 'assign' ? [[one.element, one.value] as const] : [])),
  );
  const items = list.items.flatMap((item, index) =>
    removed.has(index) ? [] : (values.get(index) ?? inOneLine(item, place.file.text)),
  );
  return [...keepAliases(field, place, unused), replaceNode(field, `[${items.join(', ')}]`, place, unused)];
};

const keepAliasesOf = (
  node: ParsedNode | null | undefined,
  ...rest: [EditableDocument, ReadonlySet<Alias.Parsed>]
): Splice[] => (node ? keepAliases(node, ...rest) : []);

const allowSplices = (entry: EntryNode, checks: readonly AllowableCheck[]): Splice[] => {
  const { map, in: place } = entry;
  const field = valueOfKey(map, 'allow');
  const known = asList(resolved(field, place))?.items.map(String) ?? [];
  const value = `[${[...new Set([...known, ...checks])].join(', ')}]`;
  if (!field) return [addField(map, 'allow', value, place.file)];
  return [...keepAliases(field, place, none), replaceNode(field, value, place, none)];
};

const none: ReadonlySet<Alias.Parsed> = new Set();

/** Entries that a list of records loses and gets. */
const listSplices = (
  place: EditableDocument,
  operations: readonly ListOperation[],
  edit: Edit,
  unused: ReadonlySet<Alias.Parsed>,
): Splice<Mark>[] => {
  const { file, root } = place;
  const list = recordsIn(root);
  const removed = new Set(operations.flatMap((one) => (one.kind === 'drop-entry' ? one.entry.index : [])));
  const insertions = operations.filter((one): one is Insertion => one.kind === 'insert');
  if (!list || list.items.length === 0) return newList(place, insertions, edit);
  const isEmptied = removed.size === list.items.length;
  const kept = [...removed].flatMap((index) => keepAliases(list.items[index]!, place, unused));
  const isBlock = list.flow !== true;
  return [
    ...kept,
    ...removeItems(list, removed, file),
    ...(isBlock && isEmptied && insertions.length === 0 ? [emptyList(place)] : []),
    ...insertions.flatMap((one, index) =>
      isBlock
        ? blockInsertion(one, list, edit)
        : inBrackets(one, list.items.at(-1)!.range[1], !isEmptied || index > 0, edit),
    ),
  ];
};

/** A block list without items is no list. */
const emptyList = ({ root, file: { text } }: EditableDocument): Splice => {
  const { key } = pairOfKey(root, 'records')!;
  const at = text.indexOf(':', key.range[1]) + 1;
  return { start: at, end: at, text: ' []' };
};

const blockInsertion = (one: Insertion, list: YAMLSeq.Parsed, edit: Edit): Splice<Mark>[] => {
  const { file } = one.place;
  const index = one.after?.index ?? list.items.length - 1;
  const indent = ' '.repeat(columnOf(markerOf(list, index), file.text));
  const lines = linesOf(one, indent, edit);
  return marked([insertLines(endOfItem(list, index, file.text), lines, file)], one);
};

const linesOf = (one: Insertion, indent: string, { allow, templateTtl }: Edit): string[] =>
  entryLines(one.record, templateTtl, allow.get(one)?.checks ?? []).map((line) => indent + line.slice(2));

const inBrackets = (
  one: Insertion,
  at: number,
  hasOthers: boolean,
  { allow, templateTtl }: Edit,
): Splice<Mark>[] => {
  const text = entryInBraces(one.record, templateTtl, allow.get(one)?.checks ?? []);
  return marked([{ start: at, end: at, text: hasOthers ? `, ${text}` : text }], one);
};

const newList = (place: EditableDocument, insertions: readonly Insertion[], edit: Edit): Splice<Mark>[] => {
  const { root, file } = place;
  const { text, eol } = file;
  const pair = pairOfKey(root, 'records');
  if (root.flow === true && pair?.value)
    return insertions.flatMap((one, index) => inBrackets(one, pair.value!.range[0] + 1, index > 0, edit));
  const last = root.items.at(-1)!;
  if (root.flow === true) {
    const entries = insertions.map((one) => entryInBraces(one.record, edit.templateTtl, allowOf(one, edit)));
    const end = last.value?.range[1] ?? last.key.range[1];
    return [{ start: end, end, text: `, records: [${entries.join(', ')}]` }];
  }
  const lines = insertions.map((one) => [one, linesOf(one, '  ', edit)] as const);
  const value = pair?.value;
  const heading: Splice<Mark>[] = value
    ? [{ start: value.range[0] - (text[value.range[0] - 1] === ' ' ? 1 : 0), end: value.range[1], text: '' }]
    : pair
      ? []
      : [
          insertLines(lineAfter(text, last.value?.range[1] ?? last.key.range[1]), ['records:'], {
            text,
            eol,
          }),
        ];
  const end = pair ?? last;
  const at = lineAfter(text, end.value?.range[1] ?? end.key.range[1]);
  return [...heading, ...lines.flatMap(([one, own]) => marked([insertLines(at, own, { text, eol })], one))];
};

const allowOf = (one: Insertion, { allow }: Edit): readonly AllowableCheck[] => allow.get(one)?.checks ?? [];
