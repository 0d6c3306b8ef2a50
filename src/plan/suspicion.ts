import { byId, entryOf, recordKey, type ActualEntry, type DesiredEntry, type Pair } from './entry.ts';
import { pushTo } from '../model/group.ts';
import { copyKey, isRemembered, parkedKey, type KnownRecord, type PlanMemory } from './memory.ts';
import { bareName, isBareSame, lettersOf, mayBe } from './spelling.ts';

/** Present records that may be missing ones, by the missing one. */
export type Suspects = ReadonlyMap<DesiredEntry, ActualEntry>;

/**
 * Nothing is added beside a record that may be it and that nothing else uses:
 *
 * | the record                                        | is suspected where                                                  |
 * | ------------------------------------------------- | ------------------------------------------------------------------- |
 * | of an id of which nothing is remembered           | it may be the missing one in another spelling, of its name or, at   |
 * |                                                   | its name, of its text; after a lost add, also where it has its name |
 * |                                                   | or its content                                                      |
 * | whichever, but no other record of the file        | its name differs by a placeholder or a final dot alone; of one      |
 * |                                                   | that was parked and got its name back, if its content is the same   |
 * | that was the missing one, of another type by now  | always                                                              |
 * | that was the missing one, and is ignored by now    | always                                                              |
 * | that came beside another one with an add of it    | always                                                              |
 * | whose values nobody understands                   | it has its name, or may have                                        |
 */
export const suspectsOf = (
  missing: readonly DesiredEntry[],
  everything: readonly ActualEntry[],
  pairs: readonly Pair[],
  memory: PlanMemory,
  isOthers: (actual: ActualEntry) => boolean,
): Suspects => {
  const found = new Map<DesiredEntry, ActualEntry>();
  if (missing.length === 0 || everything.length === pairs.length) return found;
  const paired = new Set(pairs.map(({ actual }) => actual));
  const free = everything.filter((actual) => !paired.has(actual));
  const freeById = new Map(free.map((actual) => [actual.record.id, actual]));
  const index = new Map<string, ActualEntry[]>();
  for (const actual of free) for (const key of keysOf(actual)) pushTo(index, key, actual);
  const texts = new Map(
    free
      .filter(({ type, record }) => type === 'TXT' && !isRemembered(memory, record.id))
      .map((actual) => [lettersKey(actual), actual]),
  );
  for (const desired of missing) {
    const known = memory.records.get(recordKey(desired));
    const own = known?.recordId == null ? undefined : freeById.get(known.recordId);
    const isOutOfReach = own && (own.type !== desired.type || isOthers(own));
    const suspect =
      (isOutOfReach ? own : undefined) ??
      keysOf(desired)
        .flatMap((key) => index.get(key) ?? [])
        .filter((actual) => isSuspect(desired, actual, known, memory))
        .toSorted(byId)[0] ??
      texts.get(lettersKey(desired));
    if (suspect) found.set(desired, suspect);
  }
  return found;
};

const isSuspect = (
  desired: DesiredEntry,
  actual: ActualEntry,
  known: KnownRecord | undefined,
  memory: PlanMemory,
): boolean => {
  const { record, type, name, content } = actual;
  if (record.isUnreadable)
    return name === desired.name || mayBe(desired, { ...actual, content: desired.content });
  const own = memory.byId.get(record.id);
  if (own?.key === copyKey(record.id)) return recordKey(entryOf(own.wanted)) === recordKey(desired);
  if (name !== desired.name && isBareSame(name, desired.name))
    return own === undefined || (own.key === parkedKey(record.id) && content === desired.content);
  if (isRemembered(memory, record.id)) return false;
  const isOfLost = (known?.lostAdds ?? 0) > 0 && type === desired.type;
  if (isOfLost && (name === desired.name || content === desired.content))
    return recordKey(entryOf(record)) !== recordKey(desired);
  return mayBe(desired, actual);
};

const lettersKey = ({ type, name, content }: ActualEntry | DesiredEntry): string =>
  `${type} ${name} ${lettersOf(content) || content}`;

/** Whatever may be the other shares one of these with it. */
const keysOf = ({ type, name, content }: ActualEntry | DesiredEntry): readonly string[] => [
  `${type} name ${bareName(name)}`,
  `${type} letters ${lettersOf(name)}`,
  `${type} content ${content}`,
];
