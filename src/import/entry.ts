import { hasPriority, type RecordData } from '../model/record.ts';
import { definitionOf } from '../model/types/table.ts';
import type { ActualEntry } from '../plan/entry.ts';
import type { AllowableCheck } from '../desired/check-id.ts';
import { maxTtl } from '../desired/schema.ts';
import { scalarOf } from './scalar.ts';

/** The print width of this project's formatter. */
const maxWidth = 110;

/**
 * A desired record as an entry of `records`: one line, or several if it would be too long. `templateTtl`
 * applies if the entry states no TTL.
 */
export const entryLines = (
  entry: ActualEntry,
  templateTtl: number | null,
  allow: readonly AllowableCheck[],
): string[] => {
  const fields = fieldsOf(entry, templateTtl, allow);
  const line = `  - ${inBraces(fields)}`;
  return line.length <= maxWidth
    ? [line]
    : fields.map((field, index) => `  ${index === 0 ? '-' : ' '} ${field}`);
};

/** The same for a list in brackets. */
export const entryInBraces = (...entry: Parameters<typeof entryLines>): string =>
  inBraces(fieldsOf(...entry));

const inBraces = (fields: readonly string[]): string => `{ ${fields.join(', ')} }`;

const fieldsOf = (...[entry, templateTtl, allow]: Parameters<typeof entryLines>): string[] => {
  const { record, type, name } = entry;
  const ttl = statableTtl(record);
  return [
    ['type', type],
    ...(name === '' ? [] : [['name', valueOf(record.name!)]]),
    ...contentFields({ ...record, type }),
    ...(ttl === null || ttl === templateTtl ? [] : [['ttl', String(ttl)]]),
    ...(allow.length === 0 ? [] : [['allow', `[${allow.join(', ')}]`]]),
  ].map((field) => field.join(': '));
};

/** A text as a value of the template language, with `${` escaped. */
export const valueOf = (text: string): string => scalarOf(text.replaceAll('${', () => '$${'));

/** The TTL if a file can state it. */
export const statableTtl = ({ ttl }: RecordData): number | null =>
  ttl !== null && ttl >= 0 && ttl <= maxTtl ? ttl : null;

/** Any record in one readable line. */
export const shownRecord = ({ type, name, content, priority, ttl }: RecordData): string => {
  const fields = Object.entries({ type, name, content, priority, ttl })
    .filter(([, value]) => value !== null)
    .map(([key, value]) => `${key}: ${typeof value === 'string' ? scalarOf(value) : value}`);
  return `{ ${fields.join(', ')} }`;
};

const contentFields = (record: RecordData): string[][] => {
  const priority =
    hasPriority(record.type) && record.priority !== null ? [['priority', String(record.priority)]] : [];
  const parts = definitionOf(record.type)?.parts?.of(record.content) ?? null;
  // Invalid content is written as it is.
  if (parts === null) return [['content', valueOf(record.content)], ...priority];
  return [
    ...priority,
    ['weight', String(parts.weight)],
    ['port', String(parts.port)],
    ['target', valueOf(parts.target)],
  ];
};
