import { canonicalName, canonicalType } from '../model/canonical.ts';
import { dataOf, type ActualRecord } from '../model/record.ts';
import type { Blocked } from './difference.ts';
import { recordKey, type Pair, type ActualEntry, type DesiredEntry } from './entry.ts';
import type { BlockedStep } from './order.ts';
import { isPerhaps } from './like.ts';
import { keptItsName, type PlanMemory } from './memory.ts';
import type { Block, PlanInput } from './plan-input.ts';

/** What is at the service. */
interface Present {
  readonly byId: ReadonlyMap<number, ActualRecord>;
  readonly unreadable: readonly ActualEntry[];
}

/** If the id of a missing record is still there with another type, an add would make a second record. */
export const blockOfAdd = (
  desired: DesiredEntry,
  { byId, unreadable }: Present,
  input: PlanInput,
): Blocked | null => {
  const { memory, gate } = input;
  const known = memory.byKey.get(recordKey(desired));
  const retyped = known && byId.get(known.id);
  if (retyped && !retyped.isUnreadable) {
    const message = `record ${retyped.id} was this record and now has another type: ${canonicalType(retyped.type)}`;
    return blockedAs({ reason: 'not-converging', message }, desired, retyped);
  }
  const perhaps = retyped ?? unreadable.find((entry) => mayBe(desired, entry))?.record;
  if (perhaps) {
    const message = `record ${perhaps.id} may be this record, and what the service shows of it cannot be understood: correct or delete it there`;
    return blockedAs({ reason: 'not-converging', message }, desired, perhaps);
  }
  const copy = known?.copies.flatMap((id) => byId.get(id) ?? [])[0];
  if (copy) {
    const message = `an earlier add of this record may have made record ${copy.id}: apply --retry adds another`;
    return blockedAs({ reason: 'not-converging', message }, desired, copy);
  }
  const unmoved = blockedByKeptName(desired, input);
  if (unmoved) return unmoved;
  const block = gate?.(desired, null);
  return block ? blockedAs(block, desired, null) : null;
};

/** Whether a record of values that nobody understands is of its type and name, in any spelling. */
const mayBe = (desired: DesiredEntry, entry: ActualEntry): boolean => {
  const { type, name, content, priority } = desired;
  const isAtName = entry.type === type && entry.name === name;
  return isAtName || isPerhaps(desired, { ...entry, content, priority });
};

/** For a record whose last write no listing shows yet. */
export const blockOfUnshown = ({ desired, actual, fields }: Pair, { unshown }: PlanInput): Blocked | null => {
  const block = unshown?.(actual.record.id, fields.length === 0);
  return block ? blockedAs(block, desired, actual.record) : null;
};

/** For a desired record for which no surplus record is reused. */
export const blockOfUnserved = (desired: DesiredEntry, { addGate }: PlanInput): Blocked | null => {
  const block = addGate?.(desired);
  return block ? blockedAs(block, desired, null) : null;
};

/** A record that was parked to make way, but kept its name, blocks the desired record in any spelling. */
const blockedByKeptName = (
  desired: DesiredEntry,
  { memory, actual: { records } }: PlanInput,
): Blocked | null => {
  if (memory.displaced.size === 0) return null;
  const key = recordKey(desired);
  const unmoved = records.find(
    (record) => memory.displaced.get(record.id)?.key === key && keptItsName(memory, record),
  );
  if (!unmoved) return null;
  const message = `record ${unmoved.id} was parked to make way for it, but the service kept its name`;
  return blockedAs({ reason: 'not-converging', message }, desired, unmoved);
};

/** An update cannot clear a name: fields that are not sent keep their value (specification §4.6). */
export const blockOfUpdate = ({ desired, actual, fields }: Pair, input: PlanInput): Blocked | null => {
  const { gate, memory } = input;
  const { record } = actual;
  const isForNothing = fields.length === 1 || !isNamedByService(actual, memory);
  if (desired.name === '' && fields.includes('name') && isForNothing) {
    const message = `record ${record.id} has the name ${record.name} now, and a name cannot be cleared`;
    return blockedAs({ reason: 'not-converging', message }, desired, record);
  }
  const unmoved = blockedByKeptName(desired, input);
  if (unmoved) return unmoved;
  const block = gate?.(desired, actual);
  return block ? blockedAs(block, desired, record) : null;
};

/** If the service chose the name, the other fields can still change. */
const isNamedByService = ({ name, record }: ActualEntry, memory: PlanMemory): boolean => {
  const known = memory.byId.get(record.id);
  return known?.keptName === name && canonicalName(known.desired.name) === '';
};

const blockedAs = (block: Block, desired: DesiredEntry, actual: ActualRecord | null): Blocked => ({
  action: 'blocked',
  reason: block.reason,
  desired: dataOf(desired.record),
  source: desired.record.source,
  ...(actual ? { recordId: actual.id, current: dataOf(actual) } : {}),
  ...(block.retryAt ? { retryAt: block.retryAt } : {}),
  message: block.message,
});

const describeNameless = (ids: readonly number[]): string =>
  `${ids.length === 1 ? 'record' : 'records'} ${ids.join(', ')} cannot be parked to make way: without a name, no update could restore ` +
  `${ids.length === 1 ? 'it' : 'them'}: delete by hand at the service, or list in the file what is at the service`;

export const blockedByConflict = ({ step, reason, conflicts, nameless = [] }: BlockedStep): Blocked => {
  const { difference } = step;
  return {
    action: 'blocked',
    reason,
    desired: difference.desired,
    source: difference.source,
    ...(difference.action === 'add' ? {} : { recordId: difference.recordId, current: difference.current }),
    conflicts,
    message: [
      reason === 'cname-conflict'
        ? 'a CNAME must be alone at its name (RFC 1034 §3.6.2)'
        : 'a null MX must be the only MX of its name (RFC 7505 §3)',
      ...(nameless.length === 0 ? [] : [describeNameless(nameless)]),
    ].join('; '),
  };
};
