import { sameData } from '../model/canonical.ts';
import type { RecordData } from '../model/record.ts';
import type { Displaced } from '../plan/memory.ts';
import type { Acceptance, Intent, MemoryChanges, Memory, RecordState } from './memory.ts';

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
  const storedOf = (stored: Acceptance | null): Acceptance | null =>
    stored?.replaced ? { ...stored, replaced: stored.replaced.map(dataOf) } : stored;
  const recordOf = (record: RecordState): RecordState => {
    const { key, wanted, seen, keptName, rewritten, displaced = null } = record;
    const stored = storedOf(record.stored);
    // No file lists a parked record.
    if (key.startsWith('#'))
      return {
        ...record,
        wanted: dataOf(wanted),
        seen: dataOf(seen),
        stored,
        displaced: displacedOf(displaced),
      };
    if (saysItself(wanted)) return { ...record, stored };
    return {
      ...record,
      seen: dataOf(seen),
      stored,
      ...(keptName === undefined ? {} : { keptName: scrub(keptName) }),
      rewritten: rewritten && { ...rewritten, stored: dataOf(rewritten.stored) },
    };
  };
  const changesOf = (changes: MemoryChanges): MemoryChanges => ({
    ...changes,
    records: changes.records.map(recordOf),
  });
  const intentOf = <Of extends Omit<Intent, 'id'>>(intent: Of): Of => {
    const { before } = intent;
    return before && isSecret(before) ? { ...intent, before: dataOf(before), makesWayFor: null } : intent;
  };
  return {
    ...memory,
    begin: async (intent) => ({ ...intent, id: (await memory.begin(intentOf(intent))).id }),
    finish: (intent, result, changes) => memory.finish(intentOf(intent), result, changesOf(changes)),
    save: (changes) => memory.save(changesOf(changes)),
  };
};
