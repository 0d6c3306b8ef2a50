import type { StoredRecord, Storing } from './operations.ts';
import { parseTime } from './records.ts';

/** A constant peculiarity of a service. */
export interface Nature {
  readonly stores?: Storing;
  /** The records of a template as a listing or the answer to a write shows them; `written` is the id of that write. */
  readonly shows?: (
    records: readonly StoredRecord[],
    where: 'listing' | 'answer',
    written: number | null,
  ) => readonly StoredRecord[];
  /** The value of an answer, as it is sent. */
  readonly says?: (body: unknown) => unknown;
  /** By how many milliseconds its listings are behind. */
  readonly lag?: number;
}

/** By the words that a scenario says; `*` stands for what is given. */
const natures: Readonly<Record<string, (given: string, more: string) => Nature>> = {
  'ttl at least *': (least) => storing((record) => ({ ...record, ttl: Math.max(record.ttl, Number(least)) })),
  'quotes texts': () => storing(ifText((text) => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`)),
  'ends texts with *': (end) => storing(ifText((text) => text + end)),
  'drops blanks in texts': () => storing(ifText((text) => text.replaceAll(' ', ''))),
  'breaks texts by a blank': () => storing(ifText((text) => text.replaceAll(/.{20}(?=.)/g, '$& '))),
  'refuses records beside a CNAME': () => ({
    stores: (record, _, { records }) =>
      records.some(
        (one) =>
          one.id !== record.id && one.name === record.name && [one.type, record.type].includes('CNAME'),
      )
        ? null
        : record,
  }),
  'lists * records at most': (most) => ({
    shows: (records, where) => (where === 'listing' ? records.slice(0, Number(most)) : records),
  }),
  'ends hosts with a dot': () =>
    storing((record) =>
      /^(?:CNAME|MX|PTR|SRV)$/.test(record.type)
        ? { ...record, content: `${record.content.toLowerCase().replace(/\.$/, '')}.` }
        : record,
    ),
  'ends names with *': (end) =>
    storing((record) =>
      record.name === null || record.name.endsWith(end) ? record : { ...record, name: record.name + end },
    ),
  'names the apex *': (name) => storing((record) => ({ ...record, name: record.name ?? name })),
  'stores * as *': (text, other) =>
    storing((record) => ({
      ...record,
      name: record.name?.replace(text, other) ?? null,
      content: record.content.replace(text, other),
    })),
  'ignores the * of updates': (field) => ({
    stores: (record, before) =>
      before === null ? record : { ...record, [field]: before[field as keyof StoredRecord] },
  }),
  'refuses copies': () => ({
    stores: (record, _, { records }) =>
      records.some((one) => one.id !== record.id && isCopy(one, record)) ? null : record,
  }),
  'short answers': () => ({
    shows: (records, where, written) =>
      where === 'answer' ? records.filter(({ id }) => id === written) : records,
  }),
  'shows one TTL for each record set': () => ({
    shows: (records) =>
      records.map((record) => ({ ...record, ttl: records.find((one) => isOfSet(one, record))!.ttl })),
  }),
  'lists no #*': (hidden) => ({
    shows: (records, where) =>
      where === 'listing' ? records.filter(({ id }) => id !== Number(hidden)) : records,
  }),
  'lists what was * ago': (time) => ({ lag: parseTime(time) }),
  'writes numbers as texts': () => ({ says: (body) => eachValue(body, String) }),
  'has keys of its own': () => ({ says: (body) => eachObject(body, (one) => ({ ...one, new_key: {} })) }),
  'wraps lists': () => ({ says: (body) => (Array.isArray(body) ? { data: body } : body) }),
};

/** Throws where no such nature is known. */
export const natureOf = (words: string): Nature => {
  for (const [pattern, make] of Object.entries(natures)) {
    const found = new RegExp(`^${pattern.replaceAll('*', '(.+?)')}$`).exec(words);
    if (found) return make(found[1] ?? '', found[2] ?? '');
  }
  throw new Error(`no service is known that ${words}`);
};

const storing = (store: (record: StoredRecord) => StoredRecord): Nature => ({ stores: store });

const ifText =
  (write: (text: string) => string) =>
  (record: StoredRecord): StoredRecord =>
    record.type === 'TXT' ? { ...record, content: write(record.content) } : record;

const isOfSet = (one: StoredRecord, other: StoredRecord): boolean =>
  one.type === other.type && one.name === other.name;

const isCopy = (one: StoredRecord, other: StoredRecord): boolean =>
  isOfSet(one, other) && one.content === other.content;

const eachValue = (value: unknown, write: (number: number) => unknown): unknown => {
  if (typeof value === 'number') return write(value);
  if (Array.isArray(value)) return value.map((one) => eachValue(one, write));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, eachValue(one, write)]));
};

const eachObject = (value: unknown, write: (one: object) => object): unknown => {
  if (Array.isArray(value)) return value.map((one) => eachObject(one, write));
  if (typeof value !== 'object' || value === null) return value;
  return write(Object.fromEntries(Object.entries(value).map(([key, one]) => [key, eachObject(one, write)])));
};
