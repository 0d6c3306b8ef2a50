import { z } from 'zod';
import { accounts } from './example-data.ts';

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

/** Performs one of the operations, which may change the data, and gives its answer. `path` is below the base address. */
export const operate = (data: SandboxData, method: string, path: string, parameters: URLSearchParams) => {
  const operation = operations.find(([, pattern]) => pattern.test(path));
  if (!operation) throw new Refusal(404, 'There is no such path.');
  const [wanted, pattern, run] = operation;
  if (wanted !== method) throw new Refusal(405, `Ask for this path with ${wanted}.`);
  if (!parameters.get('user_token') || !parameters.get('client_token'))
    throw new Refusal(401, 'Both user_token and client_token are required as data parameters.');
  return run(data, parameters, Number(pattern.exec(path)?.[1]));
};

/** `id` is from the path, if it has one. */
type Operation = (data: SandboxData, parameters: URLSearchParams, id: number) => unknown;

const addRecord: Operation = (data, parameters, id) => {
  const type = required(parameters, 'type');
  const template = ownTemplate(data, id);
  if (!types.includes(type)) throw new Refusal(422, `Parameter type must be one of ${types.join(', ')}.`);
  const content = required(parameters, 'content');
  const unset = { id: data.next_id, type, content, name: null, priority: null, ttl: 3600 };
  template.dns_template_records.push({ ...unset, ...givenFields(type, parameters) });
  data.next_id += 1;
  return shownTemplate(data, template);
};

const updateRecord: Operation = (data, parameters, id) => {
  const recordId = required(parameters, 'record_id');
  const template = ownTemplate(data, id);
  const record = template.dns_template_records.find((one) => String(one.id) === recordId);
  if (!record) throw new Refusal(404, `DNS template ${id} has no such record.`);
  Object.assign(record, givenFields(record.type, parameters));
  return shownTemplate(data, template);
};

const listRecords: Operation = (data, parameters) => {
  const name = required(parameters, 'subdomain').toLowerCase();
  const subdomain = data.subdomains.find((one) => one.name === name);
  if (!subdomain) throw new Refusal(404, 'There is no such subdomain.');
  return recordsOf(data, subdomain);
};

/** The seven operations of specification §4, in its order. */
const operations: readonly (readonly ['GET' | 'PUT', RegExp, Operation])[] = [
  ['GET', /^\/accounts$/, () => accounts.map(withoutGrantIds)],
  ['GET', /^\/accounts\/(\d{1,15})$/, (_, __, id) => withoutGrantIds(accountOf(id))],
  ['GET', /^\/databases$/, (_, form) => accountOf(wholeNumber(form, 'account_id', 1e15)).databases],
  ['GET', /^\/dns_templates$/, (data) => data.dns_templates.map((one) => shownTemplate(data, one))],
  ['PUT', /^\/dns_templates\/(\d{1,15})\/add_record$/, addRecord],
  ['PUT', /^\/dns_templates\/(\d{1,15})\/update_record$/, updateRecord],
  ['GET', /^\/dns_records$/, listRecords],
];

const types = ['A', 'AAAA', 'CNAME', 'MX', 'PTR', 'SRV', 'TXT'];

/** The fields that a write gives a record of this type. What does not apply to the type is ignored. */
const givenFields = (type: string, parameters: URLSearchParams): Partial<TemplateRecord> => {
  const given: Partial<TemplateRecord> = {};
  const isNamed = type === 'PTR' || type === 'SRV';
  if (isNamed || parameters.has('name'))
    given.name = (isNamed ? required(parameters, 'name') : parameters.get('name')) || null;
  if (type === 'MX' || type === 'SRV') given.priority = wholeNumber(parameters, 'priority', 65_535);
  if (parameters.has('ttl')) given.ttl = wholeNumber(parameters, 'ttl', 2_147_483_647);
  if (!parameters.has('content')) return given;
  given.content = required(parameters, 'content');
  const [, weight, port] = /^(\d{1,5}) (\d{1,5}) \S+$/.exec(given.content) ?? [];
  if (type === 'SRV' && !(Number(weight) <= 65_535 && Number(port) <= 65_535))
    throw new Refusal(422, 'Parameter content of an SRV record must be <weight> <port> <target>.');
  return given;
};

const required = (parameters: URLSearchParams, name: string): string => {
  const value = parameters.get(name);
  if (!value) throw new Refusal(422, `Parameter ${name} is required.`);
  return value;
};

