import { expect, test } from 'vitest';
import { edit } from '../../src/memory/memory.ts';
import { remember } from '../../src/reconcile/core/remember.ts';
import { bind } from '../../src/memory/remembering.ts';
import { planOf } from '../../src/reconcile/core/plan-of.ts';
import { withBasis } from '../../src/reconcile/core/state.ts';
import { actualTemplate } from '../plan/records.ts';
import { forgetAnswered } from '../../src/reconcile/core/waits.ts';
import { intentOf } from '../state/samples.ts';
import { newState } from './state.ts';

/** The suspected ids after a pass in which the template's own reading lacks all known records. */
const suspectsAfter = (shownElsewhere: readonly string[]) => {
  const state = newState(['@ A 192.0.2.1', 'www A 192.0.2.2'], ['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2']);
  const memory = edit(state.basis.memory, (draft) => {
    for (const { desired, actual } of planOf(state.basis).pairs) bind(draft, desired, actual);
  });
  const { id } = state.basis.view;
  const listing = new Map([[id, actualTemplate(shownElsewhere)]]);
  const after = withBasis(state, { memory, view: actualTemplate([]) });
  const input = { listing, acceptLoss: false, now: 0 };
  return remember(after, input).basis.memory.row.suspectIds;
};

test.each<[string, readonly string[], readonly number[] | null]>([
  ['both', ['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2'], null],
  ['one of them', ['#2 www A 192.0.2.2'], null],
  ['none of them', [], [1, 2]],
])(
  'a known record that its own reading lacks is not lost if another reading shows it: %s: %j: %j',
  (_, shown, lost) => {
    expect(suspectsAfter(shown)).toEqual(lost);
  },
);

test('what only an answer has shown is not forgotten for a listing that shows it, and from which nothing is bound', () => {
  const state = newState(['@ A 192.0.2.1', 'www A 192.0.2.2'], ['#1 @ A 192.0.2.1']);
  const memory = edit(state.basis.memory, (draft) => draft.setRow({ answeredIds: [2] }));
  const { id } = state.basis.view;
  const listing = new Map([[id, actualTemplate(['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2'])]]);
  const input = { listing, acceptLoss: false, now: 0 };
  expect(remember(withBasis(state, { memory }), input).basis.memory.row.answeredIds).toEqual([2]);
});

test.each([
  ['kept while an add is open', [{ ...intentOf(), id: 1 }], [2]],
  ['forgotten otherwise', [], []],
])('what only an answer has shown and then a listing shows is %s', (_, pending, left) => {
  const { memory } = newState(['@ A 192.0.2.1'], ['#1 @ A 192.0.2.1']).basis;
  const view = actualTemplate(['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2']);
  const after = edit(memory, (draft) => {
    draft.setRow({ answeredIds: [2] });
    forgetAnswered(draft, view, pending);
  });
  expect(after.row.answeredIds).toEqual(left);
});
