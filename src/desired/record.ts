import { suggestionOr } from '../lib/nearest.ts';
import { isAddress } from '../model/address.ts';
import { canonicalRecord, type CanonicalRecord } from '../model/canonical.ts';
import { nameLabelsOf } from '../model/host.ts';
import { hasPlaceholder } from '../model/placeholder.ts';
import {
  isRecordType,
  recordTypes,
  type DesiredRecord,
  type Place,
  type RecordType,
} from '../model/record.ts';
import type { IgnoreRule } from '../model/template.ts';
import { definitionOf } from '../model/types/table.ts';
import type { CheckId } from './check-id.ts';
import { Fields, mappingIn, scalarIn, textIn, valueIn, type Part } from './fields.ts';
import { quote } from './problem.ts';
import { allowedSchema, ignoreSchema, recordSchema } from './schema.ts';
import type { YamlNode } from './yaml.ts';

/** A desired record, with what the checks need to know about it. */
export interface ResolvedRecord {
  readonly desired: DesiredRecord;
  readonly canonical: CanonicalRecord;
  readonly hosts: Hosts;
  /**
   * Offsets of its entry and of values there; null where priority or TTL are not there. `record` is the element of a list of
   * contents that makes it a record of its own, or the entry.
   */
  readonly at: Readonly<Record<'entry' | 'record' | 'name' | 'content', number>> &
    Readonly<Record<'priority' | 'ttl', number | null>>;
  readonly allow: ReadonlySet<CheckId>;
  readonly part: Part;
}

export const placeOf = ({ desired: { source } }: ResolvedRecord): string =>
  `${source.file}:${source.line}:${source.column}`;

/** The records of one entry: several if its content is a list, none if it is invalid. */
export const recordsOf = (node: YamlNode, part: Part, templateTtl: number | null): ResolvedRecord[] => {
  const mapping = mappingIn(node, 'a record', part, '{type: A, name: www, content: 192.0.2.1}');
  if (mapping === null) return [];
  const fields = new Fields(mapping, recordSchema, part);
  const entry = fields.at;
  const allow = allowIn(fields, part);
  const ttl = fields.value('ttl', 'ttl-range') ?? templateTtl;
  const priority = fields.value('priority', 'priority-range');
  const name = nameIn(fields);
  const type = typeIn(fields.node('type'), entry, part);
  if (type === null) return [];
  return contentsOf(type, fields, part).map(({ text: content, at: place, isElement }) => {
    const record = isElement ? place : entry;
    const source = { file: part.file, ...part.parsed.placeOf(record) };
    const desired: DesiredRecord = { type, name, content, priority, ttl, source };
    const canonical = canonicalRecord(desired);
    const at = {
      entry,
      record,
      content: place,
      name: fields.place('name') ?? entry,
      priority: fields.place('priority'),
      ttl: fields.place('ttl'),
    };
    return { desired, canonical, hosts: hostsOf(canonical), at, allow, part };
  });
};

type RecordFields = Fields<typeof recordSchema>;

/** The type in upper case, as the service has it. */
const typeIn = (node: YamlNode | undefined, entry: number, part: Part): RecordType | null => {
  if (node === undefined)
    part.report('unknown-type', entry, `the record has no \`type\`; there are: ${recordTypes.join(', ')}`);
  const scalar = node === undefined ? null : scalarIn(node, '`type`', part);
  if (scalar === null) return null;
  const type = scalar.text.toUpperCase();
  if (isRecordType(type)) return type;
  const instead = Object.hasOwn(otherTypes, type) ? `: ${otherTypes[type]}` : suggestionOr(type, recordTypes);
  part.report('unknown-type', scalar.at, `the service has no type ${quote(scalar.text)}${instead}`);
  return null;
};

const aliasOfApex = 'write the A and AAAA records of its target, or a CNAME below the subdomain itself';

/** Types that look like another one, or do what another one does. */
const otherTypes: Readonly<Record<string, string>> = {
  SPF: 'an SPF policy is a TXT record',
  DNAME: 'it redirects all names below its own, which no other type does; write a CNAME for each of them',
  ALIAS: aliasOfApex,
  ANAME: aliasOfApex,
};

const allowIn = (fields: RecordFields, part: Part): ReadonlySet<CheckId> => {
  if (fields.place('allow') === null) return noChecks;
  const checks = fields
    .scalars('allow')
    .map((item) => valueIn(item, 'an entry of `allow`', allowedSchema, part));
  return new Set(checks.filter((check) => check !== null));
};

const noChecks: ReadonlySet<CheckId> = new Set();

