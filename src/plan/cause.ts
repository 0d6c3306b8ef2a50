import { sameData } from '../model/canonical.ts';
import type { Cause } from './difference.ts';
import { recordKey, type ActualEntry, type DesiredEntry } from './entry.ts';
import { isTentative, knownOf, parkedKey, type PlanMemory } from './memory.ts';

/** A known record has vanished; an unknown one is new in the file. */
export const causeOfAdd = (desired: DesiredEntry, memory: PlanMemory): Cause =>
  memory.byKey.has(recordKey(desired)) ? 'drifted' : causeAtFirst(desired, memory);

/** Compares both sides with what they last agreed on. */
export const causeOfUpdate = (desired: DesiredEntry, actual: ActualEntry, memory: PlanMemory): Cause => {
  const known = memory.byId.get(actual.record.id);
  const key = recordKey(desired);
  const isRecorded = memory.byKey.has(key) || memory.causes.has(key);
  // For an update of a record that belonged to another one, the cause is why the desired record is missing.
  if (!known || (known.key !== key && isRecorded)) return causeOfAdd(desired, memory);
  const edited = !sameData(known.desired, desired.record);
  const drifted = !sameData(known.seen, actual.record);
  if (edited && drifted) return 'both';
  if (edited) return 'edited';
  return drifted ? 'drifted' : 'unknown';
};

/**
 * A surplus record that the file once listed was removed from the file, or changed at the service if the file
 * still lists it. A parked one was brought back. Any other came from elsewhere or was always there. After
 * this program reverted its own park, the cause is the one from before.
 */
export const causeOfSurplus = ({ record }: ActualEntry, memory: PlanMemory, wants: Wants): Cause => {
  const known = knownOf(memory, record);
  if (known?.key === parkedKey(record.id))
    return sameData(known.seen, record) ? (memory.causes.get(known.key) ?? 'drifted') : 'drifted';
  if (known) return wants(known.key) ? 'drifted' : 'edited';
  const isNew =
    memory.hasBeenRead && !memory.preexistingIds.has(record.id) && !isTentative(memory, record.id);
  return isNew ? 'drifted' : 'unknown';
};

/** Whether the file lists a record of this `recordKey`. */
export type Wants = (key: string) => boolean;

const causeAtFirst = (desired: DesiredEntry, memory: PlanMemory): Cause =>
  memory.causes.get(recordKey(desired)) ?? (memory.hasBeenRead ? 'edited' : 'unknown');
