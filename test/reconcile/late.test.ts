import { describe, expect, test } from 'vitest';
import { MemoryError } from '../../src/state/memory.ts';
import type { Change } from '../../src/result.ts';
import { entryOf, recordKey } from '../../src/plan/entry.ts';
import { actualTemplate, data, desiredTemplate } from '../plan/records.ts';
import { intentOf } from '../state/samples.ts';
import { KeptOutcomes } from '../../src/reconcile/shell/save.ts';
import { failing, openScene, type Scene } from './pass.ts';

const minute = 60_000;
const apex = '@ A 192.0.2.1';
const limits = { maxAdds: 100, maxChangePercent: 100, minRecords: 10 };

test('what somebody makes of another record does not end the wait for an add', async () => {
  const scene = await openScene(actualTemplate([`#1 ${apex}`, '#2 ftp A 192.0.2.2']));
  const www = 'www A 192.0.2.9';
  await scene.pass(desiredTemplate([apex]));
  scene.mishaps.set('add 1', failing('unknown', 504));
  await scene.pass(desiredTemplate([apex, www], { limits }));
  scene.mishaps.clear();
  scene.calls.length = 0;
  scene.actual = actualTemplate([`#1 ${apex}`, `#2 ${www}`]);
  const file = desiredTemplate([apex, www, 'mail A 192.0.2.3'], { limits });
  scene.now += minute;
  await scene.pass(file);
  scene.now += minute;
  await scene.pass(file);
  expect(scene.calls).not.toContain('add 1');
  scene.actual = actualTemplate([`#1 ${apex}`, `#2 ${www}`, `#9 ${www}`]);
  await scene.pass(file);
  const known = await scene.memory.template(17);
  expect(known?.records.find(({ recordId }) => recordId === 2)?.copies).toEqual([9]);
});

test('a record whose own one has become another of the file is not added a third time', async () => {
  const scene = await openScene(actualTemplate(['#1 ftp A 192.0.2.1']));
  const pass = async (...records: readonly string[]) => {
    scene.calls.length = 0;
    const { templates } = await scene.pass(desiredTemplate(['ftp A 192.0.2.1', ...records], { limits }));
    scene.now += 20 * minute;
    return templates[0]?.differences;
  };
  for (let adds = 0; adds < 2; adds += 1) {
    scene.actual = actualTemplate(['#1 ftp A 192.0.2.1']);
    await pass('@ A 192.0.2.2');
    expect(scene.calls).toContain('add 1');
    await pass('@ A 192.0.2.2');
  }
  const id = scene.actual.records[1]!.id;
  scene.actual = actualTemplate(['#1 ftp A 192.0.2.1', `#${id} api A 192.0.2.2`]);
  await pass('@ A 192.0.2.2', 'api 60 A 192.0.2.2');
  expect(scene.calls).toContain('update 1');
  expect(await pass('@ A 192.0.2.2', 'api 60 A 192.0.2.2')).toMatchObject([
    { action: 'blocked', reason: 'vanished' },
  ]);
});

describe('an add that was bound to an equal record of somebody else', () => {
  const file = desiredTemplate([apex, 'www A 192.0.2.2'], { limits });
  const theirs = actualTemplate([`#1 ${apex}`, '#8 www A 192.0.2.2']);
  const both = actualTemplate([`#1 ${apex}`, '#8 www A 192.0.2.2', '#9 www. A 192.0.2.2']);
  const bound = async (shown = theirs) => {
    const scene = await openScene(actualTemplate([`#1 ${apex}`]));
    scene.mishaps.set('add 1', failing('unknown', 504));
    scene.mishaps.set('list 3', () => (scene.actual = shown));
    await scene.pass(file);
    scene.mishaps.clear();
    return scene;
  };
  const copiesOf = async ({ memory }: Scene) =>
    (await memory.template(17))?.records.find(({ recordId }) => recordId === 8)?.copies;

  test('is not repeated when that one is gone', async () => {
    const scene = await bound(both);
    scene.actual = actualTemplate([`#1 ${apex}`, '#9 www. A 192.0.2.2']);
    scene.calls.length = 0;
    for (let passes = 0; passes < 2; passes += 1) {
      scene.now += 10 * minute;
      const { templates } = await scene.pass(file);
      expect(templates[0]?.differences[0]).toMatchObject({ action: 'blocked', reason: 'not-converging' });
    }
    expect(scene.calls).not.toContain('add 1');
  });

  test('is recognised when it appears', async () => {
    const scene = await bound();
    expect(await copiesOf(scene)).toEqual([]);
    scene.actual = both;
    scene.now += 14 * minute;
    await scene.pass(file);
    expect(await copiesOf(scene)).toEqual([9]);
  });

  test('is parked when it appears beside what the file says since', async () => {
    const scene = await bound();
    const since = desiredTemplate([apex, 'www CNAME web.example.org'], { surplus: 'park', limits });
    await scene.pass(since);
    scene.actual = {
      ...scene.actual,
      records: [...scene.actual.records, ...actualTemplate(['#19 www A 192.0.2.2']).records],
    };
    scene.now += 14 * minute;
    await scene.pass(since);
    expect(scene.actual.records.map(({ name, type }) => `${name ?? '@'} ${type}`)).toEqual([
      '@ A',
      '_parked-8 A',
      'www CNAME',
      '_parked-19 A',
    ]);
  });

  test('is recognised in the second reading after the time in which it may appear, and in no later one', async () => {
    const scene = await bound();
    scene.now += 16 * minute;
    await scene.pass(file);
    const late = await bound();
    for (let passes = 0; passes < 2; passes += 1) {
      late.now += 16 * minute;
      await late.pass(file);
    }
    for (const one of [scene, late]) {
      one.actual = both;
      await one.pass(file);
    }
    expect(await copiesOf(scene)).toEqual([9]);
    expect(await copiesOf(late)).toEqual([]);
  });
});

