import { expect, it } from 'vitest';
import { planChanges, PlanChangedError } from '../../src/app/plan-file.ts';
import type { Difference } from '../../src/plan/difference.ts';
import type { TemplateResult } from '../../src/result.ts';
import { template as templateOf } from '../report/every-kind.ts';

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

const template = (differences: readonly Difference[], more: Partial<TemplateResult> = {}): TemplateResult =>
  templateOf({ template: 'web', status: 'drifted', differences, ...more });

const changes = (before: TemplateResult, now: TemplateResult, lifted = false): string[] =>
  planChanges([before], [now], lifted).map(({ template: name, change }) => `${name} ${change}`);

it.each<[string, TemplateResult]>([
  ['as long as nothing has changed', template([add, update])],
  ['in any order', template([update, add])],
  ['whatever subdomains do', template([add, update], { status: 'failed', subdomains: [] })],
  ['whatever else is in sync', template([add, update], { inSync: 7, parked: 1, ignored: 2 })],
  ['at another commit', template([add, update], { revision: 'c0ffee' })],
  ['with their keys in another order', template([add, reordered])],
  ['on another line', template([{ ...add, source: { ...source, line: 9 } }, update])],
])('two plans are equal %s', (_, now) => {
  expect(changes(template([add, update]), now)).toEqual([]);
});

const gone = ['default/web no longer: template 17', 'default/web no longer: add www A 203.0.113.1'];

it.each<[string, TemplateResult, string[]]>([
  ['what is gone', template([]), gone.slice(1)],
  ['what is new', template([add, update]), ['default/web new: update www A 203.0.113.1 → www A 203.0.113.2']],
  [
    'what held them back',
    template([{ ...add, ...skipped }]),
    [...gone.slice(1), 'default/web new: add www A 203.0.113.1 (held: too many)'],
  ],
  [
    'their id',
    template([add], { id: 18 }),
    [...gone, 'default/web new: template 18', 'default/web new: add www A 203.0.113.1'],
  ],
  [
    'their message',
    template([add], { message: 'held' }),
    [...gone.slice(0, 1), 'default/web new: template 17, held'],
  ],
  [
    'their template',
    template([add], { template: 'other' }),
    ['default/other new: template 17', 'default/other new: add www A 203.0.113.1', ...gone],
  ],
  [
    'their client',
    template([add], { client: 'acme' }),
    ['acme/web new: template 17', 'acme/web new: add www A 203.0.113.1', ...gone],
  ],
])('they differ by %s', (_, now, expected) => {
  expect(changes(template([add]), now)).toEqual(expected);
});

it('templates of one name are distinguished by their ids', () => {
  const then = [template([add]), template([update], { id: 18 })];
  const now = [template([]), template([update], { id: 18 })];
  expect(planChanges(then, then, false)).toEqual([]);
  expect(planChanges(then, now, false)).toMatchObject([{ change: 'no longer: add www A 203.0.113.1' }]);
});

const blocked = { action: 'blocked', reason: 'vanished', message: 'missing again each time' } as const;

it.each<[string, Difference]>([
  ['a write that was held is the same write', { ...add, ...skipped }],
  ['so is one that the limit of its pass held', { ...add, ...skipped, skippedBy: 'pass' }],
  ['a record that was given up is the same record', { ...blocked, desired: add.desired, source }],
])('with guards lifted, %s', (_, before) => {
  const held = template([before], { status: 'held', message: 'too many' });
  expect(changes(held, template([add]), true)).toEqual([]);
  expect(changes(held, template([add]))).not.toEqual([]);
  expect(changes(held, template([update]), true)).toHaveLength(2);
});

it.each(['not-selected', 'mode-report'] as const)(
  'with guards lifted, what no person could force is not the same write, in whichever words: %s',
  (skippedBy) => {
    const left = template([{ ...add, ...skipped, skippedBy }]);
    expect(changes(left, template([add]), true)).toHaveLength(2);
    expect(changes(template([add]), left, true)).toHaveLength(2);
    expect(changes(left, left, true)).toEqual([]);
  },
);

it('the error lists what has changed, the first twenty of many', () => {
  const many = Array.from({ length: 21 }, (_, index) => ({ template: `default/t${index}`, change: 'gone' }));
  const [first, ...lines] = new PlanChangedError('the one in plan.json', many).message.split('\n');
  expect(first).toBe('the plan is no longer the one in plan.json; nothing was written:');
  expect(lines).toHaveLength(21);
  expect([lines[0], lines.at(-1)]).toEqual(['  default/t0: gone', '  and 1 more']);
});
