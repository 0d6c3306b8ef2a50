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

const Subdomain = z.object({ id: z.int(), name: z.string(), dns_template_id: z.int() });

/** What can change of the service, with the field names of specification §2. */
export const SandboxData = z.object({
  version: z.literal(2),
  next_id: z.int(),
  dns_templates: z.array(DnsTemplate),
  subdomains: z.array(Subdomain),
});
export type SandboxData = z.infer<typeof SandboxData>;

/** A template as the service shows it: with the count of the subdomains that follow it, null for a public one. */
export const shownTemplate = (data: SandboxData, { dns_template_records, ...template }: DnsTemplate) => ({
  ...template,
  subdomains: template.publicly_available
    ? null
    : data.subdomains.filter(({ dns_template_id }) => dns_template_id === template.id).length,
  dns_template_records,
});

/** The records of a subdomain: NS and SOA, then those of its template as they are now. */
export const recordsOf = (data: SandboxData, { id, dns_template_id }: z.infer<typeof Subdomain>) => {
  const template = data.dns_templates.find((one) => one.id === dns_template_id);
  const unset = { name: null, priority: null, ttl: 86_400, dns_template_record_id: null };
  return [
    { id: id * 10_000 + 1, type: 'NS', content: 'ns1.example.net', ...unset },
    { id: id * 10_000 + 2, type: 'NS', content: 'ns2.example.net', ...unset },
    { id: id * 10_000 + 3, type: 'SOA', content: soa, ...unset },
    ...(template?.dns_template_records ?? []).map((record) => ({
      ...record,
      id: id * 10_000 + record.id,
      dns_template_record_id: record.id,
    })),
  ];
};

const soa = 'ns1.example.net hostmaster.example.net 2025111801 10800 3600 604800 3600';

/** An error answer. The message goes to the caller, so it must not repeat anything that may be a token. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export const templateOf = (data: SandboxData, id: number): DnsTemplate => {
  const template = data.dns_templates.find((one) => one.id === id);
  if (!template) throw new Refusal(404, `There is no DNS template ${id}.`);
  return template;
};
