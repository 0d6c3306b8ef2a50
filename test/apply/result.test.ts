import { expect, test } from 'vitest';
import { templateResult } from '../../src/apply/result.ts';
import { planWork } from '../../src/apply/template.ts';
import { stepKey } from '../../src/apply/write.ts';
import { presentTemplate } from '../plan/records.ts';
import { newWork } from './work.ts';

/** A pass that sent an add and could not tell what became of it; its last reading shows `present`. */
const resultWith = async (present: readonly string[]) => {
  const { work } = await newWork(['@ A 192.0.2.1', 'www A 192.0.2.2'], ['#1 @ A 192.0.2.1']);
  const [step] = planWork(work, 0).steps;
  work.fates.set(stepKey(step!), { step: step!, outcome: 'failed', error: 'no answer', retryAt: 60_000 });
  work.present = presentTemplate(present);
  return templateResult({
    client: 'acme',
    work,
    plan: planWork(work, 0),
    hold: null,
    revision: null,
    subdomains: [],
    heldBack: () => null,
    halted: null,
  });
};

test.each<[string, readonly string[], string | undefined]>([
  ['is not there', ['#1 @ A 192.0.2.1'], '1970-01-01T00:01:00.000Z'],
  ['is there after all', ['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2'], undefined],
])(
  'a write that failed names the time of its next try where its record %s: %j: %s',
  async (_, present, retryAt) => {
    const { status, differences } = await resultWith(present);
    expect(status).toBe('failed');
    expect(differences).toMatchObject([{ action: 'add', outcome: 'failed' }]);
    expect(differences[0]?.retryAt).toBe(retryAt);
  },
);
