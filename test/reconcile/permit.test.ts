import { describe, expect, test } from 'vitest';
import type { ActualTemplate } from '../../src/model/template.ts';
import { desiredTemplate, actualTemplate } from '../plan/records.ts';
import { failing, openScene } from './pass.ts';

const limits = { maxAdds: 100, maxChangePercent: 100, minRecords: 10 };
const old = desiredTemplate(['@ A 192.0.2.1', 'www A 192.0.2.2'], { surplus: 'park', limits });
const desired = ['@ A 192.0.2.1', 'www CNAME web.example.net'];

/** An address that the file once listed must be parked for a CNAME. */
const makingWay = async () => {
  const scene = await openScene(actualTemplate(['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2']));
  await scene.pass(old);
  scene.now += 60_000;
  scene.calls.length = 0;
  return scene;
};

const namesOf = ({ records }: { records: readonly { id: number; name: string | null }[] }) =>
  records.map(({ id, name }) => `#${id} ${name ?? '@'}`);

test('a record that may not be parked stays, and the write that needs its name waits', async () => {
  const scene = await makingWay();
  const edits = desiredTemplate(desired, { surplus: 'park', limits, mode: 'edits' });
  scene.actual = actualTemplate(['#1 @ A 192.0.2.1', '#2 www A 192.0.2.9']);
  await scene.pass(edits);
  expect(scene.calls.filter((call) => !call.startsWith('list'))).toEqual(['update 1', 'add 1']);
});

test('a parked record is still to be restored after a listing that is behind its park', async () => {
  const scene = await makingWay();
  const file = desiredTemplate(desired, { surplus: 'park', limits });
  const before = scene.actual;
  scene.mishaps.set('add 1', failing('rate-limited', 429));
  await scene.pass(file);
  expect(namesOf(scene.actual)).toEqual(['#1 @', '#2 _parked-2']);
  for (const list of ['list 1', 'list 2']) scene.mishaps.set(list, () => before);
  await scene.pass(file);
  scene.mishaps.clear();
  scene.mishaps.set('add 1', failing('refused', 422));
  scene.now += 60_000;
  await scene.pass(file);
  expect(namesOf(scene.actual)).toEqual(['#1 @', '#2 www']);
});

test('a parked record is not restored once the program is shutting down', async () => {
  const scene = await makingWay();
  const stop = new AbortController();
  scene.mishaps.set('add 1', failing('refused', 422));
  scene.mishaps.set('list 2', (template) => {
    stop.abort();
    return template;
  });
  await scene.pass(desiredTemplate(desired, { surplus: 'park', limits }), { signal: stop.signal });
  expect(scene.calls).toEqual(['list 1', 'update 1', 'add 1', 'list 2']);
});

test('all parked records are restored, though restoring takes longer than the backoff', async () => {
  const scene = await openScene(
    actualTemplate(['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2', '#3 www A 192.0.2.3']),
  );
  await scene.pass(desiredTemplate(['@ A 192.0.2.1', 'www A 192.0.2.2', 'www A 192.0.2.3'], { limits }));
  scene.now += 60_000;
  scene.mishaps.set('add 1', failing('refused', 422));
  scene.mishaps.set('update 3', (template) => {
    scene.now += 120_000;
    return template;
  });
  await scene.pass(desiredTemplate(desired, { surplus: 'park', limits }));
  expect(namesOf(scene.actual)).toEqual(['#1 @', '#2 www', '#3 www']);
});

test.each(['its answer is lost', 'the process dies'])(
  'a parked record is restored if %s, and the write that needed its name is refused later',
  async (what) => {
    const scene = await makingWay();
    const file = desiredTemplate(desired, { surplus: 'park', limits });
    scene.mishaps.set('update 1', () => {
      if (what === 'its answer is lost') failing('unknown', null)(scene.actual);
      throw new Error('the process dies');
    });
    await scene.pass(file).catch(() => undefined);
    scene.mishaps.clear();
    scene.actual = actualTemplate(['#1 @ A 192.0.2.1', '#2 _parked-2 A 0.0.0.0']);
    scene.calls.length = 0;
    scene.mishaps.set('add 1', failing('refused', 422));
    await scene.pass(file);
    expect(scene.calls).toContain('add 1');
    scene.now += 20_000;
    await scene.pass(file);
    expect(namesOf(scene.actual)).toEqual(['#1 @', '#2 www']);
  },
);

