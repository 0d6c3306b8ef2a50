import { expect, onTestFinished, test, vi } from 'vitest';
import { watchSuspensions } from '../../../src/daemon/clients/suspension-watch.ts';
import type { Suspension } from '../../../src/model/suspension.ts';

const one: Suspension = {
  template: 'web',
  templateId: 17,
  by: 'ann',
  reason: 'moving the mail',
  since: 1,
  until: null,
};

const watched = () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const now = { found: new Map<string, Suspension[]>(), isAway: false };
  const changed: string[] = [];
  let looks = 0;
  const look = () => {
    looks += 1;
    return now.isAway ? Promise.reject(new Error('away')) : Promise.resolve(new Map(now.found));
  };
  const start = async () => {
    const watch = await watchSuspensions(look, (client) => void changed.push(client));
    onTestFinished(() => watch.close());
    return watch;
  };
  const after = async (seconds: number): Promise<string[]> => {
    await vi.advanceTimersByTimeAsync(seconds * 1_000);
    return changed.splice(0);
  };
  return { start, now, after, looks: () => looks };
};

test('only clients are named of which a suspension begins or ends, once', async () => {
  const { start, now, after } = watched();
  now.found.set('acme', [one]).set('other', []);
  await start();
  expect(await after(10)).toEqual([]);
  now.found.set('other', [{ ...one, template: null }]).set('new', []);
  expect(await after(2)).toEqual(['other']);
  now.found.set('acme', []).set('other', [{ ...one, template: null, since: 2 }]);
  expect(await after(2)).toEqual(['acme', 'other']);
  expect(await after(60)).toEqual([]);
});

test('what happens while the store cannot be read is noticed afterwards', async () => {
  const { start, now, after } = watched();
  now.found.set('acme', [one]);
  await start();
  now.isAway = true;
  now.found.set('acme', []);
  expect(await after(60)).toEqual([]);
  now.isAway = false;
  expect(await after(2)).toEqual(['acme']);
});

test('a watch that is closed looks no more', async () => {
  const { start, after, looks } = watched();
  const watch = await start();
  await watch.close();
  await after(60);
  expect(looks()).toBe(1);
});
