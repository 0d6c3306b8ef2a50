import { z } from 'zod';
import { RecordFields, type EditRecord } from './control-body.ts';
import type { StoredRecord, SandboxData, Subdomain } from './data.ts';
import { Refusal } from './request.ts';
import { followTemplate, currentRecords } from './subdomains.ts';

/** Changes of subdomains and of their records, which no operation can make at all. */

export const SetSubdomain = z.strictObject({
  name: z.string().min(1).toLowerCase(),
  dns_template_id: z.int().optional(),
  follows: z.boolean().exactOptional(),
  lag_ms: z.int().min(0).exactOptional(),
});

export const setSubdomain = (data: SandboxData, wanted: z.infer<typeof SetSubdomain>, now: number) => {
  const { dns_template_id, ...settings } = wanted;
  const present = data.subdomains.find(({ name }) => name === wanted.name);
  const templateId = dns_template_id ?? present?.dns_template_id;
  if (templateId === undefined || !data.dns_templates.some(({ id }) => id === templateId)) {
    throw new Refusal(404, 'There is no such DNS template.');
  }
  const subdomain: Subdomain = {
    follows: true,
    lag_ms: 0,
    dns_records: [],
    upcoming: null,
    ...present,
    ...settings,
    dns_template_id: templateId,
  };
  const subdomains = [...data.subdomains.filter((other) => other !== present), subdomain];
  const dns_templates = data.dns_templates.map((each) => ({
    ...each,
    subdomains: each.publicly_available
      ? null
      : subdomains.filter((other) => other.dns_template_id === each.id).length,
  }));
  const changed = followTemplate({ ...data, dns_templates, subdomains }, templateId, now);
  return { data: changed, answer: changed.subdomains.find(({ name }) => name === wanted.name) };
};

export const AddDnsRecord = z.strictObject({
  subdomain: z.string().min(1).toLowerCase(),
  dns_template_record_id: z.int().nullable().default(null),
  ...RecordFields.shape,
});

export const addDnsRecord = (data: SandboxData, wanted: z.infer<typeof AddDnsRecord>, now: number) => {
  const { subdomain: name, ...record } = wanted;
  const subdomain = data.subdomains.find((one) => one.name === name);
  if (subdomain === undefined) {
    throw new Refusal(404, 'There is no such subdomain.');
  }
  const records = [...currentRecords(subdomain, now), { id: data.next_id, ...record }];
  return withRecords({ ...data, next_id: data.next_id + 1 }, subdomain, records, now);
};

export const editDnsRecord = (data: SandboxData, wanted: z.infer<typeof EditRecord>, now: number) => {
  const { record_id, ...fields } = wanted;
  const { subdomain, records } = holderOf(data, record_id, now);
  const edited = records.map((record) => (record.id === record_id ? { ...record, ...fields } : record));
  return withRecords(data, subdomain, edited, now);
};

export const removeDnsRecord = (data: SandboxData, recordId: number, now: number) => {
  const { subdomain, records } = holderOf(data, recordId, now);
  return withRecords(
    data,
    subdomain,
    records.filter(({ id }) => id !== recordId),
    now,
  );
};

const holderOf = (
  data: SandboxData,
  recordId: number,
  now: number,
): { subdomain: Subdomain; records: StoredRecord[] } => {
  for (const subdomain of data.subdomains) {
    const records = currentRecords(subdomain, now);
    if (records.some(({ id }) => id === recordId)) return { subdomain, records };
  }
  throw new Refusal(404, 'There is no such DNS record.');
};

/** Holds until the next change of its template. */
const withRecords = (data: SandboxData, subdomain: Subdomain, dns_records: StoredRecord[], now: number) => {
  const { upcoming } = subdomain;
  const answer = { ...subdomain, dns_records, upcoming: upcoming && upcoming.at > now ? upcoming : null };
  const subdomains = data.subdomains.map((other) => (other === subdomain ? answer : other));
  return { data: { ...data, subdomains }, answer };
};
