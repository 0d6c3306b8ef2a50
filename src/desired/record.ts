import { suggestionOr } from '../lib/nearest.ts';
import { isAddress } from '../model/address.ts';
import { canonicalRecord, type CanonicalRecord } from '../model/canonical.ts';
import { nameLabelsOf } from '../model/host.ts';
import { hasPlaceholder } from '../model/placeholder.ts';
import { isRecordType, recordTypes, type DesiredRecord, type RecordType } from '../model/record.ts';
import { definitionOf } from '../model/types/table.ts';
import { isAllowable, isCheck, type CheckId } from './check-id.ts';
import { scalarIn, scalarsIn, textIn, valueIn, type Fields, type KeyOf, type Reader } from './fields.ts';
import type { Part } from './includes.ts';
import type { ParsedEntry } from './parse-file.ts';
import { quote } from './problem.ts';
import { allowedSchema, recordSchema, ttlSchema } from './schema.ts';
import type { YamlNode } from './yaml.ts';

/** A desired record, with what the checks need to know about it. */
export interface ResolvedRecord {
  readonly desired: DesiredRecord;
  readonly canonical: CanonicalRecord;
  readonly hosts: Hosts;
  /** Offsets of its entry and of values there; null where priority or TTL are not there. */
  readonly at: {
    readonly entry: number;
    readonly name: number;
    readonly priority: number | null;
    readonly ttl: number | null;
  };
  /** The offset of its content, which may be an element of a list. */
  readonly content: number;
  readonly isElement: boolean;
  readonly allow: ReadonlySet<CheckId>;
  readonly part: Part;
}

export const placeOf = ({ desired: { source } }: ResolvedRecord): string =>
  `${source.file}:${source.line}:${source.column}`;

/** The offset of what a check is about. */
export const placeIn = ({ at, content, isElement }: ResolvedRecord, what: CheckedPlace): number => {
  if (what === 'content') return content;
  if (what === 'record') return isElement ? content : at.entry;
  return at[what] ?? at.entry;
};

export type CheckedPlace = keyof ResolvedRecord['at'] | 'content' | 'record';

type RecordFields = Fields<KeyOf<typeof recordSchema>>;

/** The records of one entry: several if its content is a list, none if it is invalid. */
export const recordsOf = (
  { at: entry, fields }: ParsedEntry<typeof recordSchema>,
  part: Part,
  templateTtl: number | null,
): ResolvedRecord[] => {
  const { shape } = recordSchema;
  const allow = allowIn(fields.get('allow'), part);
  const ttl = valueIn(fields.get('ttl'), '`ttl`', ttlSchema, part, 'ttl-range') ?? templateTtl;
  const priority =
    valueIn(fields.get('priority'), '`priority`', shape.priority, part, 'priority-range') ?? null;
  const name = nameIn(fields.get('name'), part);
  const type = typeIn(fields.get('type'), entry, part);
  if (type === null) return [];
  const at = {
    entry,
    name: fields.get('name')?.at ?? entry,
    priority: fields.get('priority')?.at ?? null,
    ttl: fields.get('ttl')?.at ?? null,
  };
  return contentsOf(type, fields, entry, part).map(({ text: content, at: place, isElement }) => {
    const { line, column } = part.document.placeOf(isElement ? place : entry);
    const source = { file: part.file, line, column };
    const desired: DesiredRecord = { type, name, content, priority, ttl, source };
    const canonical = canonicalRecord(desired);
    const hosts = hostsOf(canonical);
    return { desired, canonical, hosts, at, content: place, isElement, allow, part };
  });
};

