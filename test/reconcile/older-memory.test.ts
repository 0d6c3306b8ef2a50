import { describe, expect, test } from 'vitest';
import type { Pass } from '../../src/reconcile/pass.ts';
import { data, desiredTemplate, ignoring, actualTemplate } from '../plan/records.ts';
import { MemoryError } from '../../src/state/memory.ts';
import { entryOf, recordKey } from '../../src/plan/entry.ts';
import { intentOf } from '../state/samples.ts';
import { failing, openScene } from './pass.ts';

const file = (...more: readonly string[]) =>
  desiredTemplate(['@ A 192.0.2.1', 'www A 192.0.2.2', ...more], { ignore: [ignoring({ name: 'old' })] });

/** A template that a pass has seen in sync. */
const known = async () => {
  const scene = await openScene(actualTemplate(['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2']));
  await scene.pass(file());
  const warnings: string[] = [];
  const pass = (...[desired, more]: readonly [ReturnType<typeof file>, Partial<Pass>?]) =>
    scene.pass(desired, { ...more, warn: (message) => warnings.push(message) });
  return { scene, pass, warnings };
};

const neverSeen = expect.stringContaining('have ids that the saved state does not know');

describe('a desired record under an unknown id', () => {
  test('makes the saved state doubtful', async () => {
    const { scene, pass, warnings } = await known();
    scene.actual = actualTemplate(['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2', '#9 mail A 192.0.2.3']);
    await pass(file('mail A 192.0.2.3'));
    expect(warnings).toEqual([neverSeen]);
  });

  test('is expected after an abandoned add, also of a record that was there before', async () => {
    const { scene, pass, warnings } = await known();
    scene.actual = actualTemplate(['#1 @ A 192.0.2.1']);
    scene.mishaps.set('add 1', failing('unknown', null));
    await pass(file());
    scene.actual = actualTemplate(['#1 @ A 192.0.2.1', '#9 www A 192.0.2.2']);
    const { templates } = await pass(file());
    expect(templates[0]).toMatchObject({ status: 'in-sync' });
    expect(warnings).toEqual([]);
  });
});

test('an unchanged record that the file dropped stays known with a doubtful state', async () => {
  const { scene, pass, warnings } = await known();
  const named = (name: string) => {
    scene.actual = actualTemplate(['#1 @ A 192.0.2.1', `#2 ${name} A 192.0.2.2`]);
    return scene.actual;
  };
  scene.actual = actualTemplate(['#1 @ A 192.0.2.1', '#2 www A 192.0.2.9']);
  scene.mishaps.set('update 1', () => named('www.'));
  await pass(file());
  scene.mishaps.clear();
  scene.actual = actualTemplate(['#1 @ A 192.0.2.1', '#2 www. A 192.0.2.2', '#9 mail A 192.0.2.3']);
  await pass(desiredTemplate(['@ A 192.0.2.1', 'mail A 192.0.2.3']));
  expect(warnings).toEqual([neverSeen]);
  scene.calls.length = 0;
  await pass(file('mail A 192.0.2.3'));
  expect(scene.calls).not.toContain('add 1');
});

test('nothing is added beside a known record of another type, also with a doubtful state', async () => {
  const { scene, pass, warnings } = await known();
  scene.actual = actualTemplate(['#1 @ A 192.0.2.1', '#2 old A 192.0.2.2', '#9 mail A 192.0.2.3']);
  await pass(file('mail A 192.0.2.3'));
  expect(warnings).toEqual([neverSeen]);
  scene.calls.length = 0;
  const { templates } = await pass(file('mail A 192.0.2.3'), { trigger: 'command', retry: true });
  expect(templates[0]?.differences).toMatchObject([
    { action: 'blocked', reason: 'not-converging', recordId: 2 },
  ]);
  expect(scene.calls).not.toContain('add 1');
});

