import type { StoredRecord, DnsTemplate, SandboxData, Subdomain } from './data.ts';

/** Applies a change of a template to the subdomains that follow it: at once, or after their lag. */
export const followTemplate = (data: SandboxData, templateId: number, now: number): SandboxData => {
  const template = data.dns_templates.find(({ id }) => id === templateId);
  if (template === undefined) {
    return data;
  }
  let nextId = data.next_id;
  const subdomains = data.subdomains.map((subdomain) => {
    if (subdomain.dns_template_id !== templateId || !subdomain.follows) {
      return subdomain;
    }
    const derived = derivedRecords(subdomain, template, nextId);
    nextId = derived.nextId;
    const present = currentRecords(subdomain, now);
    const dns_records = [...present.filter(isOwn), ...derived.records];
    return subdomain.lag_ms > 0
      ? { ...subdomain, dns_records: present, upcoming: { at: now + subdomain.lag_ms, dns_records } }
      : { ...subdomain, dns_records, upcoming: null };
  });
  return { ...data, next_id: nextId, subdomains };
};

/** The records of a subdomain now. */
export const currentRecords = ({ dns_records, upcoming }: Subdomain, now: number): StoredRecord[] =>
  upcoming !== null && upcoming.at <= now ? upcoming.dns_records : dns_records;

/** Records that come from no template, such as NS and SOA. */
const isOwn = (record: StoredRecord): boolean => record.dns_template_record_id === null;

/** A derived record keeps its id as long as its template record exists. */
const derivedRecords = (
  { dns_records, upcoming }: Subdomain,
  template: DnsTemplate,
  firstFreeId: number,
): { records: StoredRecord[]; nextId: number } => {
  const known = upcoming?.dns_records ?? dns_records;
  const ids = new Map(known.map((record) => [record.dns_template_record_id, record.id]));
  let nextId = firstFreeId;
  const records = template.dns_template_records.map((record) => ({
    ...record,
    id: ids.get(record.id) ?? nextId++,
    dns_template_record_id: record.id,
  }));
  return { records, nextId };
};
