import { expect, test } from 'vitest';
import { guardTemplate, lossIn, lostIds, type GuardInput } from '../../src/plan/guard.ts';
import type { Hold } from '../../src/plan/hold.ts';
import { noMemory, parkedKey, type Displaced, type PlanMemory } from '../../src/plan/memory.ts';
import { data, desiredTemplate, known, memoryOf, planOf, actualTemplate, type Situation } from './records.ts';

const holdOf = (
  situation: Situation,
  { suspectIds = null, ...options }: Case['options'] = {},
): Hold | null => {
  const seen = {
    desired: desiredTemplate(situation.file, situation.template),
    actual: actualTemplate(situation.service),
    memory: situation.memory ?? noMemory,
  };
  const { isWhole } = lossIn(seen, suspectIds);
  const plan = planOf(situation);
  return guardTemplate({ ...seen, plan, isWhole, unlistedIds: [], retry: false, force: false, ...options });
};

const a = (count: number, more = ''): string[] =>
  Array.from({ length: count }, (_, at) => `h${at} A 192.0.2.${at + 1}${more}`);

const at = (lines: readonly string[], first = 1): string[] =>
  lines.map((line, index) => `#${first + index} ${line}`);

/** `count` records that are in sync and known, so that only others differ. */
const settled = (count: number) => ({
  file: a(count),
  service: at(a(count)),
  memory: memoryOf(at(a(count)).map((line) => known(line))),
});

const limits = (more: Partial<NonNullable<Situation['template']>['limits']>) => ({
  limits: { maxAdds: 100, maxChangePercent: 30, minRecords: 10, ...more },
});

interface Case extends Situation {
  readonly name: string;
  /** `suspectIds`: lost in the previous pass. */
  readonly options?: Partial<GuardInput> & { readonly suspectIds?: readonly number[] | null };
  readonly guard: Hold['cause'] | null;
}

const adds: readonly Case[] = [
  {
    name: 'as many adds as the limit',
    file: a(3),
    service: [],
    template: limits({ maxAdds: 3 }),
    guard: null,
  },
  {
    name: 'one add above the limit',
    file: a(4),
    service: [],
    template: limits({ maxAdds: 3 }),
    guard: 'adds',
  },
  {
    name: 'a reused surplus record is not an add',
    file: ['new A 192.0.2.9'],
    service: ['#1 old A 192.0.2.1'],
    memory: memoryOf([known('#1 old A 192.0.2.1')]),
    template: { surplus: 'park', ...limits({ maxAdds: 0 }) },
    guard: null,
  },
];

/** Of ten records the first `changed` have another content at the service, and are known. */
const drifted = (changed: number, of: number) => ({
  ...settled(of),
  service: at(a(of)).map((line, index) => (index < changed ? line.replace('192.0.2', '198.51.100') : line)),
});

const changes: readonly Case[] = [
  { name: 'as many changes as the limit', ...drifted(3, 10), guard: null },
  { name: 'one change above the limit', ...drifted(4, 10), guard: 'changes' },
  {
    name: 'a limit of no changes',
    ...drifted(1, 10),
    template: limits({ maxChangePercent: 0 }),
    guard: 'changes',
  },
  { name: 'a lower minRecords', ...drifted(2, 5), template: limits({ minRecords: 5 }), guard: 'changes' },
  {
    name: 'records of unknown types do not count as actual',
    ...drifted(3, 9),
    service: [...drifted(3, 9).service, '#20 @ CAA 0 issue "ca.example.net"'],
    guard: null,
  },
  {
    name: 'parks of records that the file once listed, below minRecords',
    file: a(1),
    service: at(a(9)),
    memory: settled(9).memory,
    template: { surplus: 'park' },
    guard: null,
  },
  {
    name: 'records that the file never listed, up to the limit',
    file: a(7),
    service: at(a(9)),
    memory: settled(7).memory,
    template: { surplus: 'park', adopt: true },
    guard: null,
  },
  {
    name: 'a record of a set in the file belongs to the file',
    file: ['www A 192.0.2.1'],
    service: ['#1 www A 198.51.100.1'],
    guard: null,
  },
];

/** Saved state of record 9 alone, which was to make way for another one. */
const madeWay = (cause: Displaced['cause']): PlanMemory => {
  const was = data('www CNAME example.org');
  const displaced: Displaced = { key: 'www A 192.0.2.1', was, cause };
  return memoryOf([known('#9 _parked-9 A 0.0.0.0', undefined, { key: parkedKey(9), displaced })]);
};

