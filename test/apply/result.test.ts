import { expect, test } from 'vitest';
import type { Fate } from '../../src/apply/context.ts';
import { templateResult } from '../../src/apply/result.ts';
import { planWork } from '../../src/apply/template.ts';
import { stepKey } from '../../src/apply/write.ts';
import { presentTemplate } from '../plan/records.ts';
import { newWork } from './work.ts';

const wanted = ['@ A 192.0.2.1', 'www A 192.0.2.2'];

/** A pass that sent an add, with its fate; its last reading shows `present`. */
const resultWith = async (
  present: readonly string[],
  fate: Omit<Fate, 'step'>,
  stopped: string | null = null,
) => {
  const { work } = await newWork(wanted, ['#1 @ A 192.0.2.1']);
  const [step] = planWork(work, 0).steps;
  work.fates.set(stepKey(step!), { step: step!, ...fate });
  work.present = presentTemplate(present);
  work.stopped = stopped;
  return templateResult({
    client: 'acme',
    work,
    plan: planWork(work, 0),
    hold: null,
    revision: null,
    subdomains: [],
    heldBack: () => null,
    halt: { reason: null },
  });
};

test.each<[string, readonly string[], string | undefined]>([
  ['is not there', ['#1 @ A 192.0.2.1'], '1970-01-01T00:01:00.000Z'],
  ['is there after all', ['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2'], undefined],
])(
  'a write that failed names the time of its next try where its record %s: %j: %s',
  async (_, present, retryAt) => {
    const fate = { outcome: 'failed', error: 'no answer', retryAt: 60_000 } as const;
    const { status, differences } = await resultWith(present, fate);
    expect(status).toBe('failed');
    expect(differences).toMatchObject([{ action: 'add', outcome: 'failed' }]);
    expect(differences[0]?.retryAt).toBe(retryAt);
  },
);

test.each<[string, readonly string[], string]>([
  ['something is left to write', ['#2 www A 192.0.2.2'], 'failed'],
  ['nothing is left to write', ['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2'], 'in-sync'],
])('a pass that stopped before its end has failed where %s: %j: %s', async (_, present, status) => {
  const fate = { outcome: 'applied', error: null, retryAt: null } as const;
  expect((await resultWith(present, fate, 'stopped')).status).toBe(status);
});
