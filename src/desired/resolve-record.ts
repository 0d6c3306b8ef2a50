import { canonicalRecord, type CanonicalRecord } from '../model/canonical.ts';
import { isRecordType, recordTypes, type RecordType, type DesiredRecord } from '../model/record.ts';
import {
  allowableChecks,
  errorChecks,
  warningChecks,
  type AllowableCheck,
  type CheckId,
} from './check-id.ts';
import { hostsOf, type Hosts } from './checks/hosts.ts';
import { quote, type Position } from './diagnostic.ts';
import { scalarIn, scalarsIn } from './fields.ts';
import { suggestionOr } from '../lib/nearest.ts';
import type { ParsedEntry } from './parse-file.ts';
import { contentsOf, type RecordFields } from './record-content.ts';
import { recordSchema, ttlSchema } from './schema.ts';
import { choiceIn, textIn, valueIn, type Reader } from './values.ts';
import type { YamlNode } from './yaml/tree.ts';

/** A desired record, with what the checks need to know about it. */
export interface ResolvedRecord {
  readonly desired: DesiredRecord;
  readonly canonical: CanonicalRecord;
  readonly hosts: Hosts;
  /** The fields of the record's own entry. */
  readonly fields: RecordFields;
  /** `record`: the element of the list in `content`, if there is one. */
  readonly at: { readonly entry: Position; readonly record: Position; readonly content: Position };
  readonly allow: ReadonlySet<CheckId>;
  readonly origin: Origin;
}

/** The file that describes it, with the context of its template. */
export interface Origin extends Reader {
  readonly file: string;
}

/** The records of one entry: several if its content is a list, none if it is invalid. */
export const recordsOf = (
  { node, fields }: ParsedEntry<typeof recordSchema>,
  origin: Origin,
  templateTtl: number | null,
): ResolvedRecord[] => {
  const allow = allowIn(fields, origin);
  const ttl = valueIn(fields.get('ttl'), '`ttl`', ttlSchema, origin, 'ttl-range');
  const priority = valueIn(
    fields.get('priority'),
    '`priority`',
    recordSchema.shape.priority,
    origin,
    'priority-range',
  );
  const name = nameIn(fields, origin);
  const type = typeIn(fields.get('type'), node, origin);
  if (type === null) return [];
  return contentsOf(type, fields, node, origin).map(({ text, at, isElement }) => {
    const { line, column } = isElement ? at : node;
    const desired: DesiredRecord = {
      type,
      name,
      content: text,
      priority: priority ?? null,
      ttl: ttl ?? templateTtl,
      source: { file: origin.file, line, column },
    };
    const canonical = canonicalRecord(desired);
    return {
      desired,
      canonical,
      hosts: hostsOf(canonical),
      fields,
      at: { entry: node, record: isElement ? at : node, content: at },
      allow,
      origin,
    };
  });
};

/** The type in upper case, as the service has it. */
export const typeIn = (
  node: YamlNode | undefined,
  entry: Position,
  { report }: Reader,
): RecordType | null => {
  if (node === undefined) {
    report('unknown-type', entry, `the record has no \`type\`; there are: ${recordTypes.join(', ')}`);
    return null;
  }
  const scalar = scalarIn(node, '`type`', report);
  if (scalar === null) return null;
  const type = scalar.text.toUpperCase();
  if (isRecordType(type)) return type;
  report(
    'unknown-type',
    scalar,
    `the service has no type ${quote(scalar.text)}${type === 'SPF' ? ': an SPF policy is a TXT record' : suggestionOr(type, recordTypes)}`,
  );
  return null;
};

const allowIn = (fields: RecordFields, { report }: Reader): ReadonlySet<AllowableCheck> => {
  const list = fields.get('allow');
  if (list === undefined) return noChecks;
  return new Set(
    scalarsIn(list, '`allow`', report).flatMap((item) => {
      if (!isFixed(item.text)) return choiceIn(item, 'an entry of `allow`', allowableChecks, report) ?? [];
      report('wrong-type', item, `the check \`${item.text}\` cannot be switched off`);
      return [];
    }),
  );
};

const noChecks: ReadonlySet<AllowableCheck> = new Set();

/** Checks whose failure makes the meaning of the file unclear. */
const isFixed = (text: string): boolean =>
  !allowableChecks.some((check) => check === text) &&
  [...errorChecks, ...warningChecks].some((check) => check === text);

const nameIn = (fields: RecordFields, reader: Reader): string | null => {
  const node = fields.get('name');
  if (node === undefined || (node.kind === 'scalar' && node.value === null)) return null;
  const name = textIn(node, '`name`', reader);
  // An invalid name becomes a placeholder, so that it equals neither the subdomain itself nor any other name.
  if (name === null) return node.kind === 'scalar' ? node.text : `{${node.line}:${node.column}}`;
  return name === '' || name === '@' ? null : name;
};
