import { asciiLabels, canonicalLabels, unescapedName } from './host.ts';
import type { RecordData } from './record.ts';
import { definitionOf } from './types/table.ts';

/**
 * Records are compared in canonical form; invalid values are compared as they are.
 *
 * | part                              | canonical form                                                        |
 * | --------------------------------- | --------------------------------------------------------------------- |
 * | type                              | upper case                                                            |
 * | name                              | `''` for the subdomain itself (absent, `""`, `@`); escapes undone, lower case, A-labels |
 * | A, AAAA                           | strict dotted quad; RFC 5952                                          |
 * | CNAME, MX, PTR content, SRV target | lower case, A-labels, one trailing dot dropped; a lone `.` stays      |
 * | SRV content                       | weight, port, target, joined by single blanks                         |
 * | TXT                               | presentation format (RFC 1035 §5.1) undone when quoted, else verbatim |
 * | priority                          | MX and SRV only                                                       |
 */
export interface CanonicalRecord {
  readonly type: string;
  readonly name: string;
  readonly content: string;
  readonly priority: number | null;
}

export const canonicalRecord = (record: RecordData): CanonicalRecord => {
  const type = canonicalType(record.type);
  const name = canonicalName(record.name);
  const definition = definitionOf(type);
  return {
    type,
    name,
    content: definition ? definition.canonical(record.content) : record.content,
    priority: definition?.hasPriority === true ? record.priority : null,
  };
};

export const canonicalType = (type: string): string => type.toUpperCase();

/** Relative and absolute names are not equated, and placeholders are not resolved: the zone is not known here. */
export const canonicalName = (name: string | null): string =>
  name === null || name === '' || name === '@' ? '' : canonicalLabels(unescapedName(name));

/** `type` in upper case. The content of an unknown type stays as it is. */
export const canonicalContent = (type: string, content: string): string =>
  definitionOf(type)?.canonical(content) ?? content;

/** As it is sent: names and targets with letters beyond ASCII as A-labels. */
export const asSent = <Data extends RecordData>(record: Data): Data => {
  const hasTarget = definitionOf(canonicalType(record.type))?.target != null;
  return {
    ...record,
    name: record.name === null ? null : asciiLabels(record.name),
    content: hasTarget ? record.content.replaceAll(/\S+/g, asciiLabels) : record.content,
  };
};

/** Whether two records are equal in canonical form and TTL. */
export const sameData = (a: RecordData, b: RecordData): boolean => {
  const [left, right] = [canonicalRecord(a), canonicalRecord(b)];
  return (
    left.type === right.type &&
    left.name === right.name &&
    left.content === right.content &&
    left.priority === right.priority &&
    a.ttl === b.ttl
  );
};
