import { asSent, canonicalName } from '../model/canonical.ts';
import { hasPriority, type RecordData } from '../model/record.ts';
import { definitionOf } from '../model/types/table.ts';
import type { Add, Park, Update } from './difference.ts';
import { recordKey, type ActualEntry, type DesiredEntry } from './entry.ts';
import { parkedKey } from './memory.ts';
import { isParkedName } from './parked.ts';

/** One write, with the difference that it resolves. */
export type Step = AddStep | UpdateStep | ParkStep;

export interface AddStep {
  readonly difference: Add;
  readonly desired: DesiredEntry;
}

/** Changes a record in place, or reuses a surplus one. */
export interface UpdateStep {
  readonly difference: Update;
  readonly desired: DesiredEntry;
  readonly actual: ActualEntry;
}

export interface ParkStep {
  readonly difference: Park;
  readonly actual: ActualEntry;
}

export const isUpdate = (step: Step): step is UpdateStep => step.difference.action === 'update';
export const isPark = (step: Step): step is ParkStep => step.difference.action === 'park';

/** Whether it restores a parked record. */
export const isRestore = (step: ParkStep): boolean =>
  !isParkedName(canonicalName(step.difference.desired.name));

/** The actual record that a step changes. */
export const actualOf = (step: Step): ActualEntry | null => ('actual' in step ? step.actual : null);

/** The record at the service after a step. */
export const resultOf = (step: Step): RecordData => step.difference.desired;

/** Identifies a step over all plans of a pass. */
export const stepKey = (step: Step): string => {
  if (!isPark(step)) return recordKey(step.desired);
  const key = parkedKey(step.actual.record.id);
  return isRestore(step) ? `${key} back` : key;
};

/** Identifies a write by its result and its record. Which record is put to another use does not matter. */
export const writeKey = (step: Step): string => {
  const isMoved = isUpdate(step) && step.difference.fields.includes('name');
  return `${isMoved ? 'moved' : (actualOf(step)?.record.id ?? 'new')} ${stepKey(step)}`;
};

/** Whether a record enters or leaves a name by it. */
export const movesName = (step: Step): boolean => !isUpdate(step) || step.difference.fields.includes('name');

/** What an add sends (specification §4.5). Null values are not sent. */
export interface RecordAddition {
  readonly type: string;
  readonly content: string;
  readonly name: string | null;
  readonly ttl: number | null;
  readonly priority: number | null;
}

/** What an update sends (specification §4.6). Null values are not sent and stay as they are. */
export interface RecordChange {
  readonly recordId: number;
  readonly content: string | null;
  readonly name: string | null;
  readonly ttl: number | null;
  readonly priority: number | null;
}

export const additionOf = ({ difference: { desired } }: AddStep): RecordAddition => ({
  ...asSent(desired),
  priority: hasPriority(desired.type) ? desired.priority : null,
});

/** The fields that change, and those that the type requires. */
export const changeOf = ({ difference }: UpdateStep | ParkStep): RecordChange => {
  const { current, recordId } = difference;
  const desired = asSent(difference.desired);
  const changes =
    difference.action === 'update' ? new Set<string>(difference.fields) : new Set(['name', 'content']);
  const definition = definitionOf(current.type.toUpperCase());
  const sendsName = changes.has('name') || definition?.name === 'required';
  return {
    recordId,
    content: changes.has('content') ? desired.content : null,
    name: sendsName ? desired.name : null,
    ttl: changes.has('ttl') ? desired.ttl : null,
    priority: definition?.hasPriority === true ? (desired.priority ?? current.priority) : null,
  };
};
