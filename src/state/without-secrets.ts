import { sameData } from '../model/canonical.ts';
import type { RecordData } from '../model/record.ts';
import { isOfDesired, type Displaced } from '../plan/memory.ts';
import type { Entry, Memory, MemoryChanges, NewEntry, SavedRecord } from './memory.ts';

/**
 * The same state, without secrets that a service has put into a record: they are redacted, and a later
 * comparison finds a change. Values from files stay, secret or not, since a write is recognised only by the
 * values that were sent.
 */
export const withoutSecrets = (memory: Memory, scrub: (text: string) => string): Memory => {
  const dataOf = <Data extends RecordData | null>(data: Data): Data =>
    data && {
      ...data,
      type: scrub(data.type),
      name: data.name === null ? null : scrub(data.name),
      content: scrub(data.content),
    };
  const saysItself = (wanted: RecordData): boolean =>
    [wanted.type, wanted.name ?? '', wanted.content].some((text) => scrub(text) !== text);
  const isSecret = (data: RecordData): boolean => !sameData(dataOf(data), data);
  /** A record with a redacted secret cannot be restored. */
  const displacedOf = (displaced: Displaced | null): Displaced | null =>
    displaced && isSecret(displaced.was) ? null : displaced;
  const recordOf = (record: SavedRecord): SavedRecord => {
    const { key, wanted, seen = null, keptName = null, rewritten = null, displaced = null } = record;
    // No file lists a parked record.
    if (!isOfDesired(key))
      return { ...record, wanted: dataOf(wanted), seen: dataOf(seen), displaced: displacedOf(displaced) };
    if (saysItself(wanted)) return record;
    return {
      ...record,
      seen: dataOf(seen),
      keptName: keptName === null ? null : scrub(keptName),
      rewritten: rewritten && { ...rewritten, stored: dataOf(rewritten.stored) },
    };
  };
  const entryOf = <Of extends NewEntry>(entry: Of): Of => {
    const { before, stored, after } = entry;
    const known = saysItself(after) ? entry : { ...entry, stored: dataOf(stored) };
    return before && isSecret(before) ? { ...known, before: dataOf(before), makesWayFor: null } : known;
  };
  const changesOf = (changes: MemoryChanges): MemoryChanges => ({
    ...changes,
    records: changes.records.map(recordOf),
    entries: changes.entries.map((entry): Entry => entryOf(entry)),
    history: changes.history.map((entry) => ({ ...entry, before: dataOf(entry.before) })),
  });
  return {
    ...memory,
    begin: async (entry) => ({ ...entry, id: (await memory.begin(entryOf(entry))).id }),
    save: (changes) => memory.save(changesOf(changes)),
  };
};
