import { z } from 'zod';

/** The resources of specification §2 with their field names, as they are stored and mostly as they are sent. */

const id = z.int();
const timestamp = z.string().regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}$/);

const Application = z.object({
  id,
  account_id: id,
  name: z.string(),
  created_at: timestamp,
  aliases: z.array(z.string()),
});

const DatabaseGrant = z.object({ id, login: z.string(), access_level: z.string() });

const Database = z.object({
  id,
  account_id: id,
  name: z.string(),
  hosts: z.array(z.string()),
  database_grants: z.array(DatabaseGrant),
});

const FtpUser = z.object({
  id,
  account_id: id,
  user: z.string(),
  host: z.string(),
  directory: z.string(),
});

const StoredAccount = z.object({
  id,
  name: z.string(),
  created_at: timestamp,
  virtual_server_id: id,
  applications: z.array(Application),
  databases: z.array(Database),
  ftp_users: z.array(FtpUser),
  ssh_keys: z.array(z.string()),
});
export type StoredAccount = z.infer<typeof StoredAccount>;

const TemplateRecord = z.object({
  id,
  type: z.string(),
  content: z.string(),
  name: z.string().nullable(),
  priority: z.int().nullable(),
  ttl: z.int(),
});
export type TemplateRecord = z.infer<typeof TemplateRecord>;

const DnsTemplate = z.object({
  id,
  name: z.string(),
  publicly_available: z.boolean(),
  subdomains: z.int().nullable(),
  dns_template_records: z.array(TemplateRecord),
});
export type DnsTemplate = z.infer<typeof DnsTemplate>;

const StoredRecord = z.object({ ...TemplateRecord.shape, dns_template_record_id: id.nullable() });
export type StoredRecord = z.infer<typeof StoredRecord>;

const Subdomain = z.object({
  name: z.string(),
  dns_template_id: id,
  /** False: changes of the template no longer reach the records. */
  follows: z.boolean(),
  /** Milliseconds after which a change of the template reaches the records. */
  lag_ms: z.int(),
  dns_records: z.array(StoredRecord),
  /** What a lagging subdomain answers from `at` on (milliseconds since the epoch). */
  upcoming: z.object({ at: z.number(), dns_records: z.array(StoredRecord) }).nullable(),
});
export type Subdomain = z.infer<typeof Subdomain>;

/** All data of the service. Immutable. */
export const SandboxData = z.object({
  version: z.literal(1),
  next_id: id,
  accounts: z.array(StoredAccount),
  dns_templates: z.array(DnsTemplate),
  subdomains: z.array(Subdomain),
});
export type SandboxData = z.infer<typeof SandboxData>;

/** The same data with one template's records replaced. */
export const withTemplateRecords = (
  data: SandboxData,
  templateId: number,
  dns_template_records: TemplateRecord[],
): SandboxData => ({
  ...data,
  dns_templates: data.dns_templates.map((template) =>
    template.id === templateId ? { ...template, dns_template_records } : template,
  ),
});