const wholeNumber = (parameters: URLSearchParams, name: string, most: number): number => {
  const text = parameters.get(name) ?? '';
  if (!/^\d{1,15}$/.test(text) || Number(text) > most)
    throw new Refusal(422, `Parameter ${name} must be a whole number from 0 to ${most}.`);
  return Number(text);
};

const accountOf = (id: number): (typeof accounts)[number] => {
  const account = accounts.find((one) => one.id === id);
  if (!account) throw new Refusal(404, `There is no account ${id}.`);
  return account;
};

/** Grants have an id only in the list of databases. */
const withoutGrantIds = ({ databases, ...account }: (typeof accounts)[number]) => ({
  ...account,
  databases: databases.map(({ database_grants, ...database }) => ({
    ...database,
    database_grants: database_grants.map(({ login, access_level }) => ({ login, access_level })),
  })),
});

const ownTemplate = (data: SandboxData, id: number): DnsTemplate => {
  const template = templateOf(data, id);
  if (template.publicly_available)
    throw new Refusal(403, `DNS template ${id} is publicly available and cannot be changed.`);
  return template;
};

/**
 * What other users of the service do, a POST of JSON to `/sandbox/NAME`: changes the data, and gives the template. The
 * rules of the operations do not apply.
 */
export const changeByHand = (data: SandboxData, name: string, body: string) => {
  const change = changes[name];
  if (!change) throw new Refusal(404, 'There is no such path.');
  try {
    return shownTemplate(data, change(data, JSON.parse(body)));
  } catch (error) {
    if (error instanceof SyntaxError) throw new Refusal(400, 'The body is not JSON.');
    if (error instanceof z.ZodError) throw new Refusal(422, z.prettifyError(error));
    throw error;
  }
};

const { id: _, ...fields } = TemplateRecord.shape;
const NewRecord = z.strictObject({
  ...fields,
  name: fields.name.default(null),
  priority: fields.priority.default(null),
  ttl: fields.ttl.default(3600),
});
const Addition = NewRecord.extend({ dns_template_id: z.int() });
const Edit = z.strictObject(fields).partial().extend({ record_id: z.int() });
const Removal = z.strictObject({ record_id: z.int() });
const Template = z.strictObject({
  name: z.string().min(1),
  publicly_available: z.boolean().default(false),
  records: z.array(NewRecord).default([]),
});
const Follower = z.strictObject({ name: z.string().min(1), dns_template_id: z.int() });

const changes: Partial<Record<string, (data: SandboxData, body: unknown) => DnsTemplate>> = {
  'add-record': (data, body) => {
    const { dns_template_id, ...record } = Addition.parse(body);
    const template = templateOf(data, dns_template_id);
    template.dns_template_records.push({ id: data.next_id, ...record });
    data.next_id += 1;
    return template;
  },
  'edit-record': (data, body) => {
    const { record_id, ...given } = Edit.parse(body);
    const { template, record } = foundRecord(data, record_id);
    Object.assign(record, given);
    return template;
  },
  'remove-record': (data, body) => {
    const { template, record } = foundRecord(data, Removal.parse(body).record_id);
    template.dns_template_records = template.dns_template_records.filter((one) => one !== record);
    return template;
  },
  'add-template': (data, body) => {
    const { records, ...given } = Template.parse(body);
    const id = data.next_id;
    const dns_template_records = records.map((record, index) => ({ id: id + 1 + index, ...record }));
    const template = { id, ...given, dns_template_records };
    data.next_id += 1 + records.length;
    data.dns_templates.push(template);
    return template;
  },
  // It follows the template from then on.
  'set-subdomain': (data, body) => {
    const { name, dns_template_id } = Follower.parse(body);
    const template = templateOf(data, dns_template_id);
    data.subdomains = data.subdomains.filter((one) => one.name !== name.toLowerCase());
    data.subdomains.push({ id: data.next_id, name: name.toLowerCase(), dns_template_id });
    data.next_id += 1;
    return template;
  },
};

const foundRecord = (data: SandboxData, recordId: number) => {
  for (const template of data.dns_templates) {
    const record = template.dns_template_records.find(({ id }) => id === recordId);
    if (record) return { template, record };
  }
  throw new Refusal(404, 'There is no such DNS template record.');
};
