import { describe, expect, it } from 'vitest';
import { planChanges, PlanChangedError } from '../../src/app/plan-file.ts';
import type { Difference } from '../../src/plan/difference.ts';
import type { TemplateResult } from '../../src/result.ts';

const record = (content: string) => ({ type: 'A', name: 'www', content, priority: null, ttl: null });
const source = { file: 'templates/web.yaml', line: 3, column: 5 };

const add: Difference = { action: 'add', desired: record('203.0.113.1'), cause: 'unknown', source };
const update: Difference = {
  action: 'update',
  recordId: 5,
  current: record('203.0.113.1'),
  desired: record('203.0.113.2'),
  fields: ['content'],
  cause: 'drifted',
  source,
};
const reordered: Difference = {
  source,
  cause: 'drifted',
  fields: ['content'],
  desired: { ttl: null, priority: null, content: '203.0.113.2', name: 'www', type: 'A' },
  current: record('203.0.113.1'),
  recordId: 5,
  action: 'update',
};
const skipped = { outcome: 'skipped', skippedBy: 'held', error: 'held: too many' } as const;
const blocked: Difference = {
  action: 'blocked',
  reason: 'vanished',
  desired: record('203.0.113.1'),
  source,
  message: 'added 2 times, and missing again each time',
};

const template = (
  differences: readonly Difference[],
  changes: Partial<TemplateResult> = {},
): TemplateResult => ({
  client: 'default',
  template: 'web',
  id: 17,
  file: 'templates/web.yaml',
  revision: null,
  status: 'drifted',
  message: null,
  inSync: 0,
  parked: 0,
  ignored: 0,
  differences,
  subdomains: [],
  ...changes,
});

const changes = (before: TemplateResult, now: TemplateResult, lifted = false): string[] =>
  planChanges([before], [now], lifted).map(({ template: name, change }) => `${name}: ${change}`);

describe('two plans are equal', () => {
  it.each<[string, TemplateResult]>([
    ['as long as nothing has changed', template([add, update])],
    ['in any order', template([update, add])],
    ['whatever subdomains do', template([add, update], { status: 'failed', subdomains: [] })],
    ['whatever else is in sync', template([add, update], { inSync: 7, parked: 1, ignored: 2 })],
    ['at another commit', template([add, update], { revision: 'c0ffee' })],
    ['with their keys in another order', template([add, reordered])],
    ['on another line', template([{ ...add, source: { ...source, line: 9 } }, update])],
  ])('%s', (_, now) => {
    expect(changes(template([add, update]), now)).toEqual([]);
  });
});

describe('they differ', () => {
  it.each<[string, TemplateResult, string[]]>([
    ['by what is gone', template([]), ['default/web: no longer: add www A 203.0.113.1']],
    [
      'by what is new',
      template([add, update]),
      ['default/web: new: update www A 203.0.113.1 → www A 203.0.113.2'],
    ],
    [
      'by what held them back',
      template([{ ...add, ...skipped }]),
      [
        'default/web: no longer: add www A 203.0.113.1',
        'default/web: new: add www A 203.0.113.1 (held: too many)',
      ],
    ],
    [
      'by their id',
      template([add], { id: 18 }),
      [
        'default/web: no longer: template 17',
        'default/web: no longer: add www A 203.0.113.1',
        'default/web: new: template 18',
        'default/web: new: add www A 203.0.113.1',
      ],
    ],
    [
      'by their message',
      template([add], { message: 'held' }),
      ['default/web: no longer: template 17', 'default/web: new: template 17, held'],
    ],
    [
      'by their template',
      template([add], { template: 'other' }),
      [
        'default/other: new: template 17',
        'default/other: new: add www A 203.0.113.1',
        'default/web: no longer: template 17',
        'default/web: no longer: add www A 203.0.113.1',
      ],
    ],
    [
      'by their client',
      template([add], { client: 'acme' }),
      [
        'acme/web: new: template 17',
        'acme/web: new: add www A 203.0.113.1',
        'default/web: no longer: template 17',
        'default/web: no longer: add www A 203.0.113.1',
      ],
    ],
  ])('%s', (_, now, expected) => {
    expect(changes(template([add]), now)).toEqual(expected);
  });
});

it('templates of one name are distinguished by their ids', () => {
  const then = [template([add]), template([update], { id: 18 })];
  const now = [template([]), template([update], { id: 18 })];
  expect(planChanges(then, then, false)).toEqual([]);
  expect(planChanges(then, now, false)).toEqual([
    { template: 'default/web', change: 'no longer: add www A 203.0.113.1' },
  ]);
});

describe('with guards lifted', () => {
  it.each<[string, Difference, Difference]>([
    ['a write that was held is the same write', { ...add, ...skipped }, add],
    ['so is one that the limit of its pass held', { ...add, ...skipped, skippedBy: 'pass' }, add],
    ['a record that was given up is the same record', blocked, add],
  ])('%s', (_, before, now) => {
    const held = template([before], { status: 'held', message: 'too many' });
    expect(changes(held, template([now]), true)).toEqual([]);
    expect(changes(held, template([now]))).not.toEqual([]);
  });

  it.each(['not-selected', 'mode-report'] as const)(
    'what no person could force is not the same write, in whichever words: %s',
    (skippedBy) => {
      const left = template([{ ...add, outcome: 'skipped', skippedBy, error: 'held: too many' }]);
      expect(changes(left, template([add]), true)).toHaveLength(2);
      expect(changes(template([add]), left, true)).toHaveLength(2);
      expect(changes(left, left, true)).toEqual([]);
    },
  );

  it('another write is still a difference', () => {
    expect(changes(template([{ ...add, ...skipped }]), template([update]), true)).toHaveLength(2);
  });
});

it('the error lists what has changed, the first twenty of many', () => {
  const many = Array.from({ length: 21 }, (_, index) => ({ template: `default/t${index}`, change: 'gone' }));
  const error = new PlanChangedError('the one in plan.json', many);
  expect(error.message.split('\n')).toHaveLength(22);
  expect(error.message).toMatch(
    /^the plan is no longer the one in plan\.json; nothing was written:\n {2}default\/t0: gone\n/,
  );
  expect(error.message).toMatch(/\n {2}and 1 more$/);
});
