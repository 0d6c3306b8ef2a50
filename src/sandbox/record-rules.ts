import type { TemplateRecord } from './data.ts';
import { Refusal, type DataParameters } from './request.ts';

const types = ['A', 'AAAA', 'CNAME', 'MX', 'PTR', 'SRV', 'TXT'];
const needsName = new Set(['PTR', 'SRV']);
const needsPriority = new Set(['MX', 'SRV']);
const defaultTtl = 3600;

/** The new record of Add DNS template record (specification §4.5). */
export const addedRecord = (id: number, parameters: DataParameters): TemplateRecord => {
  const type = parameters.require('type');
  if (!types.includes(type)) {
    throw new Refusal(422, `Parameter type must be one of ${types.join(', ')}.`);
  }
  const supplied = suppliedFields(type, parameters);
  return {
    id,
    type,
    content: supplied.content ?? parameters.require('content'),
    name: supplied.name ?? null,
    priority: supplied.priority ?? null,
    ttl: supplied.ttl ?? defaultTtl,
  };
};

/** The record after Update DNS template record: only the supplied fields change (specification §4.6). */
export const updatedRecord = (record: TemplateRecord, parameters: DataParameters): TemplateRecord => ({
  ...record,
  ...suppliedFields(record.type, parameters),
});

type RuleFields = Partial<Pick<TemplateRecord, 'content' | 'name' | 'priority' | 'ttl'>>;

/** The rules for the fields of a type, for both operations. */
const suppliedFields = (type: string, parameters: DataParameters): RuleFields => {
  const fields: RuleFields = {};
  const name = needsName.has(type) ? parameters.require('name') : parameters.get('name');
  if (name !== null) {
    fields.name = name === '' ? null : name;
  }
  if (needsPriority.has(type)) {
    fields.priority = integer('priority', parameters.require('priority'), 65_535);
  }
  const ttl = parameters.get('ttl');
  if (ttl !== null) {
    fields.ttl = integer('ttl', ttl, 2_147_483_647);
  }
  if (parameters.get('content') !== null) {
    fields.content = checkedContent(type, parameters.require('content'));
  }
  return fields;
};

const integer = (name: string, text: string, max: number): number => {
  if (!/^\d{1,10}$/.test(text) || Number(text) > max) {
    throw new Refusal(422, `Parameter ${name} must be a whole number from 0 to ${max}.`);
  }
  return Number(text);
};

const checkedContent = (type: string, content: string): string => {
  if (type === 'SRV') {
    const [, weight, port] = /^(\d{1,5}) (\d{1,5}) \S+$/.exec(content) ?? [];
    if (weight === undefined || Number(weight) > 65_535 || Number(port) > 65_535) {
      throw new Refusal(422, 'Parameter content of an SRV record must be <weight> <port> <target>.');
    }
  }
  return content;
};
