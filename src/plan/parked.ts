import { dataOf, hasPriority, type PresentRecord, type RecordData } from '../model/record.ts';

/** The service may have made the name an absolute one. */
export const isParkedName = (name: string): boolean => /^_parked-\d+(?:\.|$)/.test(name);

/** A name and content that serve nobody; the TTL and priority stay what they are, where the type needs one. */
export const parkedForm = (record: PresentRecord, type: string): RecordData => ({
  ...dataOf(record),
  priority: hasPriority(type) ? (record.priority ?? 0) : record.priority,
  name: `_parked-${record.id}`,
  content: inertContent[type] ?? record.content,
  ttl: null,
});

/** RFC 2606 §2: `.invalid` never resolves. */
const inertContent: Readonly<Record<string, string>> = {
  A: '0.0.0.0',
  AAAA: '::',
  CNAME: 'parked.invalid',
  MX: 'parked.invalid',
  PTR: 'parked.invalid',
  SRV: '0 0 parked.invalid',
  TXT: 'parked',
};
