import { dataOf } from '../model/record.ts';
import { causeOfAdd, causeOfSurplus, causeOfUpdate, type Wants } from './cause.ts';
import type { Pair, Present, Wanted } from './entry.ts';
import type { Displaced, PlanMemory } from './memory.ts';
import type { AddStep, ParkStep, UpdateStep } from './step.ts';
import { parkedForm } from './parked.ts';

export const updateStep = ({ wanted, present, fields }: Pair, memory: PlanMemory): UpdateStep => ({
  difference: {
    action: 'update',
    recordId: present.record.id,
    current: dataOf(present.record),
    desired: dataOf(wanted.record),
    fields,
    cause: causeOfUpdate(wanted, present, memory),
    source: wanted.record.source,
  },
  wanted,
  present,
});

export const addStep = (wanted: Wanted, memory: PlanMemory): AddStep => ({
  difference: {
    action: 'add',
    desired: dataOf(wanted.record),
    cause: causeOfAdd(wanted, memory),
    source: wanted.record.source,
  },
  wanted,
});

/** Puts a parked record back to what it was. */
export const restoreStep = (present: Present, { was, cause }: Displaced): ParkStep => ({
  difference: {
    action: 'park',
    recordId: present.record.id,
    current: dataOf(present.record),
    desired: { ...was, ttl: null },
    cause,
  },
  present,
});

export const parkStep = (present: Present, memory: PlanMemory, wants: Wants): ParkStep => ({
  difference: {
    action: 'park',
    recordId: present.record.id,
    current: dataOf(present.record),
    desired: parkedForm(present.record, present.type),
    cause: causeOfSurplus(present, memory, wants),
  },
  present,
});
