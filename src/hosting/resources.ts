import { isYieldDue, yieldToOthers } from '../lib/yield.ts';
import { hasPriority, isRecordType, type ActualRecord } from '../model/record.ts';
import type { ActualTemplate, SubdomainRecord } from '../model/template.ts';

/*
 * The resources of the service (specification §2), in the forms that a service may write them: numbers also as text, and
 * null, nothing or an empty text where there is none. Strict about what decisions depend on; unknown keys are dropped.
 * Written by hand, since a listing may have 100,000 records.
 */

/** What is not as specified: the place in the answer, which is only put together on the way out, and the problem. */
export class Breach extends Error {
  override name = 'Breach';
}

type Fields = Readonly<Record<string, unknown>>;

export const readObject = (value: unknown): Fields => {
  if (isFields(value)) return value;
  throw new Breach(' is not an object');
};

export const readObjects = (value: unknown): readonly Fields[] => listOf(value, readObject);

/** A template that is as before is the same object as before. */
export const readTemplates = async (
  value: unknown,
  before: readonly ActualTemplate[],
): Promise<readonly ActualTemplate[]> => {
  const known = new Map(before.map((template) => [template.id, template]));
  const templates: ActualTemplate[] = [];
  for (const [index, element] of listOf(value, (one) => one).entries()) {
    if (isYieldDue()) await yieldToOthers();
    const template = within(`[${index}]`, element, readTemplate);
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

/**
 * A template without a list of records breaks the contract: if it counted as empty, everything would be added again.
 * Only an explicit "no" makes it the client's own: public ones must never be written.
 */
export const readTemplate = (value: unknown): ActualTemplate => {
  const fields = readObject(value);
  const isPublic = fields['publicly_available'] ?? null;
  const name = textOf(fields['name'] ?? '');
  if (name === undefined) throw new Breach('.name is not text');
  return {
    id: idIn(fields),
    name,
    publiclyAvailable: !nos.has(isPublic),
    ...(isPublic === null ? { isOwnerStated: false as const } : {}),
    subdomains: numberOrNull(fields['subdomains']) ?? null,
    records: within('.dns_template_records', fields['dns_template_records'], (list) =>
      unlikeIds(listOf(list, readRecord)),
    ),
  };
};

const nos = new Set<unknown>([false, 'false', 0, '0']);

export const readSubdomainRecords = (value: unknown): SubdomainRecord[] =>
  listOf(value, (one) => {
    const templateRecordId = numberOrNull(readObject(one)['dns_template_record_id']);
    if (templateRecordId === undefined)
      throw new Breach('.dns_template_record_id is neither a whole number nor null');
    return { ...readRecord(one), templateRecordId };
  });

/**
 * A record breaks the contract without id and type, or without the name that decides what may stand beside it. If it is
 * of a type that this program does not know, or other values cannot be understood, it is only counted.
 */
const readRecord = (value: unknown): ActualRecord => {
  const fields = readObject(value);
  const id = idIn(fields);
  const { type } = fields;
  if (typeof type !== 'string' || type === '') throw new Breach('.type is not text, or empty');
  const isKnown = isRecordType(type.toUpperCase());
  const name = fields['name'] == null ? null : textOf(fields['name']);
  if (name === undefined && isKnown) throw new Breach('.name is not text');
  const content = textOf(fields['content']);
  const ttl = numberOrNull(fields['ttl']);
  const priority = numberOrNull(fields['priority']);
  const record = {
    id,
    type,
    name: name ?? null,
    content: content ?? '',
    priority: priority ?? null,
    ttl: ttl ?? null,
  };
  // Only MX and SRV have a priority (specification §4.5).
  const isPriorityRead = priority !== undefined || !hasPriority(type.toUpperCase());
  const isRead = content !== undefined && ttl !== undefined && isPriorityRead;
  return isRead || !isKnown ? record : { ...record, isUnreadable: true };
};

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Ends at the first element that is not as specified. */
const listOf = <T>(value: unknown, read: (element: unknown) => T): T[] => {
  if (!Array.isArray(value)) throw new Breach(' is not an array');
  return value.map((element: unknown, index) => within(`[${index}]`, element, read));
};

const within = <T>(place: string, value: unknown, read: (value: unknown) => T): T => {
  try {
    return read(value);
  } catch (error) {
    throw error instanceof Breach ? new Breach(place + error.message) : error;
  }
};

const idIn = (fields: Fields): number => {
  const id = wholeOf(fields['id']);
  if (id === undefined) throw new Breach('.id is not a whole number');
  return id;
};

/** Rejects an id that occurs twice: no write could tell the two apart. */
const unlikeIds = <T extends { readonly id: number }>(list: readonly T[]): readonly T[] => {
  const ids = new Set<number>();
  for (const [index, { id }] of list.entries())
    if (ids.size === ids.add(id).size) throw new Breach(`[${index}].id ${id} occurs twice`);
  return list;
};

/** Undefined, as from the following two, for what is none. */
const numberOrNull = (value: unknown): number | null | undefined =>
  value === null || value === undefined || value === '' ? null : wholeOf(value);

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined;

const wholeOf = (value: unknown): number | undefined => {
  const number = typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
};
