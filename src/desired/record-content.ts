import { recordTypes, type RecordType } from '../model/record.ts';
import type { ContentParts } from '../model/types/definition.ts';
import { definitionOf } from '../model/types/table.ts';
import type { Position } from './diagnostic.ts';
import type { Fields, KeyOf } from './fields.ts';
import { recordSchema } from './schema.ts';
import { textIn, valueIn, type Reader } from './values.ts';
import type { YamlNode } from './yaml/tree.ts';

export type RecordFields = Fields<KeyOf<typeof recordSchema>>;

export interface Content {
  readonly text: string;
  readonly at: Position;
  /** Whether it is an element of a list, each of which is a record. */
  readonly isElement: boolean;
}

/**
 * The contents of the records of one entry, as the service has them; none if they are invalid, which has been
 * reported.
 */
export const contentsOf = (
  type: RecordType,
  fields: RecordFields,
  entry: Position,
  reader: Reader,
): readonly Content[] => {
  const { parts } = definitionOf(type);
  return parts === null
    ? plainContentsIn(type, fields, entry, reader)
    : contentsInParts(type, parts, fields, entry, reader);
};

const partKeys = ['weight', 'port', 'target'] as const;

const typesInParts = recordTypes.filter((type) => definitionOf(type).parts !== null).join(' and ');

const plainContentsIn = (
  type: RecordType,
  fields: RecordFields,
  entry: Position,
  reader: Reader,
): Content[] => {
  for (const part of partKeys) {
    const node = fields.get(part);
    if (node !== undefined)
      reader.report('srv-content', node, `\`${part}\` belongs to ${typesInParts} records, not to ${type}`);
  }
  return contentsIn(fields.get('content'), entry, reader);
};

const contentsInParts = (
  type: RecordType,
  parts: ContentParts,
  fields: RecordFields,
  entry: Position,
  reader: Reader,
): Content[] => {
  const present = partKeys.filter((part) => fields.has(part));
  if (present.length === 0) {
    return contentsIn(fields.get('content'), entry, reader).map(({ text, at, isElement }) => ({
      text: parts.joined(text),
      at,
      isElement,
    }));
  }
  if (fields.has('content')) {
    reader.report(
      'srv-content',
      fields.get('content')!,
      'write either `content`, or `weight`, `port` and `target`',
    );
    return [];
  }
  const weight = valueIn(fields.get('weight'), '`weight`', recordSchema.shape.weight, reader, 'srv-content');
  const port = valueIn(fields.get('port'), '`port`', recordSchema.shape.port, reader, 'srv-content');
  const target = textIn(fields.get('target'), '`target`', reader);
  const absent = partKeys.filter((part) => !fields.has(part));
  if (absent.length > 0) {
    const which = absent.map((part) => `\`${part}\``).join(' and ');
    reader.report(
      'srv-content',
      entry,
      `an ${type} record needs \`weight\`, \`port\` and \`target\`; ${which} ${absent.length === 1 ? 'is' : 'are'} missing`,
    );
  }
  if (weight == null || port == null || target === null) return [];
  return [{ text: `${weight} ${port} ${target}`, at: fields.get('target')!, isElement: false }];
};

const contentsIn = (node: YamlNode | undefined, entry: Position, reader: Reader): Content[] => {
  if (node === undefined) {
    reader.report('empty-content', entry, 'the record has no `content`');
    return [];
  }
  if (node.kind !== 'list') return contentIn(node, false, reader);
  if (node.items.length === 0) reader.report('empty-content', node, 'the list in `content` is empty');
  return node.items.flatMap((item) => contentIn(item, true, reader));
};

const contentIn = (node: YamlNode, isElement: boolean, reader: Reader): Content[] => {
  if (node.kind === 'scalar' && node.value === null) {
    reader.report('empty-content', node, '`content` is empty');
    return [];
  }
  const text = textIn(node, '`content`', reader);
  return text === null ? [] : [{ text, at: node, isElement }];
};
