import { z } from 'zod';
import { shownTemplate, TemplateRecord, withRecords, type SandboxData } from './data.ts';
import { Refusal } from './operations.ts';

const fields = TemplateRecord.omit({ id: true }).shape;

const Addition = z.strictObject({
  ...fields,
  dns_template_id: z.int(),
  name: fields.name.default(null),
  priority: fields.priority.default(null),
  ttl: fields.ttl.default(3600),
});
const Edit = z.strictObject({ record_id: z.int(), ...TemplateRecord.omit({ id: true }).partial().shape });
const Removal = z.strictObject({ record_id: z.int() });
const Named = z.strictObject({ name: z.string().min(1) });
const Following = z.strictObject({ ...Named.shape, dns_template_id: z.int() });

/**
 * What other users of the service do, a POST of JSON to `/sandbox/NAME`; gives the template. The rules of the operations
 * do not apply.
 *
 * | name | body |
 * |---|---|
 * | `add-record` | `dns_template_id`, `type`, `content`, `name`?, `priority`?, `ttl`? |
 * | `edit-record` | `record_id` and any of `type`, `content`, `name`, `priority`, `ttl` |
 * | `remove-record` | `record_id` |
 * | `add-template` | `name` |
 * | `set-subdomain` | `name`, `dns_template_id`, which it follows from then on |
 */
export const changeByHand = (data: SandboxData, name: string, body: unknown) => {
  if (name === 'add-record') {
    const { dns_template_id: id, ...record } = parsed(Addition, body);
    const added = { ...data, next_id: data.next_id + 1 };
    return edited(added, id, (records) => [...records, { id: data.next_id, ...record }]);
  }
  if (name === 'edit-record') {
    const { record_id, ...given } = parsed(Edit, body);
    const edit = (one: TemplateRecord): TemplateRecord =>
      one.id === record_id ? Object.assign({ ...one }, given) : one;
    return edited(data, holderOf(data, record_id), (records) => records.map(edit));
  }
  if (name === 'remove-record') {
    const { record_id } = parsed(Removal, body);
    return edited(data, holderOf(data, record_id), (all) => all.filter(({ id }) => id !== record_id));
  }
  if (name === 'add-template') {
    const { name: called } = parsed(Named, body);
    const template = { id: data.next_id, name: called, publicly_available: false, dns_template_records: [] };
    const dns_templates = [...data.dns_templates, template];
    return edited({ ...data, next_id: data.next_id + 1, dns_templates }, template.id, (records) => records);
  }
  if (name === 'set-subdomain') {
    const { dns_template_id, name: called } = parsed(Following, body);
    const subdomain = { id: data.next_id, name: called.toLowerCase(), dns_template_id };
    const others = data.subdomains.filter((one) => one.name !== subdomain.name);
    const changed = { ...data, next_id: data.next_id + 1, subdomains: [...others, subdomain] };
    return edited(changed, dns_template_id, (records) => records);
  }
  throw new Refusal(404, 'There is no such path.');
};

const parsed = <T>(schema: z.ZodType<T>, body: unknown): T => {
  const result = schema.safeParse(body);
  if (!result.success) throw new Refusal(422, z.prettifyError(result.error));
  return result.data;
};

const holderOf = (data: SandboxData, recordId: number): number => {
  const has = ({ id }: TemplateRecord): boolean => id === recordId;
  const template = data.dns_templates.find((one) => one.dns_template_records.some(has));
  if (!template) throw new Refusal(404, 'There is no such DNS template record.');
  return template.id;
};

const edited = (data: SandboxData, id: number, edit: Parameters<typeof withRecords>[2]) => {
  const changed = withRecords(data, id, edit);
  const template = changed.dns_templates.find((one) => one.id === id);
  if (!template) throw new Refusal(404, 'There is no such DNS template.');
  return { data: changed, answer: shownTemplate(changed, template) };
};