test('after a park of unknown outcome that did not land, an edit changes the record of the file', async () => {
  const scene = await openScene(actualTemplate(['#4 @ A 192.0.2.1', '#5 www A 192.0.2.2']));
  await scene.pass(old);
  scene.now += 60_000;
  scene.mishaps.set('update 1', failing('unknown', null));
  await scene.pass(desiredTemplate(desired, { surplus: 'park', limits }));
  scene.mishaps.clear();
  const others = actualTemplate(['#3 www A 192.0.2.8']).records;
  scene.actual = { ...scene.actual, records: [...scene.actual.records, ...others] };
  scene.now += 1_300_000;
  await scene.pass(desiredTemplate(['@ A 192.0.2.1', 'www A 192.0.2.9'], { limits }));
  expect(scene.actual.records).toMatchObject([
    { id: 4 },
    { id: 5, content: '192.0.2.9' },
    { id: 3, content: '192.0.2.8' },
  ]);
});

test('a park of unknown outcome that did not land is sent once more, when it cannot land any more', async () => {
  const scene = await makingWay();
  const file = desiredTemplate(desired, { surplus: 'park', limits });
  scene.mishaps.set('update 1', failing('unknown', null));
  await scene.pass(file);
  expect(namesOf(scene.actual)).toEqual(['#1 @', '#2 www']);
  scene.mishaps.clear();
  scene.now += 60_000;
  await scene.pass(file);
  expect(namesOf(scene.actual)).toEqual(['#1 @', '#2 www']);
  scene.now += 1_300_000;
  await scene.pass(file);
  expect(namesOf(scene.actual)).toEqual(['#1 @', '#2 _parked-2', '#3 www']);
});

describe('if the service keeps the name of a parked record', () => {
  /** The record that would replace it, if it were not reverted. */
  const file = desiredTemplate(desired, { surplus: 'park', limits });

  test.each(['www', 'www.', 'www.##DOMAIN##'])(
    'it is restored, and nothing else gets its name: %s',
    async (name) => {
      const scene = await makingWay();
      const kept = () => {
        const records = scene.actual.records.map((one) => (one.id === 2 ? { ...one, name } : one));
        return (scene.actual = { ...scene.actual, records });
      };
      scene.mishaps.set('update 1', kept).set('update 2', kept);
      const { templates } = await scene.pass(file);
      expect(scene.calls).toEqual(['list 1', 'update 1', 'update 2']);
      expect(scene.actual.records).toMatchObject([{ id: 1 }, { id: 2, name, content: '192.0.2.2' }]);
      expect(templates[0]).toMatchObject({
        status: 'failed',
        differences: [
          { action: 'park', recordId: 2, outcome: 'failed', error: expect.stringContaining('kept its name') },
          { action: 'park', recordId: 2, outcome: 'applied', desired: { content: '192.0.2.2' } },
          { action: 'blocked', reason: 'cname-conflict' },
        ],
      });
      for (const trigger of ['schedule', 'command'] as const) {
        scene.calls.length = 0;
        await scene.pass(file, { trigger });
        expect(scene.calls).toEqual(['list 1']);
      }
    },
  );

  test('a later pass restores it only if two readings require it', async () => {
    const scene = await makingWay();
    const kept = (): ActualTemplate => {
      const records = scene.actual.records.map((one) => (one.id === 2 ? { ...one, name: 'www.' } : one));
      return (scene.actual = { ...scene.actual, records });
    };
    scene.mishaps.set('update 1', kept).set('update 2', failing('refused', 422));
    await scene.pass(file);
    scene.mishaps.clear();
    scene.calls.length = 0;
    scene.now += 60_000;
    const more = actualTemplate(['#9 other TXT hello']).records;
    scene.actual = { ...scene.actual, records: [...scene.actual.records, ...more] };
    scene.mishaps.set('list 2', (template) => ({ ...template, records: template.records.slice(1) }));
    await scene.pass(file);
    expect(scene.calls).toEqual(['list 1', 'list 2']);
  });

  test('it is restored also if nothing needs its name', async () => {
    const scene = await makingWay();
    scene.mishaps.set('update 1', () => {
      const records = scene.actual.records.map((one) => (one.id === 2 ? { ...one, name: 'www' } : one));
      return (scene.actual = { ...scene.actual, records });
    });
    await scene.pass(desiredTemplate(['@ A 192.0.2.1'], { surplus: 'park', limits }));
    expect(scene.calls).toEqual(['list 1', 'update 1', 'update 2']);
    expect(scene.actual.records).toMatchObject([{ id: 1 }, { id: 2, name: 'www', content: '192.0.2.2' }]);
  });

  test('an answer that shows it unchanged does not prove that: another reading decides', async () => {
    const scene = await makingWay();
    const before = scene.actual;
    scene.mishaps.set('update 1', () => before);
    const { templates } = await scene.pass(file);
    expect(scene.calls).toEqual(['list 1', 'update 1', 'list 2', 'add 1']);
    expect(templates[0]!.differences).toMatchObject([
      { action: 'park', outcome: 'applied' },
      { action: 'add', outcome: 'applied' },
    ]);
  });

  test.each([
    ['enforce', ['list 1', 'update 1']],
    ['report', ['list 1']],
  ] as const)('it is put back by a later pass where that is refused at first: %s', async (mode, calls) => {
    const scene = await makingWay();
    const kept = () => {
      const records = scene.actual.records.map((one) => (one.id === 2 ? { ...one, name: 'www.' } : one));
      return (scene.actual = { ...scene.actual, records });
    };
    scene.mishaps.set('update 1', kept).set('update 2', failing('refused', 422));
    await scene.pass(file);
    expect(scene.calls).toEqual(['list 1', 'update 1', 'update 2', 'list 2']);
    scene.mishaps.clear();
    scene.mishaps.set('update 1', kept);
    scene.calls.length = 0;
    scene.now += 60_000;
    await scene.pass({ ...file, mode });
    expect(scene.calls).toEqual(calls);
    const content = mode === 'enforce' ? '192.0.2.2' : '0.0.0.0';
    expect(scene.actual.records).toMatchObject([{ id: 1 }, { id: 2, name: 'www.', content }]);
  });
});

