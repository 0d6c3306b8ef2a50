import { z } from 'zod';

export const TemplateRecord = z.object({
  id: z.int(),
  type: z.string(),
  content: z.string(),
  name: z.string().nullable(),
  priority: z.int().nullable(),
  ttl: z.int(),
});
export type TemplateRecord = z.infer<typeof TemplateRecord>;

const DnsTemplate = z.object({
  id: z.int(),
  name: z.string(),
  publicly_available: z.boolean(),
  dns_template_records: z.array(TemplateRecord),
});
export type DnsTemplate = z.infer<typeof DnsTemplate>;

/** What can change of the service, with the field names of specification §2. Immutable. */
export const SandboxData = z.object({
  version: z.literal(2),
  next_id: z.int(),
  dns_templates: z.array(DnsTemplate),
  subdomains: z.array(z.object({ id: z.int(), name: z.string(), dns_template_id: z.int() })),
});
export type SandboxData = z.infer<typeof SandboxData>;

/** The same data with the records of one template replaced. */
export const withRecords = (
  data: SandboxData,
  templateId: number,
  edit: (records: TemplateRecord[]) => TemplateRecord[],
): SandboxData => ({
  ...data,
  dns_templates: data.dns_templates.map((template) =>
    template.id === templateId
      ? { ...template, dns_template_records: edit(template.dns_template_records) }
      : template,
  ),
});

/** A template as the service shows it: with the count of the subdomains that follow it, null for a public one. */
export const shownTemplate = (data: SandboxData, { dns_template_records, ...template }: DnsTemplate) => ({
  ...template,
  subdomains: template.publicly_available
    ? null
    : data.subdomains.filter(({ dns_template_id }) => dns_template_id === template.id).length,
  dns_template_records,
});

/** The records of a subdomain: NS and SOA, then those of its template as they are now. */
export const recordsOf = (data: SandboxData, { id, dns_template_id }: SandboxData['subdomains'][number]) => {
  const template = data.dns_templates.find((one) => one.id === dns_template_id);
  const own = (number: number, type: string, content: string) => ({
    id: id * 10_000 + number,
    type,
    content,
    name: null,
    priority: null,
    ttl: 86_400,
    dns_template_record_id: null,
  });
  return [
    own(1, 'NS', 'ns1.example.net'),
    own(2, 'NS', 'ns2.example.net'),
    own(3, 'SOA', 'ns1.example.net hostmaster.example.net 2025111801 10800 3600 604800 3600'),
    ...(template?.dns_template_records ?? []).map((record) => ({
      ...record,
      id: id * 10_000 + record.id,
      dns_template_record_id: record.id,
    })),
  ];
};
