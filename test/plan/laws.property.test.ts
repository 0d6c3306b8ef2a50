import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalName, canonicalType } from '../../src/model/canonical.ts';
import { isRecordType, type ActualRecord, type RecordData } from '../../src/model/record.ts';
import { sameData } from '../../src/model/canonical.ts';
import { pairOf } from '../../src/plan/entry.ts';
import { matchesIgnore } from '../../src/plan/ignore.ts';
import { isOwn, noMemory } from '../../src/plan/memory.ts';
import { planTemplate, type TemplatePlan } from '../../src/plan/plan.ts';
import { differencesOf } from './records.ts';
import { changeOf, isPark, isUpdate, actualOf } from '../../src/plan/step.ts';
import { situations, tidySituations, type Situation } from './generators.ts';
import { memoryOf } from './records.ts';
import { converge, isParked } from './service.ts';

const runs = { numRuns: 500 };

const holds = (law: (situation: Situation) => void): void => {
  fc.assert(fc.property(situations, law), runs);
};

const withSurplus = (situation: Situation, surplus: 'report' | 'park', adopt = false): Situation => ({
  ...situation,
  desired: { ...situation.desired, surplus, adopt },
});

/** As no record changes its type: a known one that did is free again once another one is bound in its place. */
const withoutRetyped = (situation: Situation): Situation => {
  const { records, hasBeenRead } = situation.memory;
  const typeOf = new Map(situation.actual.records.map(({ id, type }) => [id, canonicalType(type)]));
  const kept = [...records.values()].filter(
    ({ recordId, wanted }) =>
      (typeOf.get(recordId!) ?? canonicalType(wanted.type)) === canonicalType(wanted.type),
  );
  return { ...situation, memory: memoryOf(kept, { hasBeenRead }) };
};

const isKnown = ({ memory, actual }: Situation, id: number): boolean =>
  actual.records.some((record) => record.id === id && isOwn(memory, record));

const idsOfSteps = ({ steps }: Pick<TemplatePlan, 'steps'>): number[] =>
  steps.flatMap((step) => actualOf(step)?.record.id ?? []);

describe('a plan', () => {
  test('is the same for any order of the records on either side', () => {
    const said = (plan: TemplatePlan): unknown => [
      differencesOf(plan),
      plan.inSync,
      plan.parked,
      plan.ignored,
    ];
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
        expect(said(planTemplate(turned))).toEqual(said(planTemplate(situation)));
      }),
      runs,
    );
  });

  test('does not change its input', () => {
    holds((situation) => {
      expect(() => planTemplate(deepFrozen(situation))).not.toThrow();
    });
  });

  test('contains every record of either side once', () => {
    holds((situation) => {
      const plan = planTemplate(situation);
      const adds = plan.steps.filter((step) => actualOf(step) === null).length;
      const updates = plan.steps.filter(isUpdate).length;
      const used = new Set([...plan.pairs.map((pair) => pair.actual.record.id), ...idsOfSteps(plan)]);
      const surplus = plan.surplus.map(({ recordId }) => recordId);
      for (const { recordId, reason } of plan.blocked)
        if (recordId !== undefined && reason.endsWith('-conflict')) used.add(recordId);
      expect(plan.inSync + adds + updates + plan.blocked.length).toBe(situation.desired.records.length);
      expect(new Set([...used, ...surplus]).size).toBe(used.size + surplus.length);
      expect(used.size + surplus.length + plan.parked + plan.ignored).toBe(situation.actual.records.length);
    });
  });
});

