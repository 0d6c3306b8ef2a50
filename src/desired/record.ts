import { canonicalRecord, type CanonicalRecord } from '../model/canonical.ts';
import { recordTypes, type DesiredRecord, type Place, type RecordType } from '../model/record.ts';
import type { IgnoreRule } from '../model/template.ts';
import { definitionOf } from '../model/types/table.ts';
import type { CheckId } from './check-id.ts';
import { fieldsIn, type Fields, type Spot } from './fields.ts';
import type { Part } from './part.ts';
import { quote } from './problem.ts';
import { ignoreSchema, recordSchema } from './schema.ts';
import type { YamlNode } from './yaml.ts';

/** A desired record, with what the checks need to know about it. */
export interface ResolvedRecord {
  readonly desired: DesiredRecord;
  readonly canonical: CanonicalRecord;
  /**
   * Offsets of its entry and of values there, if they are there. `record` is the element of a list of contents that makes it
   * a record of its own, or the entry.
   */
  readonly at: Readonly<Record<'entry' | 'record' | 'content', number>> &
    Readonly<Record<'name' | 'priority' | 'ttl', number | undefined>>;
  readonly allow: ReadonlySet<CheckId>;
  readonly part: Part;
}

/** The records of one entry: several if its content is a list, none if it is invalid. */
export const recordsOf = (node: YamlNode, part: Part, templateTtl: number | null): ResolvedRecord[] => {
  const fields = fieldsIn(node, 'a record', recordSchema, part);
  if (fields === null) return [];
  const { at: entry, node: nodeOf, value, list } = fields;
  const allow = nodeOf('allow') ? new Set(list('allow').map((check) => check.value)) : noChecks;
  const ttl = value('ttl') ?? templateTtl;
  const priority = value('priority');
  const name = nameIn(fields, part);
  const type = value('type');
  if (nodeOf('type') === undefined)
    part.report('unknown-type', entry, `the record has no \`type\`; there are: ${recordTypes.join(', ')}`);
  if (type === null) return [];
  const isList = nodeOf('content')?.kind === 'list';
  return contentsOf(type, fields, part).map(({ value: content, at: place }) => {
    const record = isList ? place : entry;
    const source = { file: part.file, ...part.parsed.placeOf(record) };
    const desired: DesiredRecord = { type, name, content, priority, ttl, source };
    const at = {
      entry,
      record,
      content: place,
      name: nodeOf('name')?.at,
      priority: nodeOf('priority')?.at,
      ttl: nodeOf('ttl')?.at,
    };
    return { desired, canonical: canonicalRecord(desired), at, allow, part };
  });
};

const noChecks: ReadonlySet<CheckId> = new Set();

type RecordFields = Fields<typeof recordSchema.shape>;

/** Null: the subdomain itself. An invalid name becomes a placeholder, which equals neither that nor any other name. */
const nameIn = ({ node: nodeOf, value }: RecordFields, part: Part): string | null => {
  const node = nodeOf('name');
  if (node === undefined || (node.kind === 'scalar' && node.text === null)) return null;
  const name = value('name') ?? `{${node.at}}`;
  // A variable that somebody forgot to set would lead its records to the subdomain itself.
  if (name === '' && node.kind === 'scalar' && node.text !== '')
    part.report('undefined-variable', node.at, leftEmpty(node.text ?? ''));
  return name === '' || name === '@' ? null : name;
};

const leftEmpty = (written: string): string =>
  `\`name\` is empty (from ${quote(written)}): if the subdomain itself is meant, give the variable the value \`@\``;

const partKeys = ['weight', 'port', 'target'] as const;

/** As the service has them; none if they are invalid, which has been reported. */
const contentsOf = (
  type: RecordType,
  { at: entry, node: nodeOf, value, list }: RecordFields,
  part: Part,
): readonly Spot<string>[] => {
  const { parts } = definitionOf(type);
  const node = nodeOf('content');
  const given = partKeys.flatMap((key) => nodeOf(key) ?? []);
  if (given.length > 0) {
    const values = partKeys.flatMap((key) => value(key) ?? []);
    if (parts === null || node || given.length < partKeys.length)
      part.report('srv-content', given[0]!.at, inParts);
    else if (values.length === partKeys.length) return [{ value: values.join(' '), at: given.at(-1)!.at }];
    return [];
  }
  if (node === undefined) part.report('empty-content', entry, 'the record has no `content`');
  if (node?.kind === 'list' && node.items.length === 0)
    part.report('empty-content', node.at, 'the list in `content` is empty');
  const contents = list('content');
  return parts ? contents.map((one) => ({ ...one, value: parts.joined(one.value) })) : contents;
};

const inParts =
  'an SRV record has either `content`, or `weight`, `port` and `target`; no other type has these three';

export interface ResolvedRule {
  readonly rule: IgnoreRule;
  readonly place: Place;
}

/** None if any part of it is invalid: without that part it would match too much. */
export const rulesOf = (node: YamlNode, part: Part): ResolvedRule[] => {
  const fields = fieldsIn(node, 'an ignore rule', ignoreSchema, part);
  if (fields === null) return [];
  const { at, node: nodeOf, value } = fields;
  const rule = { type: value('type'), name: value('name'), content: value('content') };
  const given = (['type', 'name', 'content'] as const).filter((key) => nodeOf(key) !== undefined);
  if (given.length === 0)
    part.report(
      'wrong-type',
      at,
      'an ignore rule needs `type`, `name` or `content`; empty, it would match everything',
    );
  const isWhole = given.length > 0 && given.every((key) => rule[key] !== null);
  return isWhole ? [{ rule, place: { file: part.file, ...part.parsed.placeOf(at) } }] : [];
};