/** The type in upper case, as the service has it. */
export const typeIn = (node: YamlNode | undefined, entry: number, { report }: Reader): RecordType | null => {
  if (node === undefined)
    report('unknown-type', entry, `the record has no \`type\`; there are: ${recordTypes.join(', ')}`);
  const scalar = node === undefined ? null : scalarIn(node, '`type`', report);
  if (scalar === null) return null;
  const type = scalar.text.toUpperCase();
  if (isRecordType(type)) return type;
  const instead = Object.hasOwn(otherTypes, type) ? `: ${otherTypes[type]}` : suggestionOr(type, recordTypes);
  report('unknown-type', scalar.at, `the service has no type ${quote(scalar.text)}${instead}`);
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

const allowIn = (list: YamlNode | undefined, part: Part): ReadonlySet<CheckId> => {
  if (list === undefined) return noChecks;
  const allowed = new Set<CheckId>();
  for (const item of scalarsIn(list, '`allow`', part.report)) {
    const { text, at } = item;
    const isFixed = isCheck(text) && !isAllowable(text);
    const check = isFixed ? null : valueIn(item, 'an entry of `allow`', allowedSchema, part);
    if (isFixed) part.report('wrong-type', at, `the check \`${text}\` cannot be switched off`);
    if (check !== null) allowed.add(check);
  }
  return allowed;
};

const noChecks: ReadonlySet<CheckId> = new Set();

const nameIn = (node: YamlNode | undefined, reader: Reader): string | null => {
  if (node === undefined || (node.kind === 'scalar' && node.text === null)) return null;
  const name = textIn(node, '`name`', reader);
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

const typesInParts = recordTypes.filter((type) => definitionOf(type).parts !== null).join(' and ');

/** As the service has them; none if they are invalid, which has been reported. */
const contentsOf = (
  type: RecordType,
  fields: RecordFields,
  entry: number,
  reader: Reader,
): readonly Content[] => {
  const { parts } = definitionOf(type);
  if (parts !== null && partKeys.some((key) => fields.has(key)))
    return contentInParts(type, fields, entry, reader);
  for (const key of parts === null ? partKeys : []) {
    const part = fields.get(key);
    if (part)
      reader.report('srv-content', part.at, `\`${key}\` belongs to ${typesInParts} records, not to ${type}`);
  }
  const contents = contentsIn(fields.get('content'), entry, reader);
  return parts === null ? contents : contents.map((one) => ({ ...one, text: parts.joined(one.text) }));
};

const contentInParts = (type: RecordType, fields: RecordFields, entry: number, reader: Reader): Content[] => {
  const { shape } = recordSchema;
  const content = fields.get('content');
  if (content !== undefined) {
    reader.report('srv-content', content.at, 'write either `content`, or `weight`, `port` and `target`');
    return [];
  }
  const weight = valueIn(fields.get('weight'), '`weight`', shape.weight, reader, 'srv-content');
  const port = valueIn(fields.get('port'), '`port`', shape.port, reader, 'srv-content');
  const target = textIn(fields.get('target'), '`target`', reader);
  const missing = partKeys.filter((key) => !fields.has(key)).map((key) => `\`${key}\``);
  const are = missing.length === 1 ? 'is' : 'are';
  const message = `an ${type} record needs \`weight\`, \`port\` and \`target\`; ${missing.join(' and ')} ${are} missing`;
  if (missing.length > 0) reader.report('srv-content', entry, message);
  if (weight == null || port == null || target === null) return [];
  return [{ text: `${weight} ${port} ${target}`, at: fields.get('target')!.at, isElement: false }];
};

const contentsIn = (node: YamlNode | undefined, entry: number, reader: Reader): Content[] => {
  if (node === undefined) reader.report('empty-content', entry, 'the record has no `content`');
  if (node?.kind !== 'list') return node === undefined ? [] : contentIn(node, false, reader);
  if (node.items.length === 0) reader.report('empty-content', node.at, 'the list in `content` is empty');
  return node.items.flatMap((item) => contentIn(item, true, reader));
};

const contentIn = (node: YamlNode, isElement: boolean, reader: Reader): Content[] => {
  if (node.kind === 'scalar' && node.text === null) {
    reader.report('empty-content', node.at, '`content` is empty');
    return [];
  }
  const text = textIn(node, '`content`', reader);
  return text === null ? [] : [{ text, at: node.at, isElement }];
};

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

export const octetsOf = (text: string): number => Buffer.byteLength(text, 'utf8');

/** Most texts are so short that their octets need not be counted. */
export const isLonger = (text: string, octets: number): boolean =>
  text.length * 3 > octets && octetsOf(text) > octets;

const control = /[\x00-\x1f\x7f-\x9f]|\p{Cs}/u;

export const hasControlCharacter = (text: string): boolean => control.test(text);
