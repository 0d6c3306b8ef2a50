import { dataOf } from '../model/record.ts';
import { causeOfAdd, causeOfSurplus, causeOfUpdate } from './cause.ts';
import type { ActualEntry, DesiredEntry, DesiredKeys, Pair } from './entry.ts';
import type { Displaced, PlanMemory } from './memory.ts';
import type { AddStep, ParkStep, UpdateStep } from './step.ts';
import { parkedForm } from './parked.ts';

export const updateStep = ({ desired, actual, fields }: Pair, memory: PlanMemory): UpdateStep => ({
  difference: {
    action: 'update',
    recordId: actual.record.id,
    current: dataOf(actual.record),
    desired: dataOf(desired.record),
    fields,
    cause: causeOfUpdate(desired, actual, memory),
    source: desired.record.source,
  },
  desired,
  actual,
});

export const addStep = (desired: DesiredEntry, memory: PlanMemory): AddStep => ({
  difference: {
    action: 'add',
    desired: dataOf(desired.record),
    cause: causeOfAdd(desired, memory),
    source: desired.record.source,
  },
  desired,
});

/** Puts a parked record back to what it was. */
export const restoreStep = (actual: ActualEntry, { was, cause }: Displaced): ParkStep => ({
  difference: {
    action: 'park',
    recordId: actual.record.id,
    current: dataOf(actual.record),
    desired: { ...was, ttl: null },
    cause,
  },
  actual,
});

export const parkStep = (actual: ActualEntry, memory: PlanMemory, desiredKeys: DesiredKeys): ParkStep => ({
  difference: {
    action: 'park',
    recordId: actual.record.id,
    current: dataOf(actual.record),
    desired: parkedForm(actual.record, actual.type),
    cause: causeOfSurplus(actual, memory, desiredKeys),
  },
  actual,
});
