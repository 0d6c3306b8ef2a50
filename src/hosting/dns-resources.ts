import { isYieldDue, yieldToOthers } from '../lib/yield.ts';
import { hasPriority, isRecordType, type ActualRecord } from '../model/record.ts';
import type { ActualTemplate, SubdomainRecord } from '../model/template.ts';
import {
  Breach,
  elementOf,
  fieldOf,
  fieldsOf,
  idIn,
  listOf,
  numberIn,
  optionalNumber,
  optionalText,
  textOf,
  unlikeIds,
  type Fields,
} from './fields.ts';

/*
 * Templates and records (specification §2), tolerant of what the service may send, but strict about what decisions
 * depend on. Unknown keys are dropped. Written by hand, since a listing may have 100,000 records.
 */

/**
 * A record breaks the contract without id and type, or without the name that decides what may stand beside it. If it is
 * of a type that this program does not know, or other values cannot be understood, it is only counted.
 */
const readRecord = (value: unknown): ActualRecord => {
  const fields = fieldsOf(value);
  const id = idIn(fields);
  const type = typeIn(fields);
  const isKnown = isRecordType(type.toUpperCase());
  const name = optionalText(fields['name']);
  if (name === undefined && isKnown) throw new Breach('is not text', '.name');
  const content = textOf(fields['content']);
  const ttl = optionalNumber(fields['ttl']);
  const priority = optionalNumber(fields['priority']);
  const record = {
    id,
    type,
    name: name ?? null,
    content: content ?? '',
    priority: priority ?? null,
    ttl: ttl ?? null,
  };
  // Only MX and SRV have a priority (specification §4.5).
  const isReadable =
    content !== undefined &&
    ttl !== undefined &&
    (priority !== undefined || !hasPriority(type.toUpperCase()));
  return isReadable || !isKnown ? record : { ...record, isUnreadable: true };
};

const typeIn = ({ type }: Fields): string => {
  if (typeof type !== 'string') throw new Breach('is not text', '.type');
  if (type === '') throw new Breach('is empty', '.type');
  return type;
};

/**
 * A template without a list of records breaks the contract too: if it counted as empty, everything would be added again.
 * Only an explicit "no" makes it the client's own: public ones must never be written.
 */
export const readTemplate = (value: unknown): ActualTemplate => {
  const fields = fieldsOf(value);
  const isPublic = fields['publicly_available'];
  return {
    id: idIn(fields),
    name: fieldOf(fields, 'name', nameOf),
    publiclyAvailable: isPublic !== false && isPublic !== 'false' && isPublic !== 0 && isPublic !== '0',
    ...(isPublic === null || isPublic === undefined ? { isOwnerStated: false as const } : {}),
    subdomains: optionalNumber(fields['subdomains']) ?? null,
    records: fieldOf(fields, 'dns_template_records', readRecords),
  };
};

const nameOf = (value: unknown): string => {
  const name = optionalText(value);
  if (name === undefined) throw new Breach('is not text');
  return name ?? '';
};

const readRecords = (value: unknown): readonly ActualRecord[] => unlikeIds(listOf(value, readRecord));

/** A template that is as before is the same object as before. */
export const readTemplates = async (
  value: unknown,
  before: readonly ActualTemplate[],
): Promise<readonly ActualTemplate[]> => {
  const known = new Map(before.map((template) => [template.id, template]));
  const templates: ActualTemplate[] = [];
  for (const [index, element] of listOf(value, (one) => one).entries()) {
    if (isYieldDue()) await yieldToOthers();
    const template = elementOf(element, index, readTemplate);
    const former = known.get(template.id);
    templates.push(former !== undefined && isSame(former, template) ? former : template);
  }
  return unlikeIds(templates);
};

const isSame = (one: ActualTemplate, other: ActualTemplate): boolean =>
  haveSame(templateKeys, one, other) &&
  one.records.length === other.records.length &&
  one.records.every((record, index) => haveSame(recordKeys, record, other.records[index]!));

const haveSame = <T>(keys: readonly (keyof T)[], one: T, other: T): boolean =>
  keys.every((key) => one[key] === other[key]);

const templateKeys = ['name', 'publiclyAvailable', 'isOwnerStated', 'subdomains'] as const;
const recordKeys = ['id', 'type', 'name', 'content', 'priority', 'ttl', 'isUnreadable'] as const;

export const readSubdomainRecord = (value: unknown): SubdomainRecord => ({
  ...readRecord(value),
  templateRecordId: numberIn(fieldsOf(value), 'dns_template_record_id'),
});