const nameIn = (fields: RecordFields): string | null => {
  const node = fields.node('name');
  if (node === undefined || (node.kind === 'scalar' && node.text === null)) return null;
  const name = fields.text('name');
  // An invalid name becomes a placeholder, so that it equals neither the subdomain itself nor any other name.
  if (name === null) return (node.kind === 'scalar' && node.text) || `{${node.at}}`;
  return name === '' || name === '@' ? null : name;
};

interface Content {
  readonly text: string;
  readonly at: number;
  /** Whether it is an element of a list, each of which is a record. */
  readonly isElement: boolean;
}

const partKeys = ['weight', 'port', 'target'] as const;

/** As the service has them; none if they are invalid, which has been reported. */
const contentsOf = (type: RecordType, fields: RecordFields, part: Part): readonly Content[] => {
  const { parts } = definitionOf(type);
  const node = fields.node('content');
  const given = partKeys.find((key) => fields.node(key) !== undefined);
  if (given !== undefined) {
    const [weight, port] = [fields.value('weight', 'srv-content'), fields.value('port', 'srv-content')];
    const [target, at] = [fields.text('target'), fields.place('target')];
    const isWhole = partKeys.every((key) => fields.node(key) !== undefined);
    if (parts === null || node !== undefined || !isWhole)
      part.report('srv-content', fields.place(given)!, inParts);
    else if (weight !== null && port !== null && target !== null && at !== null)
      return [{ text: `${weight} ${port} ${target}`, at, isElement: false }];
    if (parts !== null || node === undefined) return [];
  }
  if (node === undefined) part.report('empty-content', fields.at, 'the record has no `content`');
  const isList = node?.kind === 'list';
  if (isList && node.items.length === 0)
    part.report('empty-content', node.at, 'the list in `content` is empty');
  const items = isList ? node.items : node === undefined ? [] : [node];
  return items.flatMap((item) => {
    if (item.kind === 'scalar' && item.text === null) {
      part.report('empty-content', item.at, '`content` is empty');
      return [];
    }
    const text = textIn(item, '`content`', part);
    return text === null ? [] : { text: parts?.joined(text) ?? text, at: item.at, isElement: isList };
  });
};

const inParts =
  'an SRV record has either `content`, or `weight`, `port` and `target`; no other type has these three';

/** The host names of a record in canonical form, computed once for all checks. */
export interface Hosts {
  /** Null if it is the subdomain itself, a placeholder, or invalid in a way that has a check of its own. */
  readonly name: Labels | null;
  /** The host that the record points at; null if there is none or the content is invalid. */
  readonly target: string | null;
  /** The target if it is meant as a host name: no placeholder, no address, no lone dot. */
  readonly host: Labels | null;
}

export interface Labels {
  readonly text: string;
  readonly labels: readonly string[];
}

const hostsOf = ({ type, name, content }: CanonicalRecord): Hosts => {
  const target = definitionOf(type)?.target?.in(content) ?? null;
  const isOpaque = name === '' || hasPlaceholder(name) || hasControlCharacter(name);
  const isHost = target !== null && target !== '.' && !isAddress(target) && !hasPlaceholder(target);
  return {
    name: isOpaque ? null : { text: name, labels: nameLabelsOf(name) },
    target,
    host: isHost ? { text: target, labels: target.split('.') } : null,
  };
};

const control = /[\x00-\x1f\x7f-\x9f]|\p{Cs}/u;

export const hasControlCharacter = (text: string): boolean => control.test(text);

export interface ResolvedRule {
  readonly rule: IgnoreRule;
  readonly place: Place;
}

/** Null if any part of it is invalid: without that part it would match too much. */
export const ruleOf = (node: YamlNode, part: Part): ResolvedRule | null => {
  const mapping = mappingIn(node, 'an ignore rule', part, '{type: TXT, name: "_acme-challenge*"}');
  const fields = mapping && new Fields(mapping, ignoreSchema, part);
  if (fields?.keys.length === 0) part.report('wrong-type', fields.at, emptyRule);
  if (fields === null || fields.keys.length === 0) return null;
  const type = fields.place('type') === null ? null : typeIn(fields.node('type'), fields.at, part);
  const rule = { type, name: fields.text('name'), content: fields.text('content') };
  if (Object.values(rule).filter((value) => value !== null).length < fields.keys.length) return null;
  return { rule, place: { file: part.file, ...part.parsed.placeOf(fields.at) } };
};

const emptyRule = 'an ignore rule needs `type`, `name` or `content`; empty, it would match everything';