describe('what is written', () => {
  test('never clears a name, and is never empty', () => {
    holds((situation) => {
      const changes = planTemplate(situation)
        .steps.filter((step) => isUpdate(step) || isPark(step))
        .map((step) => ({ before: step.actual.name, change: changeOf(step) }));
      const emptied = changes.filter(
        ({ before, change }) => before !== '' && change.name !== null && canonicalName(change.name) === '',
      );
      expect(emptied).toEqual([]);
      for (const { change } of changes) {
        expect(Object.values({ ...change, recordId: null }).some((value) => value !== null)).toBe(true);
      }
    });
  });

  test('is a difference', () => {
    holds((situation) => {
      for (const step of planTemplate(situation).steps.filter(isUpdate)) {
        const { fields } = pairOf(step.desired, step.actual);
        expect(step.difference.fields).toEqual(fields);
        expect(fields).not.toEqual([]);
      }
    });
  });

  test('never changes an ignored record or one of an unknown type', () => {
    holds((situation) => {
      const isOthers = (record: ActualRecord): boolean =>
        !isRecordType(record.type.toUpperCase()) || matchesIgnore(situation.desired.ignore, record);
      const others = situation.actual.records.filter(isOthers);
      const ids = new Set(others.map(({ id }) => id));
      const plan = planTemplate(situation);
      expect(plan.ignored).toBe(others.length);
      expect(plan.surplus.filter(({ recordId }) => ids.has(recordId))).toEqual([]);
      const after = converge(situation);
      expect(after.actual.records.filter(({ id }) => ids.has(id))).toEqual(others);
    });
  });

  test('changes no surplus and no parked record with surplus: report', () => {
    holds((any) => {
      const situation = withSurplus(withoutRetyped(any), 'report');
      const ids = new Set(planTemplate(situation).surplus.map(({ recordId }) => recordId));
      // The record that is bound to a desired one is that one, under any name.
      const isLeft = (record: ActualRecord): boolean =>
        ids.has(record.id) || (isParked(record) && !isOwn(situation.memory, record));
      const after = converge(situation);
      expect(after.steps.filter(isPark)).toEqual([]);
      expect(after.actual.records.filter(isLeft)).toEqual(situation.actual.records.filter(isLeft));
    });
  });

  test('changes no surplus that the file never listed, without adopt', () => {
    holds((situation) => {
      const strangers = new Set(
        planTemplate(withSurplus(situation, 'report'))
          .surplus.map(({ recordId }) => recordId)
          .filter((id) => !isKnown(situation, id)),
      );
      const touched = idsOfSteps(planTemplate(withSurplus(situation, 'park')));
      expect(touched.filter((id) => strangers.has(id))).toEqual([]);
    });
  });
});

describe('compared with each other', () => {
  test('park never needs more adds than report', () => {
    const toAdd = ({ steps, blocked }: TemplatePlan): number =>
      steps.filter(({ difference }) => difference.action === 'add').length +
      blocked.filter(({ recordId, reason }) => recordId === undefined || reason === 'not-converging').length;
    fc.assert(
      fc.property(situations, fc.boolean(), (situation, adopt) => {
        const parking = planTemplate(withSurplus(situation, 'park', adopt));
        const reporting = planTemplate(withSurplus(situation, 'report'));
        expect(toAdd(parking)).toBeLessThanOrEqual(toAdd(reporting));
      }),
      runs,
    );
  });

  test('copies of records in sync are duplicates and cause no write', () => {
    fc.assert(
      fc.property(tidySituations, fc.array(fc.nat(), { maxLength: 4 }), (situation, picks) => {
        const { actual, memory } = converge({ ...situation, memory: noMemory });
        const inUse = actual.records.filter((record) => !isParked(record));
        fc.pre(inUse.length > 0);
        const copies = copiesOf(inUse, picks);
        const plan = planTemplate({
          desired: { ...situation.desired, surplus: 'report' },
          actual: { ...actual, records: [...copies, ...actual.records] },
          memory,
        });
        expect(plan.steps).toEqual([]);
        expect(plan.surplus.map(({ recordId, reason }) => [recordId, reason])).toEqual(
          copies.map(({ id }) => [id, 'duplicate']),
        );
      }),
      runs,
    );
  });

  test('copies of paired records cause no further write', () => {
    fc.assert(
      fc.property(situations, fc.array(fc.nat(), { maxLength: 4 }), (any, picks) => {
        const situation = withSurplus(any, 'report');
        const { actual } = situation;
        const plan = planTemplate(situation);
        fc.pre(plan.pairs.length > 0);
        const copies = copiesOf(
          plan.pairs.map((pair) => pair.actual.record),
          picks,
        );
        const more = planTemplate({
          ...situation,
          actual: { ...actual, records: [...actual.records, ...copies] },
        });
        expect(more.steps.length + more.blocked.length).toBeLessThanOrEqual(
          plan.steps.length + plan.blocked.length,
        );
        expect(more.inSync).toBeGreaterThanOrEqual(plan.inSync);
      }),
      runs,
    );
  });

  test('equality of records is an equivalence relation', () => {
    fc.assert(
      fc.property(situations, ({ desired, actual }) => {
        const all: RecordData[] = [...desired.records, ...actual.records];
        for (const a of all) {
          expect(sameData(a, a)).toBe(true);
          expect(all.filter((b) => sameData(a, b))).toEqual(all.filter((b) => sameData(b, a)));
          const equals = all.filter((b) => sameData(a, b));
          expect(equals.map((b) => all.filter((c) => sameData(b, c)))).toEqual(equals.map(() => equals));
        }
      }),
      { numRuns: 100 },
    );
  });
});

/** Ids from 1,000 on, in ascending order. */
const copiesOf = (records: readonly ActualRecord[], picks: readonly number[]): ActualRecord[] =>
  picks.map((pick, at) => ({ ...records[pick % records.length]!, id: 1_000 + at }));

const deepFrozen = <Thing>(thing: Thing): Thing => {
  if (typeof thing !== 'object' || thing === null || Object.isFrozen(thing)) return thing;
  for (const part of Object.values(thing)) deepFrozen(part);
  return Object.freeze(thing);
};
