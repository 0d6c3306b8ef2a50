import { canonicalName, canonicalRecord } from '../model/canonical.ts';
import { dataOf, type ActualRecord, type RecordData } from '../model/record.ts';
import type { ActualTemplate, SubdomainRecord } from '../model/template.ts';
import type { Field } from './difference.ts';
import { groupBy } from '../model/group.ts';

/** A difference between a template record and the DNS record of a subdomain that derives from it. */
export interface SubdomainDifference {
  readonly kind: 'missing' | 'stale' | 'foreign';
  readonly templateRecord: (RecordData & { readonly id: number }) | null;
  readonly record: (RecordData & { readonly id: number; readonly templateRecordId: number | null }) | null;
  readonly fields: readonly (Field | 'type')[];
}

/**
 * Compares the DNS records of a subdomain with the template at the service, by the template record that each
 * derives from. Records that derive from none (NS, SOA, manual ones) are not differences.
 */
export const compareSubdomain = (
  subdomain: string,
  template: ActualTemplate,
  records: readonly SubdomainRecord[],
): SubdomainDifference[] => {
  const derived = groupBy(records, (record) => record.templateRecordId);
  const own = new Set(template.records.map((record) => record.id));
  return [
    ...template.records.flatMap((from): SubdomainDifference[] => {
      const templateRecord = { ...dataOf(from), id: from.id };
      const found = derived.get(from.id);
      if (!found) return [{ kind: 'missing', templateRecord, record: null, fields: [] }];
      return found.flatMap((record): SubdomainDifference[] => {
        const fields = staleFields(subdomain, from, record);
        return fields.length === 0 ? [] : [{ kind: 'stale', templateRecord, record: sideOf(record), fields }];
      });
    }),
    ...records
      .filter(({ templateRecordId: id }) => id !== null && !own.has(id))
      .map((record) => ({
        kind: 'foreign' as const,
        templateRecord: null,
        record: sideOf(record),
        fields: [],
      })),
  ];
};

const sideOf = (record: SubdomainRecord): NonNullable<SubdomainDifference['record']> => ({
  ...dataOf(record),
  id: record.id,
  templateRecordId: record.templateRecordId,
});

const staleFields = (subdomain: string, from: ActualRecord, record: SubdomainRecord): (Field | 'type')[] => {
  const [expected, actual] = [canonicalRecord(from), canonicalRecord(record)];
  const fields: (Field | 'type')[] = [];
  if (from.isUnreadable || record.isUnreadable) return fields;
  if (expected.type !== actual.type) fields.push('type');
  if (!agreesByName(subdomain, expected.name, actual.name)) fields.push('name');
  if (!hasPlaceholder(expected.content) && expected.content !== actual.content) fields.push('content');
  if (expected.priority !== actual.priority) fields.push('priority');
  if (from.ttl !== null && from.ttl !== record.ttl) fields.push('ttl');
  return fields;
};

/** A derived name may be relative to the subdomain or end in it; the service replaces placeholders. */
const agreesByName = (subdomain: string, expected: string, actual: string): boolean => {
  if (hasPlaceholder(expected)) return true;
  const zone = withoutDot(canonicalName(subdomain));
  const relative = (name: string): string => {
    const plain = withoutDot(name);
    if (plain === zone) return '';
    return plain.endsWith(`.${zone}`) ? plain.slice(0, -zone.length - 1) : plain;
  };
  return relative(expected) === relative(actual);
};

const withoutDot = (name: string): string => (name.endsWith('.') ? name.slice(0, -1) : name);

const hasPlaceholder = (text: string): boolean => /##[^#]+##|\{[^}]+\}|<[^>]+>|%[^%]+%/.test(text);