test('a parked record is restored once in a pass', async () => {
  const scene = await makingWay();
  scene.mishaps.set('add 1', failing('refused', 422)).set('update 2', failing('unknown', null));
  await scene.pass(desiredTemplate(desired, { surplus: 'park', limits }));
  expect(scene.calls).toEqual(['list 1', 'update 1', 'add 1', 'list 2', 'update 2', 'list 3']);
});

test('nothing is parked in a stopped template', async () => {
  const scene = await makingWay();
  scene.mishaps.set('update 1', failing('unknown', null));
  await scene.pass(desiredTemplate(['@ A 192.0.2.9'], { surplus: 'park', limits }));
  expect(scene.calls).toEqual(['list 1', 'update 1', 'list 2']);
});

test('a park and its restore are both reported', async () => {
  const scene = await makingWay();
  scene.mishaps.set('add 1', failing('refused', 422));
  const { templates } = await scene.pass(desiredTemplate(desired, { surplus: 'park', limits }));
  expect(templates[0]!.differences).toMatchObject([
    { action: 'park', recordId: 2, outcome: 'applied', desired: { name: '_parked-2' } },
    { action: 'add', outcome: 'failed' },
    { action: 'park', recordId: 2, outcome: 'applied', desired: { name: 'www' } },
    { action: 'surplus', recordId: 2 },
  ]);
});

test('a parked record is restored also with a retry by a person', async () => {
  const scene = await makingWay();
  const file = desiredTemplate(desired, { surplus: 'park', limits });
  scene.mishaps.set('add 1', failing('refused', 422)).set('update 2', failing('refused', 422));
  await scene.pass(file);
  expect(namesOf(scene.actual)).toEqual(['#1 @', '#2 _parked-2']);
  await scene.pass(file, { trigger: 'command', retry: true });
  await scene.pass(file);
  expect(namesOf(scene.actual)).toEqual(['#1 @', '#2 www']);
});

describe('a move of unknown outcome', () => {
  const moving = (...records: readonly string[]) =>
    desiredTemplate(['@ A 192.0.2.1', ...records], { surplus: 'park', limits });

  /** `#2 www` was to become `api`. */
  const moved = async (type: string) => {
    const scene = await openScene(actualTemplate(['#1 @ A 192.0.2.1', `#2 www ${type}`]));
    await scene.pass(moving(`www ${type}`));
    scene.mishaps.set('update 1', failing('unknown', null));
    scene.now += 60_000;
    await scene.pass(moving(`api ${type}`));
    expect(scene.calls).toContain('update 1');
    scene.mishaps.clear();
    scene.calls.length = 0;
    return scene;
  };

  test('keeps everything that enters or leaves a name waiting, and no update in place', async () => {
    const scene = await moved('A 192.0.2.2');
    const { templates } = await scene.pass(moving('api A 192.0.2.2', 'mail A 192.0.2.3'));
    expect(templates[0]).toMatchObject({
      status: 'held',
      message: expect.stringContaining('an earlier write has not settled'),
      retryAt: expect.any(String),
    });
    expect(scene.calls.filter((call) => !call.startsWith('list'))).toEqual([]);
    await scene.pass(desiredTemplate(['@ A 192.0.2.9', 'api A 192.0.2.2'], { surplus: 'park', limits }));
    expect(scene.calls.filter((call) => !call.startsWith('list'))).toEqual(['update 1']);
  });

  test('is no obstacle to itself', async () => {
    const scene = await moved('CNAME web.example.net');
    scene.now += 1_300_000;
    await scene.pass(moving('api CNAME web.example.net'));
    expect(namesOf(scene.actual)).toEqual(['#1 @', '#2 api']);
  });
});