test('an add takes the place of the earlier record, if somebody has renamed that one', async () => {
  const scene = await openScene(actualTemplate([`#1 ${apex}`, '#5 www A 192.0.2.2']));
  const file = desiredTemplate([apex, 'www A 192.0.2.2'], { limits });
  await scene.pass(file);
  scene.actual = actualTemplate([`#1 ${apex}`]);
  scene.mishaps.set('add 1', failing('unknown', 504));
  scene.mishaps.set('list 3', () => (scene.actual = renamed));
  const renamed = actualTemplate([`#1 ${apex}`, '#5 old A 192.0.2.2', '#9 www A 192.0.2.2']);
  await scene.pass(file);
  const known = await scene.memory.template(17);
  expect(known?.records.find(({ wanted }) => wanted.name === 'www')).toMatchObject({
    recordId: 9,
    copies: [5],
  });
});

test('an update that shows but for its name may still give it', async () => {
  const scene = await openScene(actualTemplate([`#1 ${apex}`, '#5 api A 192.0.2.2']));
  const listing = (record: string) => desiredTemplate([apex, record], { surplus: 'park', limits });
  await scene.pass(listing('api A 192.0.2.2'));
  scene.mishaps.set('update 1', failing('unknown', 504));
  await scene.pass(listing('www 60 A 192.0.2.2'));
  expect(scene.calls).toContain('update 1');
  scene.mishaps.clear();
  scene.actual = actualTemplate([`#1 ${apex}`, '#5 api 60 A 192.0.2.2']);
  const file = listing('ftp 60 A 192.0.2.2');
  scene.now += minute;
  const { templates } = await scene.pass(file);
  expect(templates[0]?.differences[0]).toMatchObject({
    action: 'blocked',
    reason: 'pending-write',
    recordId: 5,
  });
  scene.now += 5 * minute;
  await scene.pass(file);
  expect(scene.actual.records[1]).toMatchObject({ id: 5, name: 'ftp' });
});

test('a record that a late update made another one is not added a third time', async () => {
  const scene = await openScene(actualTemplate([`#1 ${apex}`]));
  const first = desiredTemplate([apex, 'www A 192.0.2.2'], { limits });
  await scene.pass(first);
  expect(scene.calls).toContain('add 1');
  const id = scene.actual.records[1]!.id;
  scene.mishaps.set('update 1', failing('unknown', 504));
  await scene.pass(desiredTemplate([apex, 'www A 192.0.2.3'], { limits }));
  scene.mishaps.clear();
  scene.actual = actualTemplate([`#1 ${apex}`, `#${id} www A 192.0.2.3`]);
  scene.mishaps.set('add 1', failing('unknown', 504));
  const both = desiredTemplate([apex, 'www A 192.0.2.2', 'www A 192.0.2.3'], { limits });
  scene.now += 10 * minute;
  const { templates } = await scene.pass(both);
  expect(templates[0]?.differences).toMatchObject([{ action: 'add', outcome: 'failed', cause: 'edited' }]);
  scene.now += 10 * minute;
  scene.calls.length = 0;
  const { templates: later } = await scene.pass(both);
  expect(later[0]?.differences).toMatchObject([{ action: 'blocked', reason: 'pending-write' }]);
  expect(scene.calls).not.toContain('add 1');
});

