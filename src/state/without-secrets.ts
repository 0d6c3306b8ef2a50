import { sameData } from '../model/canonical.ts';
import type { RecordData } from '../model/record.ts';
import { isOfDesired } from '../plan/memory.ts';
import type { Memory, NewEntry, SavedRecord } from './memory.ts';

/**
 * The same state, without secrets that a service has put into a record: they are redacted, and a later
 * comparison finds a change. Values from files stay, secret or not, since a write is recognised only by the
 * values that were sent.
 */
export const withoutSecrets = (memory: Memory, scrub: (text: string) => string): Memory => {
  /** Every text in it. */
  const scrubbed = <T>(value: T): T =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of the same form
    JSON.parse(JSON.stringify(value), (_, one: unknown) => (typeof one === 'string' ? scrub(one) : one)) as T;
  const isSecret = (data: RecordData | null | undefined): boolean =>
    !!data && !sameData(scrubbed(data), data);
  const recordOf = (record: SavedRecord): SavedRecord => {
    const { key, wanted, displaced = null } = record;
    // No file lists a parked record.
    const isListed = isOfDesired(key);
    if (isListed && isSecret(wanted)) return record;
    // A record with a redacted secret cannot be restored.
    const kept = { key, displaced: isSecret(displaced?.was) ? null : displaced };
    return { ...scrubbed(record), ...kept, ...(isListed && { wanted }) };
  };
  const entryOf = <Of extends NewEntry>(entry: Of): Of => {
    const { before, stored, after } = entry;
    const known = isSecret(after) ? entry : { ...entry, stored: scrubbed(stored) };
    return isSecret(before) ? { ...known, before: scrubbed(before), makesWayFor: null } : known;
  };
  return {
    ...memory,
    begin: async (entry) => ({ ...entry, id: (await memory.begin(entryOf(entry))).id }),
    save: (changes) => {
      // As nearly always: one look at all of it costs far less than a look at each text.
      const text = textsIn(changes).join('\n');
      if (scrub(text) === text) return memory.save(changes);
      return memory.save({
        ...changes,
        records: changes.records.map(recordOf),
        entries: changes.entries.map(entryOf),
        history: changes.history.map((entry) => ({ ...entry, before: scrubbed(entry.before) })),
      });
    },
  };
};

/** In one list: the first pass saves some of each of a hundred thousand records. */
const textsIn = (value: unknown, found: string[] = []): string[] => {
  if (typeof value === 'string') found.push(value);
  else if (typeof value === 'object' && value !== null)
    for (const one of Object.values(value)) textsIn(one, found);
  return found;
};
