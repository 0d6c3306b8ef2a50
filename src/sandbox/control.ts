import { z } from 'zod';
import { EditRecord, parsed, RecordFields, RemoveRecord } from './control-body.ts';
import { withTemplateRecords } from './data.ts';
import type { DnsTemplate, SandboxData, TemplateRecord } from './data.ts';
import { Refusal } from './request.ts';
import {
  AddDnsRecord,
  addDnsRecord,
  editDnsRecord,
  removeDnsRecord,
  SetSubdomain,
  setSubdomain,
} from './subdomain-control.ts';
import { followTemplate } from './subdomains.ts';

/**
 * Changes that the service's API has no operation for: what other users and the service itself do. Each is a
 * POST with a JSON body to `/sandbox/NAME`, outside the base address. The rules of the operations do not
 * apply, so that a template can get any state.
 *
 * | name | body | answer |
 * |---|---|---|
 * | `add-template` | `name`, `publicly_available`?, `records`? | the template |
 * | `add-record` | `dns_template_id`, `type`, `content`, `name`?, `priority`?, `ttl`? | the template |
 * | `edit-record` | `record_id` and any of `type`, `content`, `name`, `priority`, `ttl` | the template |
 * | `remove-record` | `record_id` | the template |
 * | `set-subdomain` | `name`, `dns_template_id` (required for a new one), `follows`?, `lag_ms`? | the subdomain |
 * | `add-dns-record` | `subdomain`, `type`, `content`, `name`?, `priority`?, `ttl`?, `dns_template_record_id`? | the subdomain |
 * | `edit-dns-record` | `record_id` and any of `type`, `content`, `name`, `priority`, `ttl` | the subdomain |
 * | `remove-dns-record` | `record_id` | the subdomain |
 *
 * A subdomain with `follows: false` keeps its records while its template changes: an edited record is then
 * stale there, an added one missing, a removed one foreign. With `follows: true` again it catches up. With
 * `lag_ms` it follows late. The records of a subdomain can be changed by themselves too: those that derive
 * from a template are put right with the next change of the template.
 */
export const applyControl = (
  data: SandboxData,
  name: string,
  body: unknown,
  now: number,
): { data: SandboxData; answer: unknown } => {
  switch (name) {
    case 'add-template':
      return addTemplate(data, parsed(AddTemplate, body));
    case 'add-record':
      return addRecord(data, parsed(AddRecord, body), now);
    case 'edit-record':
      return editRecord(data, parsed(EditRecord, body), now);
    case 'remove-record':
      return removeRecord(data, parsed(RemoveRecord, body), now);
    case 'set-subdomain':
      return setSubdomain(data, parsed(SetSubdomain, body), now);
    case 'add-dns-record':
      return addDnsRecord(data, parsed(AddDnsRecord, body), now);
    case 'edit-dns-record':
      return editDnsRecord(data, parsed(EditRecord, body), now);
    case 'remove-dns-record':
      return removeDnsRecord(data, parsed(RemoveRecord, body).record_id, now);
    default:
      throw new Refusal(404, 'There is no such path.');
  }
};

const AddTemplate = z.strictObject({
  name: z.string().min(1),
  publicly_available: z.boolean().default(false),
  records: z.array(RecordFields).default([]),
});

const AddRecord = z.strictObject({ dns_template_id: z.int(), ...RecordFields.shape });

const addTemplate = (data: SandboxData, request: z.infer<typeof AddTemplate>) => {
  const id = data.next_id;
  const answer: DnsTemplate = {
    id,
    name: request.name,
    publicly_available: request.publicly_available,
    subdomains: request.publicly_available ? null : 0,
    dns_template_records: request.records.map((record, index) => ({ id: id + 1 + index, ...record })),
  };
  const next_id = id + 1 + request.records.length;
  return { data: { ...data, next_id, dns_templates: [...data.dns_templates, answer] }, answer };
};

const addRecord = (data: SandboxData, request: z.infer<typeof AddRecord>, now: number) => {
  const { dns_template_id, ...fields } = request;
  const template = findTemplate(data, dns_template_id);
  const records = [...template.dns_template_records, { id: data.next_id, ...fields }];
  return replaceRecords({ ...data, next_id: data.next_id + 1 }, template, records, now);
};

const editRecord = (data: SandboxData, request: z.infer<typeof EditRecord>, now: number) => {
  const { record_id, ...fields } = request;
  const template = templateOfRecord(data, record_id);
  const records = template.dns_template_records.map((record) =>
    record.id === record_id ? { ...record, ...fields } : record,
  );
  return replaceRecords(data, template, records, now);
};

const removeRecord = (data: SandboxData, request: z.infer<typeof RemoveRecord>, now: number) => {
  const template = templateOfRecord(data, request.record_id);
  const records = template.dns_template_records.filter(({ id }) => id !== request.record_id);
  return replaceRecords(data, template, records, now);
};

const replaceRecords = (data: SandboxData, template: DnsTemplate, records: TemplateRecord[], now: number) => {
  const changed = followTemplate(withTemplateRecords(data, template.id, records), template.id, now);
  return { data: changed, answer: findTemplate(changed, template.id) };
};

const findTemplate = (data: SandboxData, id: number): DnsTemplate => {
  const template = data.dns_templates.find((candidate) => candidate.id === id);
  if (template === undefined) {
    throw new Refusal(404, 'There is no such DNS template.');
  }
  return template;
};

const templateOfRecord = (data: SandboxData, recordId: number): DnsTemplate => {
  const template = data.dns_templates.find(({ dns_template_records }) =>
    dns_template_records.some(({ id }) => id === recordId),
  );
  if (template === undefined) {
    throw new Refusal(404, 'There is no such DNS template record.');
  }
  return template;
};
