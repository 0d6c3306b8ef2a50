import { z } from 'zod';
import { hasPriority, type ActualRecord } from '../model/record.ts';
import type { ActualTemplate, SubdomainRecord } from '../model/template.ts';
import { listOf, optionalNumber, optionalText, text, unlikeIds, wholeNumber } from './fields.ts';

/*
 * Templates and records (specification §2), tolerant of what the service may send, but strict about what
 * decisions depend on: a missing id, type or content breaks the contract. Unknown keys are dropped.
 */

const recordFields = {
  id: wholeNumber,
  type: z.string({ error: 'is not text' }).min(1, { error: 'is empty' }),
  name: optionalText,
  content: text,
  ttl: optionalNumber,
  priority: z.unknown().optional(),
};

/** Only MX and SRV have a priority (specification §4.5). On other types an invalid one is ignored. */
const readPriority = (type: string, value: unknown, context: z.RefinementCtx): number | null => {
  const read = optionalNumber.safeParse(value);
  if (read.success) return read.data;
  if (hasPriority(type.toUpperCase()))
    context.addIssue({ code: 'custom', path: ['priority'], message: 'is neither a whole number nor null' });
  return null;
};

const carefulRecord = z
  .object(recordFields, { error: 'is not an object' })
  .transform(({ id, type, name, content, ttl, priority }, context): ActualRecord => ({
    id,
    type,
    name,
    content,
    priority: readPriority(type, priority, context),
    ttl,
  }));

/**
 * A template record. A listing has up to 100,000 of them, and nearly all are regular: those are accepted as
 * they are, at a fraction of the cost; the schema reads the others.
 */
export const templateRecord = z.unknown().transform((value, context): ActualRecord => {
  const known = takePlain(value);
  if (known) return known;
  const read = carefulRecord.safeParse(value);
  if (read.success) return read.data;
  for (const { path, message } of read.error.issues) context.addIssue({ code: 'custom', path, message });
  return z.NEVER;
});

const takePlain = (value: unknown): ActualRecord | null => (isPlainRecord(value) ? plainRecord(value) : null);

const plainRecord = ({ id, type, name, content, priority, ttl }: ActualRecord): ActualRecord => ({
  id,
  type,
  name,
  content,
  priority,
  ttl,
});

const isPlainRecord = (value: unknown): value is ActualRecord => {
  if (typeof value !== 'object' || value === null) return false;
  const record: Partial<Record<keyof ActualRecord, unknown>> = value;
  return (
    Number.isSafeInteger(record.id) &&
    typeof record.type === 'string' &&
    record.type !== '' &&
    typeof record.content === 'string' &&
    (record.name === null || typeof record.name === 'string') &&
    (record.ttl === null || Number.isSafeInteger(record.ttl)) &&
    (record.priority === null || Number.isSafeInteger(record.priority))
  );
};

/** Only an explicit "no" makes a template the client's own: public ones must never be written. */
const isPublic = z
  .unknown()
  .optional()
  .transform((value) => value !== false && value !== 'false' && value !== 0 && value !== '0');

/**
 * A template without a list of records breaks the contract too: if it counted as empty, everything would be
 * added again.
 */
export const dnsTemplate = z
  .object(
    {
      id: wholeNumber,
      name: optionalText,
      publicly_available: isPublic,
      subdomains: optionalNumber.catch(null),
      dns_template_records: listOf(templateRecord, takePlain).superRefine(unlikeIds),
    },
    { error: 'is not an object' },
  )
  .transform((template): ActualTemplate => ({
    id: template.id,
    name: template.name ?? '',
    publiclyAvailable: template.publicly_available,
    subdomains: template.subdomains,
    records: template.dns_template_records,
  }));

/** A template as the schema reads it; null if it is invalid. */
export const readTemplate = (value: unknown): ActualTemplate | null => {
  if (isPlainTemplate(value)) {
    const { id, name, publicly_available: publiclyAvailable, subdomains } = value;
    const records = value.dns_template_records.map(plainRecord);
    return { id, name, publiclyAvailable, subdomains, records };
  }
  const read = dnsTemplate.safeParse(value);
  return read.success ? read.data : null;
};

interface PlainTemplate {
  readonly id: number;
  readonly name: string;
  readonly publicly_available: boolean;
  readonly subdomains: number | null;
  readonly dns_template_records: readonly ActualRecord[];
}

const isPlainTemplate = (value: unknown): value is PlainTemplate => {
  if (typeof value !== 'object' || value === null) return false;
  const template: Partial<Record<keyof PlainTemplate, unknown>> = value;
  const { dns_template_records: records } = template;
  return (
    Number.isSafeInteger(template.id) &&
    typeof template.name === 'string' &&
    typeof template.publicly_available === 'boolean' &&
    (template.subdomains === null || Number.isSafeInteger(template.subdomains)) &&
    Array.isArray(records) &&
    records.every(isPlainRecord) &&
    new Set(records.map(({ id }) => id)).size === records.length
  );
};

export const dnsTemplates = listOf(dnsTemplate).superRefine(unlikeIds);

const dnsRecord = z
  .object({ ...recordFields, dns_template_record_id: optionalNumber }, { error: 'is not an object' })
  .transform(
    ({ id, type, name, content, ttl, priority, dns_template_record_id }, context): SubdomainRecord => ({
      id,
      type,
      name,
      content,
      priority: readPriority(type, priority, context),
      ttl,
      templateRecordId: dns_template_record_id,
    }),
  );
export const dnsRecords = listOf(dnsRecord);
