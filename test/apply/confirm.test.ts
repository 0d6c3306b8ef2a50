import { expect, test } from 'vitest';
import { planWork } from '../../src/apply/template.ts';
import { confirmWorks, isUnconfirmed } from '../../src/apply/work.ts';
import { presentTemplate } from '../plan/records.ts';
import { contextWith, newWork } from './work.ts';

test('only what both readings ask for is confirmed', async () => {
  const { work, memory } = await newWork(
    ['@ A 192.0.2.1', 'api A 192.0.2.3', 'www A 192.0.2.2'],
    ['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2'],
  );
  // In the second one, another record is missing too.
  const second = presentTemplate(['#1 @ A 192.0.2.1', '#2 other A 192.0.2.2']);
  const { service: silent } = contextWith({ memory });
  const service = { ...silent, listDnsTemplates: () => Promise.resolve([second]) };
  const context = contextWith({ memory, service });
  await confirmWorks([work], context);
  const steps = planWork(work, 0).steps.map((step) => [
    'wanted' in step && step.wanted.name,
    isUnconfirmed(step, work, context),
  ]);
  expect(steps).toEqual([
    ['api', false],
    ['www', true],
  ]);
});
