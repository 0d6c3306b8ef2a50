import { expect, test } from 'vitest';
import { suspensionOf, type Suspension } from '../../src/model/suspension.ts';

const suspended = (by: string, until: number | null, more: Partial<Suspension> = {}): Suspension => ({
  template: 'web',
  templateId: 17,
  by,
  reason: 'moving',
  since: 1,
  until,
  ...more,
});

test('of several suspensions, the one that lasts the longest is shown; of equal ones, the first', () => {
  const ann = suspended('ann', 5);
  const bob = suspended('bob', null);
  const cy = suspended('cy', null, { template: null, templateId: null, since: 2 });
  const web = { templateId: 17, names: ['web'] };
  expect(suspensionOf([ann, bob, cy], web)).toBe(bob);
  expect(suspensionOf([cy, bob, ann], web)).toBe(bob);
  expect(suspensionOf([ann], { templateId: 17, names: ['renamed'] })).toBe(ann);
  expect(suspensionOf([ann], { templateId: 18, names: ['mail'] })).toBeNull();
});
