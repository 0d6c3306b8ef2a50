import { recordKey, setKey, type ActualEntry } from '../plan/entry.ts';
import { statableTtl } from './entry.ts';
import type { ExistingEntry } from './existing-entries.ts';

/** Records at their position in the file. */
export interface EntrySlot {
  /** Comment and blank lines before it. */
  readonly lead: readonly string[];
  /** The existing lines if they still apply; null if they have to be written. */
  readonly lines: readonly string[] | null;
  /** The comment at the end, with its `#`. */
  readonly trailing: string;
  readonly records: readonly ActualEntry[];
  /** Whether the file states no TTL for these records. */
  readonly isOpen: boolean;
}

export interface Arrangement {
  readonly slots: readonly EntrySlot[];
  /** The template's TTL for records without one. */
  readonly ttl: number | null;
  /** Whether it changes. */
  readonly isNewTtl: boolean;
  /** Whether all entries are kept and none is new. */
  readonly isSame: boolean;
}

/**
 * The desired records in the order of the existing file. An entry that still applies keeps its lines. A
 * changed record takes the place of the old one; a new one comes after the last of its set, else of its type.
 */
export const arrange = (entries: readonly ExistingEntry[], desired: readonly ActualEntry[]): Arrangement => {
  const actual = new Map(desired.map((one) => [recordKey(one), one]));
  const stated = new Set(entries.flatMap(({ records }) => records.map(({ key }) => key)));
  const unplaced = new Set(desired.filter((one) => !stated.has(recordKey(one))));
  const ttl = templateTtl(entries, actual);
  const slots: EntrySlot[] = [];
  let dropped: readonly string[] | null = null;
  for (const entry of entries) {
    const records = entry.records.flatMap(
      (one) => actual.get(one.key) ?? removeOfSet(one.setKey, unplaced) ?? [],
    );
    if (records.length === 0) {
      dropped = [...(dropped ?? []), ...headingOf(entry.lead)];
      continue;
    }
    const lead = [...(dropped ?? []), ...entry.lead];
    slots.push({
      lead: slots.length === 0 && dropped !== null ? withoutFirstBlanks(lead) : lead,
      lines: isAsStated(entry, actual, ttl) ? entry.lines : null,
      trailing: entry.trailing,
      records,
      isOpen: entry.inheritsTtl && entry.records.every((one) => one.ttl === null),
    });
    dropped = null;
  }
  for (const record of unplaced) addSlot(record, slots);
  const isSame = slots.length === entries.length && slots.every(({ lines }) => lines !== null);
  return { slots, ...ttl, isSame };
};

type TemplateTtl = Pick<Arrangement, 'ttl' | 'isNewTtl'>;

/**
 * The TTL that all records without their own have in common; null if one of them has a TTL that a file cannot
 * state.
 */
const templateTtl = (
  entries: readonly ExistingEntry[],
  actual: ReadonlyMap<string, ActualEntry>,
): TemplateTtl => {
  const inheriting = entries.flatMap(({ inheritsTtl, records }) =>
    inheritsTtl ? records.filter(({ ttl }) => ttl !== null) : [],
  );
  const before = inheriting[0]?.ttl ?? null;
  const held = inheriting
    .flatMap(({ key }) => actual.get(key) ?? [])
    .map(({ record }) => statableTtl(record));
  const [first = before] = held;
  const after = held.includes(null) ? null : held.every((ttl) => ttl === first) ? first : before;
  return { ttl: after, isNewTtl: after !== before };
};

const isAsStated = (
  { records, inheritsTtl }: ExistingEntry,
  actual: ReadonlyMap<string, ActualEntry>,
  { ttl }: TemplateTtl,
): boolean =>
  records.every((one) => {
    const held = actual.get(one.key);
    const desired = inheritsTtl && one.ttl !== null ? ttl : one.ttl;
    return held !== undefined && (desired === null || desired === held.record.ttl);
  });

const removeOfSet = (key: string, unplaced: Set<ActualEntry>): ActualEntry | undefined => {
  const found = [...unplaced].find((one) => setKey(one) === key);
  if (found) unplaced.delete(found);
  return found;
};

const addSlot = (record: ActualEntry, slots: EntrySlot[]): void => {
  const isOfSet = (one: ActualEntry): boolean => setKey(one) === setKey(record);
  const isOfType = (one: ActualEntry): boolean => one.type === record.type;
  const after =
    [isOfSet, isOfType]
      .map((isLike) => slots.findLastIndex(({ records }) => records.some(isLike)))
      .find((index) => index >= 0) ?? slots.length - 1;
  slots.splice(after + 1, 0, { lead: [], lines: null, trailing: '', records: [record], isOpen: false });
};

/** Lines before a blank line belong to more than the next entry. */
const headingOf = (lead: readonly string[]): readonly string[] =>
  lead.slice(0, Math.max(0, lead.lastIndexOf('')));

const withoutFirstBlanks = (lines: readonly string[]): readonly string[] => {
  const first = lines.findIndex((line) => line.trim() !== '');
  return first < 0 ? [] : lines.slice(first);
};
