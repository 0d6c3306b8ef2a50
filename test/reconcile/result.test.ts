import { expect, test } from 'vitest';
import { intentOf, stepKey, type Attempt } from '../../src/reconcile/core/attempt.ts';
import { templateResult } from '../../src/reconcile/core/result.ts';
import { planOf } from '../../src/reconcile/core/plan-of.ts';
import { withBasis, withHold, type TemplateState } from '../../src/reconcile/core/state.ts';
import { actualTemplate } from '../plan/records.ts';
import { moment, newState } from './state.ts';

const desired = ['@ A 192.0.2.1', 'www A 192.0.2.2'];

/** After a pass that sent an add; its last reading shows `actual`. */
const afterAdd = (
  actual: readonly string[],
  outcome: { state: 'applied'; recordId: number } | { state: 'failed'; error: string; retryAt: number },
): TemplateState => {
  const state = newState(desired, ['#1 @ A 192.0.2.1']);
  const [step] = planOf(state.basis).steps;
  const intent = {
    ...intentOf(step!, state.basis, {
      run: 'run-1',
      moment,
      trigger: 'schedule',
      revision: null,
      makesWayFor: null,
    }),
    id: 1,
  };
  const attempt: Attempt = { step: step!, intent, ...outcome };
  const attempts = new Map([[stepKey(step!), attempt]]);
  return { ...withBasis(state, { view: actualTemplate(actual) }), attempts };
};

const resultOf = (state: TemplateState) =>
  templateResult({
    client: 'acme',
    state,
    revision: null,
    skipReason: () => null,
    clientHolds: [],
  });

test.each<[string, readonly string[], string | undefined]>([
  ['is not there', ['#1 @ A 192.0.2.1'], '1970-01-01T00:01:00.000Z'],
  ['is there after all', ['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2'], undefined],
])('a failed write has the time of its next try if its record %s: %j: %s', (_, actual, retryAt) => {
  const { status, differences } = resultOf(
    afterAdd(actual, { state: 'failed', error: 'no answer', retryAt: 60_000 }),
  );
  expect(status).toBe('failed');
  expect(differences).toMatchObject([{ action: 'add', outcome: 'failed' }]);
  expect(differences[0]?.retryAt).toBe(retryAt);
});

test.each<[string, readonly string[], string]>([
  ['something is left to write', ['#2 www A 192.0.2.2'], 'failed'],
  ['nothing is left to write', ['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2'], 'in-sync'],
])('a pass that stopped early has failed if %s: %j: %s', (_, actual, status) => {
  const hold = { scope: 'template', cause: 'unknown-outcome', reason: 'stopped', retryAt: null } as const;
  const state = withHold(afterAdd(actual, { state: 'applied', recordId: 2 }), hold);
  expect(resultOf(state).status).toBe(status);
});
