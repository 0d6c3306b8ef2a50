import { z } from 'zod';
import { hasPriority, isRecordType, type ActualRecord } from '../model/record.ts';
import type { ActualTemplate, SubdomainRecord } from '../model/template.ts';
import { listOf, optionalNumber, optionalText, text, unlikeIds, wholeNumber } from './fields.ts';

/*
 * Templates and records (specification §2), tolerant of what the service may send, but strict about what
 * decisions depend on: a missing id or type breaks the contract. Unknown keys are dropped.
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

const knownRecord = z
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
 * A record of a type that this program does not know, or with values that it cannot understand, is only counted. The name
 * of a known type decides what may stand beside it.
 */
const countedRecord = z
  .object({
    id: wholeNumber,
    type: recordFields.type,
    name: z.unknown().optional(),
    content: z
      .unknown()
      .optional()
      .transform((content) => text.safeParse(content).data ?? ''),
    ttl: optionalNumber.catch(null),
  })
  .transform(({ name: given, ...record }, context): ActualRecord => {
    const name = optionalText.safeParse(given);
    const isKnown = isRecordType(record.type.toUpperCase());
    if (isKnown && !name.success)
      context.addIssue({ code: 'custom', path: ['name'], message: 'is not text' });
    return { ...record, name: name.data ?? null, priority: null, ...(isKnown ? { isUnreadable: true } : {}) };
  });

const carefulRecord = (value: unknown, context: z.RefinementCtx): ActualRecord => {
  const read = knownRecord.safeParse(value);
  if (read.success) return read.data;
  const counted = countedRecord.safeParse(value);
  if (counted.success) return counted.data;
  for (const { path, message } of read.error.issues) context.addIssue({ code: 'custom', path, message });
  return z.NEVER;
};

/**
 * A template record. A listing has up to 100,000 of them, and nearly all are regular: those are accepted as
 * they are, at a fraction of the cost; the schema reads the others.
 */
export const templateRecord = z
  .unknown()
  .transform((value, context): ActualRecord => takePlain(value) ?? carefulRecord(value, context));

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
const availability = z
  .unknown()
  .optional()
  .transform((value) => ({
    isPublic: value !== false && value !== 'false' && value !== 0 && value !== '0',
    isStated: value != null,
  }));

/**
 * A template without a list of records breaks the contract too: if it counted as empty, everything would be
 * added again.
 */
export const dnsTemplate = z
  .object(
    {
      id: wholeNumber,
      name: optionalText,
      publicly_available: availability,
      subdomains: optionalNumber.catch(null),
      dns_template_records: listOf(templateRecord, takePlain).superRefine(unlikeIds),
    },
    { error: 'is not an object' },
  )
  .transform((template): ActualTemplate => ({
    id: template.id,
    name: template.name ?? '',
    publiclyAvailable: template.publicly_available.isPublic,
    ...(template.publicly_available.isStated ? {} : { isOwnerStated: false as const }),
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

const origin = z.object({ dns_template_record_id: optionalNumber });

const dnsRecord = z.unknown().transform((value, context): SubdomainRecord => {
  const record = carefulRecord(value, context);
  const read = origin.safeParse(value);
  if (read.success) return { ...record, templateRecordId: read.data.dns_template_record_id };
  for (const { path, message } of read.error.issues) context.addIssue({ code: 'custom', path, message });
  return z.NEVER;
});
export const dnsRecords = listOf(dnsRecord);
