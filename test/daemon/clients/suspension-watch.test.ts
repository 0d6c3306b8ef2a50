import { expect, onTestFinished, test, vi } from 'vitest';
import { SuspensionWatch } from '../../../src/daemon/clients/suspension-watch.ts';
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
  const now = { found: new Map<string, Suspension[]>(), isAway: false, during: (): void => undefined };
  const changed: string[] = [];
  let looks = 0;
  const watch = new SuspensionWatch({
    look: () => {
      looks += 1;
      now.during();
      return now.isAway ? Promise.reject(new Error('away')) : Promise.resolve(new Map(now.found));
    },
    onChange: (client) => void changed.push(client),
  });
  onTestFinished(() => watch.close());
  const after = async (seconds: number): Promise<string[]> => {
    await vi.advanceTimersByTimeAsync(seconds * 1_000);
    return changed.splice(0);
  };
  return { watch, now, after, looks: () => looks };
};

test('only clients are named of which a suspension begins or ends, once', async () => {
  const { watch, now, after } = watched();
  now.found.set('acme', [one]).set('other', []);
  await watch.start();
  expect(await after(10)).toEqual([]);
  now.found.set('other', [{ ...one, template: null }]).set('new', []);
  expect(await after(2)).toEqual(['other']);
  now.found.set('acme', []).set('other', [{ ...one, template: null, since: 2 }]);
  expect(await after(2)).toEqual(['acme', 'other']);
  expect(await after(60)).toEqual([]);
});

test('a client is named whose suspension ended before any look, but not before a pass that obeyed it', async () => {
  const { watch, now, after } = watched();
  const shown = { by: 'ann', reason: 'moving the mail', since: new Date(1).toISOString(), until: null };
  const later = { ...shown, since: new Date(2).toISOString() };
  now.found.set('acme', []).set('other', [one]);
  await watch.start();
  watch.obeyed('acme', [{}, { suspension: shown }]);
  watch.obeyed('other', [{ suspension: shown }]);
  now.isAway = true;
  expect(await after(10)).toEqual([]);
  now.isAway = false;
  expect(await after(10)).toEqual(['acme']);
  watch.obeyed('acme', [{}]);
  watch.obeyed('other', [{ suspension: later }]);
  expect(await after(10)).toEqual(['other']);
});

test('a client is named as long as its passes obey what no look finds', async () => {
  const { watch, now, after } = watched();
  now.found.set('acme', []);
  await watch.start();
  let pass = (): void =>
    watch.obeyed('acme', [{ suspension: { ...one, since: new Date(1).toISOString(), until: null } }]);
  now.during = () => pass();
  expect(await after(4)).toEqual(['acme', 'acme']);
  pass = () => undefined;
  expect(await after(4)).toEqual([]);
});

test('what happens while the store cannot be read is noticed afterwards', async () => {
  const { watch, now, after } = watched();
  now.found.set('acme', [one]);
  await watch.start();
  now.isAway = true;
  now.found.set('acme', []);
  expect(await after(60)).toEqual([]);
  now.isAway = false;
  expect(await after(2)).toEqual(['acme']);
});

test('a watch that is closed looks no more', async () => {
  const { watch, after, looks } = watched();
  await watch.start();
  await watch.close();
  await after(60);
  expect(looks()).toBe(1);
});
