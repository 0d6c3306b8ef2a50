import {
  derivedRecords,
  replaced,
  type ServiceData,
  type StoredRecord,
  type StoredSubdomain,
} from './operations.ts';
import { parseName, parseStored } from './records.ts';

/** Somebody's change at the service: `+ www A 192.0.2.1`, `~ #5 ttl=60 content=192.0.2.2`, `- #5`, `publishes it` or `renames it other`. */
export const changed = (data: ServiceData, line: string, templateName: string): ServiceData => {
  const [, sign = '', rest = ''] = /^([-+~]) (.*)$/.exec(line) ?? [];
  const template = data.templates.find(({ name }) => name === templateName);
  if (!template) throw new Error(`no template ${templateName}`);
  if (line === 'publishes it')
    return { ...data, templates: replaced(data.templates, { ...template, owner: null }) };
  const newName = /^renames it (.*)$/.exec(line)?.[1];
  if (newName !== undefined)
    return { ...data, templates: replaced(data.templates, { ...template, name: newName }) };
  const { records } = template;
  const withRecords = (after: readonly StoredRecord[], lastId = data.lastId): ServiceData => ({
    ...data,
    templates: replaced(data.templates, { ...template, records: after }),
    lastId,
  });
  if (sign === '+') {
    const record = parseStored(rest, data.lastId + 1);
    return withRecords([...records, record], Math.max(data.lastId, record.id));
  }
  const [, id = '', values = ''] = /^#(\d+)(?: (.*))?$/.exec(rest) ?? [];
  const old = records.find((one) => String(one.id) === id);
  if (!old) throw new Error(`no such record: ${line}`);
  return withRecords(
    sign === '-' ? records.filter((one) => one !== old) : replaced(records, withValues(old, values)),
  );
};

/** `ttl=60 content=192.0.2.2`: what is said last may contain blanks. */
const withValues = <T extends StoredRecord>(record: T, text: string): T => {
  const pairs = text.split(/ (?=(?:type|name|priority|ttl|content)=)/).map((pair) => {
    const [, key = '', value = ''] = /^(\w+)=(.*)$/.exec(pair) ?? [];
    if (key === 'name') return [key, parseName(value)];
    return [key, key === 'priority' || key === 'ttl' ? Number(value) : value];
  });
  return { ...record, ...Object.fromEntries(pairs) };
};

/** With another template: its records, and whose it is. */
export const withTemplate = (
  data: ServiceData,
  name: string,
  options: readonly string[],
  lines: readonly string[],
): ServiceData => {
  let { lastId } = data;
  const records = lines.map((line) => {
    const record = parseStored(line, lastId + 1);
    lastId = Math.max(lastId, record.id);
    return record;
  });
  const id = Number(options.find((one) => /^\d+$/.test(one)) ?? (data.templates.length + 1) * 10);
  const of = options.find((one) => one.startsWith('of='))?.slice('of='.length) ?? 'default';
  const owner = options.includes('public') ? null : of;
  return { ...data, lastId, templates: [...data.templates, { id, name, owner, records }] };
};

/** One that follows its template: a name that is known follows it again. */
export const withSubdomain = (data: ServiceData, name: string, template: string): ServiceData => {
  const templateId = data.templates.find((one) => one.name === template)?.id ?? 0;
  const others = data.subdomains.filter((one) => one.name !== name);
  return { ...data, subdomains: [...others, { name, templateId, own: null }] };
};

/** From here on it follows its template no more. */
export const withDerived = (data: ServiceData, name: string, line: string): ServiceData => {
  const change = (one: StoredSubdomain): StoredSubdomain => {
    const own = derivedRecords(data, one);
    const [, sign = '', rest = ''] = /^([-+~])?(?: (.*))?$/.exec(line) ?? [];
    const [, id = '', of, values = ''] = /^#(\d+)(?: of #(\d+))?(?: (.*))?$/.exec(rest) ?? [];
    if (sign === '-') return { ...one, own: own.filter((record) => String(record.id) !== id) };
    if (sign === '~')
      return {
        ...one,
        own: own.map((record) => (String(record.id) === id ? withValues(record, values) : record)),
      };
    if (sign !== '+') return { ...one, own };
    const made = { ...parseStored(values, Number(id)), id: Number(id) };
    return {
      ...one,
      own: [...own, { ...made, dns_template_record_id: of === undefined ? null : Number(of) }],
    };
  };
  return { ...data, subdomains: data.subdomains.map((one) => (one.name === name ? change(one) : one)) };
};