test('what arrives late is the record, not one whose update may never have left', async () => {
  const scene = await openScene(actualTemplate([`#1 ${apex}`, '#6 mail A 192.0.2.3']));
  const [before, after] = [data('mail A 192.0.2.3'), data('mail A 192.0.2.2')];
  const key = recordKey(entryOf(after));
  await scene.pass(desiredTemplate([apex]));
  await scene.memory.begin(intentOf({ run: 'run-0', key, after, idsBefore: [1, 6] }));
  await scene.memory.begin(
    intentOf({ run: 'run-0', key, after, action: 'update', recordId: 6, before, idsBefore: [] }),
  );
  const file = desiredTemplate([apex, 'mail A 192.0.2.2'], { limits });
  scene.actual = actualTemplate([`#1 ${apex}`, '#6 www A 192.0.2.3']);
  await scene.pass(file);
  scene.actual = actualTemplate([`#1 ${apex}`, '#6 www A 192.0.2.3', '#14 mail. A 192.0.2.2']);
  scene.now += 10 * minute;
  await scene.pass(file);
  expect(scene.actual.records[1]).toMatchObject({ id: 6, name: 'www', content: '192.0.2.3' });
  expect((await scene.memory.template(17))!.records).toContainEqual(
    expect.objectContaining({ key, recordId: 14, copies: [] }),
  );
});

describe('a record that may still get another name', () => {
  test('is in the way of a CNAME there, also where somebody had taken the name from it', async () => {
    const scene = await openScene(actualTemplate([`#1 ${apex}`, '#2 www A 192.0.2.2']));
    const file = (record: string) => desiredTemplate([apex, record], { limits });
    await scene.pass(file('www A 192.0.2.2'));
    scene.actual = actualTemplate([`#1 ${apex}`, '#2 api A 192.0.2.2']);
    scene.now += minute;
    scene.mishaps.set('update 1', failing('unknown', 504));
    await scene.pass(file('www A 192.0.2.2'));
    scene.mishaps.clear();
    const pass = () => scene.pass(file('www CNAME web.example.org'));
    scene.now += minute;
    expect((await pass()).templates[0]?.differences).toContainEqual(
      expect.objectContaining({ reason: 'cname-conflict', conflicts: [2] }),
    );
    scene.now += 4 * minute;
    await pass();
    expect(scene.actual.records[2]).toMatchObject({ name: 'www', type: 'CNAME' });
  });
});

test('a record keeps the name that the service gave it, where the answer to its last update was lost', async () => {
  const scene = await openScene(actualTemplate([`#1 www A 192.0.2.1`]));
  const file = (mx: string) =>
    desiredTemplate(['www A 192.0.2.1', `@ MX ${mx}`], { surplus: 'park', limits });
  const stored = (priority: number) =>
    actualTemplate(['#1 www A 192.0.2.1', `#8 ##DOMAIN## MX ${priority} mx1.example.net`]);
  scene.mishaps.set('add 1', () => (scene.actual = stored(10)));
  await scene.pass(file('10 mx1.example.net'));
  scene.mishaps.set('update 1', failing('unknown', 504));
  await scene.pass(file('20 mx1.example.net'));
  scene.mishaps.clear();
  scene.actual = stored(20);
  scene.calls.length = 0;
  scene.now += 20 * minute;
  await scene.pass(file('10 mx1.example.net'));
  expect(scene.calls.filter((call) => !call.startsWith('list'))).toEqual(['update 1']);
});

test('a record counts under the name that the service gave it, where the answer to its last update was lost', async () => {
  const scene = await openScene(actualTemplate(['#1 @ TXT one']));
  const file = (record: string) => desiredTemplate(['@ TXT one', record], { limits });
  const stored = (content: string) => actualTemplate(['#1 @ TXT one', `#8 www.example.net A ${content}`]);
  scene.mishaps.set('add 1', () => (scene.actual = stored('192.0.2.1')));
  await scene.pass(file('www A 192.0.2.1'));
  scene.mishaps.set('update 1', failing('unknown', 504));
  await scene.pass(file('www A 192.0.2.2'));
  scene.mishaps.clear();
  scene.actual = stored('192.0.2.2');
  scene.now += 20 * minute;
  const { templates } = await scene.pass(file('www CNAME web.example.org'));
  expect(templates[0]?.differences).toMatchObject([
    { action: 'blocked', reason: 'cname-conflict' },
    { action: 'surplus', recordId: 8 },
  ]);
});

