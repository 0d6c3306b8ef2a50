import { describe, expect, it } from 'vitest';
import { batched } from '../../src/lib/limit.ts';

describe('what is asked for within a moment', () => {
  it('is done together, and later items by another task', async () => {
    const tasks: (readonly number[])[] = [];
    const add = batched<number>((items) => Promise.resolve(void tasks.push(items)), 5);
    await Promise.all([add(1), add(2)]);
    await add(3);
    expect(tasks).toEqual([[1, 2], [3]]);
  });

  it('fails together, and what comes later does not', async () => {
    let isBroken = true;
    const add = batched<number>(
      () => (isBroken ? Promise.reject(new Error('broken')) : Promise.resolve()),
      5,
    );
    expect(await Promise.allSettled([add(1), add(2)])).toMatchObject([
      { reason: { message: 'broken' } },
      { reason: { message: 'broken' } },
    ]);
    isBroken = false;
    await add(3);
  });
});
