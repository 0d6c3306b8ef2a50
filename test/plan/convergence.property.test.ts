import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalName, canonicalRecord } from '../../src/model/canonical.ts';
import { dataOf, isRecordType, type RecordData } from '../../src/model/record.ts';
import { matchesIgnore } from '../../src/plan/ignore.ts';
import { noMemory } from '../../src/plan/memory.ts';
import { planTemplate } from '../../src/plan/plan.ts';
import { isPark, actualOf, resultOf } from '../../src/plan/step.ts';
import { situations, tidySituations, type Situation } from './generators.ts';
import { recordLine } from './records.ts';
import { converge, isParked, written } from './service.ts';

/* Writes step by step, each planned from the previous answer, with and without saved state. */

const runs = { numRuns: 500 };

test('each write brings its record to its result at once', () => {
  fc.assert(
    fc.property(situations, (situation) => {
      const ids = new Set(situation.actual.records.map(({ id }) => id));
      for (const step of planTemplate(situation).steps) {
        const own = actualOf(step);
        const record = written(situation.actual, step).records.find(({ id }) =>
          own === null ? !ids.has(id) : id === own.record.id,
        )!;
        const result = resultOf(step);
        // Where the service gave it a name, it keeps that.
        const name = canonicalName(result.name) || (own?.name ?? '');
        expect(canonicalRecord(record)).toEqual({ ...canonicalRecord(result), name });
        expect(record.ttl).toBe(result.ttl ?? record.ttl);
      }
    }),
    runs,
  );
});

test('the writes end; each desired record is written and each actual one parked at most once', () => {
  fc.assert(
    fc.property(situations, fc.boolean(), (situation, remembers) => {
      const { steps, plan } = converge(situation, remembers);
      expect(plan.steps).toEqual([]);
      const keys = steps.map((step) =>
        isPark(step) ? `park ${step.actual.record.id}` : recordLine(resultOf(step)),
      );
      expect(new Set(keys).size).toBe(keys.length);
    }),
    runs,
  );
});

test('the template equals the file in the end, with park and adopt', () => {
  fc.assert(
    fc.property(tidySituations, fc.boolean(), (situation, remembers) => {
      const { plan, actual } = converge({ ...situation, memory: noMemory }, remembers);
      expect(plan.blocked).toEqual([]);
      expect(plan.surplus).toEqual([]);
      expect(plan.inSync).toBe(situation.desired.records.length);
      expect(inService(actual.records)).toEqual(inFile(situation));
    }),
    runs,
  );
});

test('the template equals the file in the end for any saved state, if nothing is blocked', () => {
  fc.assert(
    fc.property(tidySituations, (situation) => {
      const { plan, actual } = converge(situation);
      fc.pre(plan.blocked.length === 0);
      expect(inService(actual.records)).toEqual(inFile(situation));
    }),
    runs,
  );
});

test('the template equals the file in the end beside ignored and unknown records, if none is in the way', () => {
  fc.assert(
    fc.property(situations, fc.boolean(), (any, remembers) => {
      const desired = { ...any.desired, surplus: 'park' as const, adopt: true };
      const { plan, actual } = converge({ ...any, desired, memory: noMemory }, remembers);
      fc.pre(plan.blocked.length === 0);
      const isOthers = (record: RecordData): boolean =>
        !isRecordType(record.type.toUpperCase()) || matchesIgnore(desired.ignore, record);
      const ours = actual.records.filter((record) => !isOthers(record));
      expect(inService(ours)).toEqual(inFile(any));
      expect(actual.records.filter(isOthers)).toEqual(any.actual.records.filter(isOthers));
    }),
    runs,
  );
});

test('removing and restoring a named record in the file costs no add, with park', () => {
  fc.assert(
    fc.property(tidySituations, fc.nat(), (situation, pick) => {
      const all = { ...situation.desired, adopt: false };
      const named = all.records.filter((record) => canonicalName(record.name) !== '');
      fc.pre(named.length > 0);
      const removed = named[pick % named.length]!;
      const fewer = { ...all, records: all.records.filter((record) => record !== removed) };
      const first = converge({ ...situation, memory: noMemory });
      const without = converge({ ...first, desired: fewer });
      const restored = converge({ ...without, desired: all });
      const actions = [...without.steps, ...restored.steps].map(({ difference }) => difference.action);
      expect(actions).not.toContain('add');
      expect(inService(without.actual.records)).toEqual(inFile({ desired: fewer }));
      expect(inService(restored.actual.records)).toEqual(inFile({ desired: all }));
    }),
    runs,
  );
});

const inService = (records: readonly RecordData[]): string[] =>
  records
    .filter((record) => !isParked(record))
    .map(canonicalLine)
    .toSorted();

const inFile = ({ desired }: Pick<Situation, 'desired'>): string[] =>
  desired.records.map(canonicalLine).toSorted();

const canonicalLine = (record: RecordData): string =>
  recordLine({ ...dataOf(record), ...canonicalRecord(record), ttl: null });