const contacts: readonly Case[] = [
  {
    name: 'one desired set among the actual ones',
    file: ['www A 192.0.2.1', 'mail A 192.0.2.2'],
    service: ['#1 WWW A 192.0.2.1', '#2 post A 192.0.2.3'],
    guard: null,
  },
  {
    name: 'a record that may be one of the file in another spelling, beside one of its sets',
    file: ['www A 192.0.2.1', 'mail A 192.0.2.2'],
    service: ['#1 WWW A 192.0.2.1', '#2 mail.##DOMAIN## A 192.0.2.2'],
    guard: 'first-contact',
  },
  {
    name: 'the same name of another type is another set',
    file: ['www A 192.0.2.1'],
    service: ['#1 www AAAA 2001:db8::1'],
    guard: 'first-contact',
  },
  { name: 'nothing to add', file: [], service: ['#1 www A 192.0.2.1'], guard: null },
  {
    name: 'adopt in the file',
    file: ['www A 192.0.2.1'],
    service: ['#1 www.##DOMAIN## A 192.0.2.1'],
    template: { adopt: true },
    guard: null,
  },
  {
    name: 'a template with saved state',
    file: ['www A 192.0.2.1', 'mail A 192.0.2.2'],
    service: ['#1 x A 192.0.2.1'],
    memory: memoryOf([known('#9 mail A 192.0.2.2')]),
    guard: null,
  },
  {
    name: 'a template of which only a record is known that was no record of the file and perhaps made way',
    file: ['www A 192.0.2.1'],
    service: ['#1 mail A 192.0.2.2'],
    memory: madeWay('unknown'),
    guard: 'first-contact',
  },
  {
    name: 'a template of which only a record is known that was of the file and made way',
    file: ['www A 192.0.2.1'],
    service: ['#1 mail A 192.0.2.2'],
    memory: madeWay('edited'),
    guard: null,
  },
];

/** Of `of` known records the last `lost` are missing at the service. */
const losing = (lost: number, of: number) => ({ ...settled(of), service: at(a(of)).slice(0, of - lost) });

const losses: readonly Case[] = [
  { name: 'one lost, of two', ...losing(1, 2), guard: null },
  { name: 'two lost, of two', ...losing(2, 2), guard: 'loss' },
  { name: 'two lost, of six', ...losing(2, 6), guard: 'loss' },
  { name: 'two lost, of seven', ...losing(2, 7), guard: null },
  { name: 'all lost at an empty template', ...losing(5, 5), guard: 'loss' },
  { name: 'a higher limit', ...losing(2, 4), template: limits({ maxChangePercent: 50 }), guard: null },
  {
    name: 'the same ids lost in the previous pass',
    ...losing(2, 4),
    options: { suspectIds: [3, 4] },
    guard: null,
  },
  {
    name: 'other ids lost in the previous pass',
    ...losing(2, 4),
    options: { suspectIds: [2, 4] },
    guard: 'loss',
  },
  {
    name: 'more ids lost in the previous pass',
    ...losing(2, 4),
    options: { suspectIds: [2, 3, 4] },
    guard: 'loss',
  },
  {
    name: 'fewer ids lost in the previous pass',
    ...losing(3, 4),
    options: { suspectIds: [3, 4] },
    guard: 'loss',
  },
  { name: 'nothing to add', ...losing(2, 4), file: a(2), guard: null },
];

test.for(adds)('adds: $name', (scenario) => {
  const hold = holdOf(scenario, scenario.options);
  expect(hold?.cause ?? null).toBe(scenario.guard);
  expect(hold?.scope ?? 'template').toBe('template');
});

test.for(changes)('changes: $name', (scenario) => {
  const hold = holdOf(scenario, scenario.options);
  expect(hold?.cause ?? null).toBe(scenario.guard);
  expect(hold?.scope ?? 'template').toBe('template');
});

test.for(contacts)('first contact: $name', (scenario) => {
  const hold = holdOf(scenario, scenario.options);
  expect(hold?.cause ?? null).toBe(scenario.guard);
  expect(hold?.scope ?? 'template').toBe('template');
});

test.for(losses)('loss: $name', (scenario) => {
  const hold = holdOf(scenario, scenario.options);
  expect(hold?.cause ?? null).toBe(scenario.guard);
  expect(hold?.scope ?? 'template').toBe('template');
});

test('a guard that holds everything comes before one that holds adds', () => {
  const situation = {
    ...drifted(4, 10),
    file: [...a(10), 'new A 192.0.2.99'],
    template: limits({ maxAdds: 0 }),
  };
  expect(holdOf(situation)?.cause).toBe('changes');
  expect(holdOf({ ...situation, template: limits({ maxAdds: 0, maxChangePercent: 40 }) })?.cause).toBe(
    'adds',
  );
});

test('the lost ids are in ascending order', () => {
  const memory = memoryOf([known('#10 c A 192.0.2.3'), known('#9 b A 192.0.2.2'), known('#1 a A 192.0.2.1')]);
  expect(lostIds({ actual: actualTemplate(['#1 a A 192.0.2.1']), memory })).toEqual([9, 10]);
  expect(lostIds({ actual: actualTemplate([]), memory: noMemory })).toEqual([]);
});
