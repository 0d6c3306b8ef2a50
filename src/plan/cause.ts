import { canonicalRecord, sameData } from '../model/canonical.ts';
import type { Cause } from './difference.ts';
import { recordKey, type ActualEntry, type DesiredEntry, type DesiredKeys } from './entry.ts';
import { parkedKey, type PlanMemory } from './memory.ts';

/** A known record has vanished; an unknown one is new in the file. */
export const causeOfAdd = (desired: DesiredEntry, { records, hasBeenRead }: PlanMemory): Cause => {
  const known = records.get(recordKey(desired));
  if (known && known.recordId !== null) return 'drifted';
  return known?.cause ?? (hasBeenRead ? 'edited' : 'unknown');
};

/** Compares both sides with what they last agreed on. */
export const causeOfUpdate = (desired: DesiredEntry, actual: ActualEntry, memory: PlanMemory): Cause => {
  const known = memory.byId.get(actual.record.id);
  const key = recordKey(desired);
  // For an update of a record that belonged to another one, the cause is why the desired record is missing.
  const isAnother = known?.key !== key;
  if (!known || (isAnother && (memory.records.has(key) || !memory.hasBeenRead)))
    return causeOfAdd(desired, memory);
  const edited = !sameData(known.wanted, desired.record);
  const drifted = !sameData(known.seen ?? known.wanted, actual.record);
  if (edited && drifted) return 'both';
  if (edited) return 'edited';
  return drifted ? 'drifted' : 'unknown';
};

/**
 * A surplus record that the file once listed was removed from the file, or changed at the service if the file
 * still lists it. A parked one was brought back. Any other came from elsewhere or was always there. After
 * this program undid its own park, the cause is the one from before.
 */
export const causeOfSurplus = (
  { record }: ActualEntry,
  memory: PlanMemory,
  desiredKeys: DesiredKeys,
): Cause => {
  const known = memory.byId.get(record.id);
  if (known?.key === parkedKey(record.id))
    return sameData(known.seen ?? known.wanted, record) ? (known.cause ?? 'drifted') : 'drifted';
  if (known) return desiredKeys.has(recordKey(canonicalRecord(known.wanted))) ? 'drifted' : 'edited';
  return memory.hasBeenRead && !memory.preexistingIds.has(record.id) ? 'drifted' : 'unknown';
};