test('a record that one reading lacked with a doubtful state is known again when it is back', async () => {
  const { scene, pass, warnings } = await known();
  scene.actual = actualTemplate(['#1 @ A 192.0.2.1', '#9 mail A 192.0.2.3']);
  await pass(file('mail A 192.0.2.3'));
  expect(warnings).toEqual([neverSeen]);
  scene.actual = actualTemplate(['#1 @ A 192.0.2.1', '#2 old A 192.0.2.2', '#9 mail A 192.0.2.3']);
  scene.calls.length = 0;
  await pass(file('mail A 192.0.2.3'), { trigger: 'command', retry: true });
  expect(scene.calls).not.toContain('add 1');
});

describe('the saved state is not doubtful', () => {
  const doubtful = ['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2', '#9 mail A 192.0.2.3'];

  test('when the file lists a record that existed at first contact', async () => {
    const { scene, pass, warnings } = await known();
    scene.actual = actualTemplate(['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2', '#3 mail A 192.0.2.4']);
    await pass(file());
    scene.actual = actualTemplate(['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2', '#3 mail A 192.0.2.3']);
    await pass(file('mail A 192.0.2.3'));
    expect(warnings).toEqual([]);
  });

  test('when an add of ours was the last change that could be saved', async () => {
    const { scene, pass, warnings } = await known();
    const save = () => Promise.reject(new MemoryError('the disk is full'));
    await pass(file('mail A 192.0.2.3'), { writer: { ...scene.memory, save } });
    const { templates } = await pass(file('mail A 192.0.2.3'));
    expect(templates[0]).toMatchObject({ status: 'in-sync' });
    expect(warnings).toEqual([]);
  });

  test('when a person retries an abandoned add of ours', async () => {
    const { scene, pass, warnings } = await known();
    scene.mishaps.set('add 1', failing('unknown', null));
    await pass(file('mail A 192.0.2.3'));
    scene.actual = actualTemplate(['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2', '#9 mail A 192.0.2.3']);
    await pass(file('mail A 192.0.2.3'), { trigger: 'command', retry: true });
    expect(warnings).toEqual([]);
  });

  test('when an add of a record that was there before lands late, of which an older version notes no ids', async () => {
    const { scene, pass, warnings } = await known();
    const { row, records } = (await scene.memory.template(17))!;
    const sent = data('www A 192.0.2.2');
    const failure = { kind: 'unknown', message: '', count: 1, sent, retryAt: 0, pause: 300_000 } as const;
    const added = records.map((one) => (one.recordId === 2 ? { ...one, adds: 1, failure } : one));
    await scene.memory.save({ row, records: added, forgotten: [] });
    scene.actual = actualTemplate(['#1 @ A 192.0.2.1', '#9 www A 192.0.2.2']);
    await pass(file());
    expect(warnings).toEqual([]);
  });

  test('when the record at the name of a desired one differs', async () => {
    const { scene, pass, warnings } = await known();
    scene.actual = actualTemplate(['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2', '#9 mail A 192.0.2.4']);
    await pass(file('mail A 192.0.2.3'));
    expect(warnings).toEqual([]);
  });

  test('while an add is pending', async () => {
    const { scene, pass, warnings } = await known();
    const after = data('api A 192.0.2.5');
    await scene.memory.begin(intentOf({ key: recordKey(entryOf(after)), after, idsBefore: [1, 2] }));
    scene.actual = actualTemplate(doubtful);
    scene.mishaps.set('list 2', failing('unavailable', 502));
    await pass(file('mail A 192.0.2.3', 'api A 192.0.2.5'));
    expect(warnings).toEqual([]);
  });

  test('while a reading lacks many records', async () => {
    const { scene, pass, warnings } = await known();
    scene.actual = actualTemplate(['#9 mail A 192.0.2.3']);
    await pass(file('mail A 192.0.2.3'));
    expect(warnings).toEqual([]);
  });
});

test.each([
  [9, []],
  [8, [neverSeen]],
])('state of an older version has seen the ids up to the highest one: %i', async (highestId, expected) => {
  const { scene, pass, warnings } = await known();
  const { row, records } = (await scene.memory.template(17))!;
  const { others: _, ...older } = row;
  await scene.memory.save({ row: { ...older, highestId }, records, forgotten: [] });
  scene.actual = actualTemplate(['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2', '#9 mail A 192.0.2.3']);
  await pass(file('mail A 192.0.2.3'));
  expect(warnings).toEqual(expected);
});