describe('an outcome that could not be saved', () => {
  test.each(['update', 'add'] as const)('is told once, and saved by the next pass: %s', async (action) => {
    const scene = await openScene(actualTemplate([`#1 ${apex}`, '#2 www A 192.0.2.2']));
    await scene.pass(desiredTemplate([apex, 'www A 192.0.2.2']));
    scene.now += minute;
    const told: Change[] = [];
    const full = () => Promise.reject(new MemoryError('the disk is full'));
    const writer = { ...scene.memory, finish: full, save: full };
    const unsaved = new KeptOutcomes();
    const edited =
      action === 'add' ? [apex, 'www A 192.0.2.2', 'api A 192.0.2.3'] : [apex, 'www A 192.0.2.9'];
    const pass = (more = {}) =>
      scene.pass(desiredTemplate(edited), { onChange: (change) => told.push(change), unsaved, ...more });
    for (let passes = 0; passes < 3; passes += 1) {
      await pass({ writer });
      scene.now += minute;
    }
    await pass();
    expect(told.map((change) => `${change.action} ${change.outcome}`)).toEqual([`${action} applied`]);
    expect(await scene.memory.openIntents()).toEqual([]);
    expect((await scene.memory.history()).map(({ outcome }) => outcome)).toEqual(['applied']);
  });

  test('is left to another process that resolved it', async () => {
    const scene = await openScene(actualTemplate([`#1 ${apex}`, '#2 www A 192.0.2.2']));
    await scene.pass(desiredTemplate([apex, 'www A 192.0.2.2']));
    const full = () => Promise.reject(new MemoryError('the disk is full'));
    const unsaved = new KeptOutcomes();
    const edited = desiredTemplate([apex, 'www A 192.0.2.9']);
    await scene.pass(edited, { writer: { ...scene.memory, finish: full, save: full }, unsaved });
    scene.now += minute;
    await scene.pass(edited);
    const before = await scene.memory.template(17);
    await scene.pass(edited, { unsaved });
    expect((await scene.memory.history()).map(({ outcome }) => outcome)).toEqual(['unknown']);
    expect(await scene.memory.template(17)).toEqual(before);
  });
});

test('an edit is taken back in mode edits, although the state could not be saved since', async () => {
  const scene = await openScene(actualTemplate([`#1 ${apex}`, '#2 www A 192.0.2.2']));
  const file = (address: string) => desiredTemplate([apex, `www A ${address}`], { mode: 'edits' });
  await scene.pass(file('192.0.2.2'));
  const save = () => Promise.reject(new MemoryError('the disk is full'));
  await scene.pass(file('192.0.2.9'), { writer: { ...scene.memory, save } });
  expect(scene.actual.records[1]!.content).toBe('192.0.2.9');
  const { templates } = await scene.pass(file('192.0.2.2'));
  expect(scene.actual.records[1]!.content).toBe('192.0.2.2');
  expect(templates[0]!.status).toBe('in-sync');
});

test('the wait between two readings goes by when the second one was asked for', async () => {
  const scene = await openScene(actualTemplate([`#1 ${apex}`, '#2 www A 192.0.2.2']));
  await scene.pass(desiredTemplate([apex, 'www A 192.0.2.2']));
  const asked = scene.now + 9_000;
  scene.now += 20_000;
  scene.calls.length = 0;
  const askedAt = { now: asked, uptime: { boot: 'b', at: asked } };
  await scene.pass(desiredTemplate([apex, 'www A 192.0.2.3']), { askedAt });
  expect(scene.calls).toEqual(['list 1', 'list 2', 'update 1']);
});

test('after a failover no record gets a name of the file while a forgotten write may still come', async () => {
  const scene = await openScene(
    actualTemplate(['#1 @ A 192.0.2.1', '#2 old AAAA 2001:db8::2', '#3 mail A 192.0.2.3']),
  );
  const file = (...records: readonly string[]) =>
    desiredTemplate([apex, 'mail A 192.0.2.3', ...records], { surplus: 'park', adopt: true, limits });
  await scene.pass(file('old AAAA 2001:db8::2'));
  scene.now += minute;
  const holdsAdds = 'the database lost its last commits';
  const wanted = file('www AAAA 2001:db8::2');
  const { templates } = await scene.pass(wanted, { holdsAdds });
  expect(templates[0]!.differences).toMatchObject([
    { action: 'update', recordId: 2, fields: ['name'], outcome: 'skipped' },
  ]);
  await scene.pass(wanted);
  expect(scene.actual.records.map(({ name }) => name)).toContain('www');
});
