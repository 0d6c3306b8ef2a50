import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalRecord } from '../../src/model/canonical.ts';
import { dataOf, isRecordType, type ActualRecord, type RecordData } from '../../src/model/record.ts';
import { matchesIgnore } from '../../src/plan/ignore.ts';
import { planTemplate, type TemplatePlan } from '../../src/plan/plan.ts';
import { actualOf, isPark, isUpdate, resultOf } from '../../src/plan/step.ts';
import { situations, tidySituations, type Situation } from './generators.ts';
import { differencesOf, recordLine } from './records.ts';
import { converge, isParked } from './service.ts';

const runs = { numRuns: process.env['CI'] ? 1_000 : 200 };

const holds = (law: (situation: Situation) => void): void => {
  fc.assert(fc.property(situations, law), runs);
};

const withSurplus = (situation: Situation, surplus: 'report' | 'park', adopt = false): Situation => ({
  ...situation,
  desired: { ...situation.desired, surplus, adopt },
});

test('a plan is the same for any order of the records on either side, and does not change its input', () => {
  const said = (plan: TemplatePlan): unknown => [differencesOf(plan), plan.inSync, plan.parked, plan.ignored];
  fc.assert(
    fc.property(situations, fc.infiniteStream(fc.nat()), (situation, numbers) => {
      const shuffled = <Thing>(things: readonly Thing[]): Thing[] =>
        things
          .map((thing) => ({ thing, number: numbers.next().value }))
          .toSorted((a, b) => a.number - b.number)
          .map(({ thing }) => thing);
      const turned = {
        ...situation,
        desired: { ...situation.desired, records: shuffled(situation.desired.records) },
        actual: { ...situation.actual, records: shuffled(situation.actual.records) },
      };
      expect(said(planTemplate(deepFrozen(turned)))).toEqual(said(planTemplate(situation)));
    }),
    runs,
  );
});

test('a plan contains every record of either side once', () => {
  holds((situation) => {
    const plan = planTemplate(situation);
    const ids = plan.steps.flatMap((step) => actualOf(step)?.record.id ?? []);
    const adds = plan.steps.filter((step) => actualOf(step) === null).length;
    const updates = plan.steps.filter(isUpdate).length;
    const used = new Set([...plan.pairs.map((pair) => pair.actual.record.id), ...ids]);
    const surplus = plan.surplus.map(({ recordId }) => recordId);
    for (const { recordId, reason } of plan.blocked)
      if (recordId !== undefined && reason.endsWith('-conflict')) used.add(recordId);
    expect(plan.inSync + adds + updates + plan.blocked.length).toBe(situation.desired.records.length);
    expect(new Set([...used, ...surplus]).size).toBe(used.size + surplus.length);
    expect(used.size + surplus.length + plan.parked + plan.ignored).toBe(situation.actual.records.length);
  });
});

test('park never sends more adds than report needs', () => {
  const addsIn = ({ steps }: TemplatePlan): number =>
    steps.filter(({ difference }) => difference.action === 'add').length;
  const neededBy = (plan: TemplatePlan): number =>
    addsIn(plan) +
    plan.blocked.filter(({ recordId, reason }) => recordId === undefined || reason === 'not-converging')
      .length;
  // What is parked to make way serves a later step.
  const sentBy = (plan: TemplatePlan): number =>
    addsIn(plan) - [...plan.clearsFor.keys()].filter(isPark).length;
  fc.assert(
    fc.property(situations, fc.boolean(), (situation, adopt) => {
      const parking = planTemplate(withSurplus(situation, 'park', adopt));
      const reporting = planTemplate(withSurplus(situation, 'report'));
      expect(sentBy(parking)).toBeLessThanOrEqual(neededBy(reporting));
    }),
    runs,
  );
});

// Written step by step, each planned from the answer to the one before, with and without saved state.

test('the writes end; each desired record is written and each actual one parked at most once, and none that is ignored or of an unknown type changes', () => {
  fc.assert(
    fc.property(situations, fc.boolean(), (situation, remembers) => {
      const { steps, plan, actual } = converge(situation, remembers);
      expect(plan.steps).toEqual([]);
      const keys = steps.map((step) =>
        isPark(step) ? `park ${step.actual.record.id}` : recordLine(resultOf(step)),
      );
      expect(new Set(keys).size).toBe(keys.length);
      const isOthers = (record: ActualRecord): boolean =>
        !isRecordType(record.type.toUpperCase()) || matchesIgnore(situation.desired.ignore, record);
      expect(actual.records.filter(isOthers)).toEqual(situation.actual.records.filter(isOthers));
    }),
    runs,
  );
});

test('with park and adopt the template equals the file in the end, for any saved state, if nothing is blocked', () => {
  const lineOf = (record: RecordData): string =>
    recordLine({ ...dataOf(record), ...canonicalRecord(record), ttl: null });
  fc.assert(
    fc.property(tidySituations, fc.boolean(), (situation, remembers) => {
      const { plan, actual } = converge(situation, remembers);
      fc.pre(plan.blocked.length === 0);
      const inService = actual.records.filter((record) => !isParked(record)).map(lineOf);
      expect(inService.toSorted()).toEqual(situation.desired.records.map(lineOf).toSorted());
    }),
    runs,
  );
});

const deepFrozen = <Thing>(thing: Thing): Thing => {
  if (typeof thing !== 'object' || thing === null || Object.isFrozen(thing)) return thing;
  for (const part of Object.values(thing)) deepFrozen(part);
  return Object.freeze(thing);
};
