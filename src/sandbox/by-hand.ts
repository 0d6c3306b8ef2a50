import { z } from 'zod';
import {
  Refusal,
  shownTemplate,
  templateOf,
  TemplateRecord,
  type DnsTemplate,
  type SandboxData,
} from './data.ts';

/**
 * What other users of the service do, a POST of JSON to `/sandbox/NAME`: changes the data, and gives the template. The
 * rules of the operations do not apply.
 */
export const changeByHand = (data: SandboxData, name: string, body: string) => {
  const change = changes[name];
  if (!change) throw new Refusal(404, 'There is no such path.');
  return shownTemplate(data, change(data, parsed(body)));
};

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    throw new Refusal(400, 'The body is not JSON.');
  }
};

type HandChange = (data: SandboxData, body: unknown) => DnsTemplate;

const changing =
  <T>(schema: z.ZodType<T>, change: (data: SandboxData, body: T) => DnsTemplate): HandChange =>
  (data, body) => {
    const result = schema.safeParse(body);
    if (!result.success) throw new Refusal(422, z.prettifyError(result.error));
    return change(data, result.data);
  };

const fields = TemplateRecord.omit({ id: true }).shape;
const Addition = z.strictObject({
  ...fields,
  dns_template_id: z.int(),
  name: fields.name.default(null),
  priority: fields.priority.default(null),
  ttl: fields.ttl.default(3600),
});
const Removal = z.strictObject({ record_id: z.int() });
const Edit = Removal.extend(z.object(fields).partial().shape);
const Named = z.strictObject({ name: z.string().min(1) });

const changes: Partial<Record<string, HandChange>> = {
  'add-record': changing(Addition, (data, { dns_template_id, ...record }) => {
    const template = templateOf(data, dns_template_id);
    template.dns_template_records.push({ id: data.next_id, ...record });
    data.next_id += 1;
    return template;
  }),
  'edit-record': changing(Edit, (data, { record_id, ...given }) => {
    const template = holderOf(data, record_id);
    Object.assign(
      template.dns_template_records.find(({ id }) => id === record_id)!,
      given,
    );
    return template;
  }),
  'remove-record': changing(Removal, (data, { record_id }) => {
    const template = holderOf(data, record_id);
    template.dns_template_records = template.dns_template_records.filter(({ id }) => id !== record_id);
    return template;
  }),
  'add-template': changing(Named, (data, { name }) => {
    const template = { id: data.next_id, name, publicly_available: false, dns_template_records: [] };
    data.next_id += 1;
    data.dns_templates.push(template);
    return template;
  }),
  // It follows the template from then on.
  'set-subdomain': changing(Named.extend({ dns_template_id: z.int() }), (data, { name, dns_template_id }) => {
    const template = templateOf(data, dns_template_id);
    const subdomain = { id: data.next_id, name: name.toLowerCase(), dns_template_id };
    data.next_id += 1;
    data.subdomains = [...data.subdomains.filter((one) => one.name !== subdomain.name), subdomain];
    return template;
  }),
};

const holderOf = (data: SandboxData, recordId: number): DnsTemplate => {
  const template = data.dns_templates.find((one) =>
    one.dns_template_records.some(({ id }) => id === recordId),
  );
  if (!template) throw new Refusal(404, 'There is no such DNS template record.');
  return template;
};
