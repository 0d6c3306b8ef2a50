import type { StoredRecord } from './operations.ts';

/** What a record says; a TTL may be missing, and may be a duration in a file. */
export interface RecordValues {
  readonly type: string;
  readonly name: string | null;
  readonly content: string;
  readonly priority: number | null;
  readonly ttl: string | null;
}

/**
 * `www 300 A 192.0.2.1` or `@ MX 10 mx.example.net`: name, TTL if stated, type, priority, and the rest as it is. `@` is
 * no name; a name in quotes is what they hold, as an empty one; `-` is no priority.
 */
export const parseRecord = (line: string): RecordValues => {
  const [, name = '', ttl = null, type = '', rest = ''] =
    /^(\S+)(?: (\d+[smhd]?))? ([A-Za-z]+) (.*)$/.exec(line) ?? [];
  if (type === '') throw new Error(`no record: ${line}`);
  const [, priority = null, content = rest] =
    (/^(?:mx|srv)$/i.test(type) && /^(\d+|-) (.*)$/.exec(rest)) || [];
  return {
    type,
    name: parseName(name),
    content,
    priority: priority === null || priority === '-' ? null : Number(priority),
    ttl,
  };
};

export const parseName = (text: string): string | null =>
  text === '@' ? null : text.replace(/^"(.*)"$/, '$1');

const formatName = (name: string | null): string => {
  if (name === null) return '@';
  return name === '' || name === '@' ? `"${name}"` : name;
};

/** The same line; without a TTL where that is `usual`. */
export const formatRecord = (
  {
    type,
    name,
    content,
    priority,
    ttl,
  }: Omit<RecordValues, 'ttl'> & { readonly ttl: string | number | null },
  usual: number | null = null,
): string =>
  [formatName(name), ttl === usual ? null : ttl, type, priority, content]
    .filter((part) => part !== null)
    .join(' ');

/** A record at the service, `#5 www A 192.0.2.1`: without an id it gets the next one. */
export const parseStored = (line: string, nextId: number): StoredRecord => {
  const [, id, text = ''] = /^(?:#(\d+) )?(.*)$/.exec(line) ?? [];
  const values = parseRecord(text);
  return {
    ...values,
    id: Number(id ?? nextId),
    ttl: Number(values.ttl ?? usualTtl),
  };
};

export const formatStored = (record: StoredRecord): string =>
  `#${record.id} ${formatRecord(record, usualTtl)}`;

/** Of a record at the service, where nothing is said. */
export const usualTtl = 3_600;

/** Milliseconds of `90s`, `5m`, `1h` or `1d`. */
export const parseTime = (text: string): number => {
  const [, number, unit = ''] = /^(-?\d+)(s|m|h|d)$/.exec(text) ?? [];
  if (number === undefined) throw new Error(`no duration: ${text}`);
  return Number(number) * { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit as 's' | 'm' | 'h' | 'd'];
};
