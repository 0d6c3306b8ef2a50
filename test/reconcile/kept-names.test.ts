import { expect, test } from 'vitest';
import { desiredTemplate, actualTemplate } from '../plan/records.ts';
import { failing, openScene } from './pass.ts';

const limits = { maxAdds: 100, maxChangePercent: 100, minRecords: 10 };
const file = (...records: readonly string[]) =>
  desiredTemplate(records, { surplus: 'park', adopt: true, limits });
const www = 'www A 192.0.2.1';

test('the name in an answer to a write without a name is not the service’s spelling', async () => {
  const scene = await openScene(actualTemplate(['#1 @ MX 10 mx1.example.net', '#2 www A 192.0.2.1']));
  await scene.pass(file('@ MX 10 mx1.example.net', www));
  // Somebody renames it at the same time.
  scene.mishaps.set('update 1', (template) => {
    const renamed = actualTemplate(['#1 mail MX 10 mx2.example.net']).records;
    const text = actualTemplate(['#3 @ TXT hello']).records;
    scene.actual = { ...template, records: [...renamed, ...template.records.slice(1), ...text] };
    return { ...scene.actual, records: scene.actual.records.slice(0, 2) };
  });
  await scene.pass(file('@ MX 10 mx2.example.net', www));
  scene.calls.length = 0;
  const { templates } = await scene.pass(file('@ MX 10 mx2.example.net', www));
  expect(scene.calls).not.toContain('update 1');
  expect(templates[0]?.differences).toMatchObject([
    { action: 'blocked', reason: 'not-converging', recordId: 1 },
    { action: 'surplus', recordId: 3 },
  ]);
});

test.each(['www.', 'www.##DOMAIN##', 'www.bakery.example.net'])(
  'a name in an answer to a write without one is the service’s spelling: %s',
  async (name) => {
    const scene = await openScene(actualTemplate(['#1 @ MX 10 mx1.example.net', '#2 www A 192.0.2.1']));
    const mx = '@ MX 10 mx1.example.net';
    await scene.pass(desiredTemplate([mx, www]));
    scene.mishaps.set('update 1', (template) => {
      const records = template.records.map((one) => (one.id === 2 ? { ...one, name } : one));
      return (scene.actual = { ...template, records });
    });
    await scene.pass(desiredTemplate([mx, 'www A 192.0.2.2']));
    scene.calls.length = 0;
    await scene.pass(desiredTemplate([mx, 'www A 192.0.2.2']));
    expect(scene.calls.filter((call) => !call.startsWith('list'))).toEqual([]);
    const { templates } = await scene.pass(desiredTemplate([mx, 'www CNAME web.example.net']));
    expect(templates[0]?.differences).toMatchObject([
      { action: 'blocked', reason: 'cname-conflict', conflicts: [2] },
      { action: 'surplus', recordId: 2 },
    ]);
  },
);

const made = 'www CNAME web.example.net';

/** Every name that is sent for the one record that there is at a name gets an ending, and no CNAME is taken. */
const openLonger = async () => {
  const scene = await openScene(actualTemplate(['#1 @ MX 10 mx1.example.net', '#2 www A 192.0.2.1']));
  const spelled = () => {
    const records = scene.actual.records.map((one) =>
      one.id === 2 ? { ...one, name: `${one.name}.bakery.example.net` } : one,
    );
    return (scene.actual = { ...scene.actual, records });
  };
  for (const call of ['update 1', 'update 2']) scene.mishaps.set(call, spelled);
  for (const call of ['add 1', 'add 2']) scene.mishaps.set(call, failing('refused', 422));
  const pass = async () => {
    scene.calls.length = 0;
    scene.now += 60_000;
    await scene.pass(file('@ MX 10 mx1.example.net', made), { trigger: 'command' });
    return scene.calls.filter((call) => !call.startsWith('list'));
  };
  return { scene, spelled, pass };
};

test('a record that is restored more than once still shows how the service spells its name', async () => {
  const { scene, pass } = await openLonger();
  for (let turn = 1; turn <= 3; turn += 1) expect(await pass()).toEqual(['update 1', 'add 1', 'update 2']);
  expect(scene.actual.records).toMatchObject([
    { id: 1 },
    { id: 2, name: 'www.bakery.example.net', content: '192.0.2.1' },
  ]);
});

test('a record that somebody restored shows how the service spells its name', async () => {
  const { scene, spelled, pass } = await openLonger();
  await scene.pass(file('@ MX 10 mx1.example.net', www));
  scene.now += 60_000;
  scene.mishaps
    .set('update 2', () => ({ ...spelled(), records: [] }))
    .set('list 3', failing('unavailable', 502));
  expect(await pass()).toEqual(['update 1', 'add 1', 'update 2']);
  scene.mishaps.set('update 2', spelled).delete('list 3');
  expect(await pass()).toEqual(['update 1', 'add 1', 'update 2']);
});
