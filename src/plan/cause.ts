import { sameData } from '../model/canonical.ts';
import type { Cause } from './difference.ts';
import { recordKey, type Present, type Wanted } from './entry.ts';
import { isClaimed, knownOf, parkedKey, type PlanMemory } from './memory.ts';

/** A record that had been there has vanished; one that memory never met is new in the file. */
export const causeOfAdd = (wanted: Wanted, memory: PlanMemory): Cause =>
  memory.byKey.has(recordKey(wanted)) ? 'drifted' : causeAtFirst(wanted, memory);

/** Against what file and service last agreed on: which of the two has moved since. */
export const causeOfUpdate = (wanted: Wanted, present: Present, memory: PlanMemory): Cause => {
  const known = memory.byId.get(present.record.id);
  const key = recordKey(wanted);
  const isMet = memory.byKey.has(key) || memory.causes.has(key);
  // Over a record that stood for another one, what counts is how the wanted one came to be missing.
  if (!known || (known.key !== key && isMet)) return causeOfAdd(wanted, memory);
  const edited = !sameData(known.wanted, wanted.record);
  const drifted = !sameData(known.seen, present.record);
  if (edited && drifted) return 'both';
  if (edited) return 'edited';
  return drifted ? 'drifted' : 'unknown';
};

/**
 * A surplus record that the file once wanted was dropped from it, if nothing there wants it any more, else it was
 * changed at the service; one that was parked was brought back; any other came from elsewhere, or was always there.
 * Where this program took its own park back, it is what it was before.
 */
export const causeOfSurplus = ({ record }: Present, memory: PlanMemory, wants: Wants): Cause => {
  const known = knownOf(memory, record);
  if (known?.key === parkedKey(record.id))
    return sameData(known.seen, record) ? (memory.causes.get(known.key) ?? 'drifted') : 'drifted';
  if (known) return wants(known.key) ? 'drifted' : 'edited';
  const isNew = memory.familiar && !memory.strangers.has(record.id) && !isClaimed(memory, record.id);
  return isNew ? 'drifted' : 'unknown';
};

/** Whether the file wants a record of this `recordKey`. */
export type Wants = (key: string) => boolean;

const causeAtFirst = (wanted: Wanted, memory: PlanMemory): Cause =>
  memory.causes.get(recordKey(wanted)) ?? (memory.familiar ? 'edited' : 'unknown');