describe('beside a record that may be the desired one in the service’s spelling', () => {
  const before = actualTemplate(['#1 @ A 192.0.2.1', '#2 www. A 192.0.2.2']);

  test.each(['report', 'park'] as const)(
    'nothing is added where the file adopts from now on and can make no use of it, and that stays in service: %s',
    async (surplus) => {
      const scene = await openScene(actualTemplate(['#1 www A 192.0.2.1', '#2 ##DOMAIN## A 192.0.2.2']));
      const records = ['www A 192.0.2.1', '@ A 192.0.2.2'];
      const limits = { maxAdds: 100, maxChangePercent: 100, minRecords: 10 };
      await scene.pass(desiredTemplate(records));
      const { templates } = await scene.pass(desiredTemplate(records, { adopt: true, surplus, limits }));
      expect(scene.calls.filter((call) => !call.startsWith('list'))).toEqual([]);
      expect(templates[0]!.differences).toMatchObject([
        { action: 'blocked', reason: 'not-converging' },
        { action: 'surplus', recordId: 2 },
      ]);
    },
  );

  test.each([0, 1])(
    'a retry needs no force beside it where no name agrees, after %i reports',
    async (reports) => {
      const scene = await openScene(actualTemplate(['#2 www. A 192.0.2.2', '#3 x TXT hello']));
      const records = desiredTemplate(['www A 192.0.2.2', 'api A 192.0.2.3']);
      for (let passes = 0; passes < reports; passes += 1) await scene.pass(records);
      expect(scene.calls).not.toContain('add 1');
      await scene.pass(records, { trigger: 'command', retry: true });
      expect(scene.calls).toEqual(expect.arrayContaining(['add 1', 'add 2']));
    },
  );

  test.each([0, 1])('adopting with park is enough, after %i reports', async (reports) => {
    const scene = await openScene(before);
    for (let passes = 0; passes < reports; passes += 1) await scene.pass(file('api A 192.0.2.3'));
    const limits = { maxAdds: 100, maxChangePercent: 100, minRecords: 10 };
    for (const _ of [1, 2, 3])
      await scene.pass({ ...file('api A 192.0.2.3'), adopt: true, surplus: 'park', limits });
    expect(scene.actual.records.map(({ name }) => name)).toEqual([null, 'www', 'api']);
  });

  test('an edit of the file adds the record', async () => {
    const scene = await openScene(before);
    await scene.pass(desiredTemplate(['@ A 192.0.2.1']));
    await scene.pass(file());
    expect(scene.calls).toContain('add 1');
  });

  test('nothing is added where the file adopts and parks nothing, and a vanished record is, once a person allowed it', async () => {
    const scene = await openScene(before);
    const adopting = desiredTemplate(['@ A 192.0.2.1', 'www A 192.0.2.2'], { adopt: true });
    await scene.pass(adopting);
    expect(scene.calls).not.toContain('add 1');
    await scene.pass(adopting, { trigger: 'command', retry: true });
    expect(scene.calls).toContain('add 1');
    await scene.pass(adopting);
    scene.actual = before;
    scene.calls.length = 0;
    scene.now += 3_600_000;
    await scene.pass(adopting);
    expect(scene.calls).toContain('add 1');
  });

  test('nothing is added with an older copy of the state, whose causes are unknown then', async () => {
    const scene = await openScene(actualTemplate(['#1 @ A 192.0.2.1']));
    await scene.pass(desiredTemplate(['@ A 192.0.2.1']));
    scene.actual = actualTemplate(['#1 @ A 192.0.2.7', '#3 www.##DOMAIN## A 192.0.2.2']);
    const edits = desiredTemplate(['@ A 192.0.2.8', 'www A 192.0.2.2'], { mode: 'edits' });
    for (const _ of [1, 2]) {
      const { templates } = await scene.pass(edits);
      expect(templates[0]!.differences).toMatchObject([
        { action: 'update', outcome: 'skipped', cause: 'unknown' },
        { action: 'blocked', reason: 'not-converging' },
        { action: 'surplus', recordId: 3 },
      ]);
    }
    expect(scene.calls.filter((call) => !call.startsWith('list'))).toEqual([]);
  });
});
