import { expect, test } from 'vitest';
import { desiredTemplate, presentTemplate } from '../plan/records.ts';
import { failing, openScene } from './pass.ts';

const limits = { maxAdds: 100, maxChangePercent: 100, minRecords: 10 };
const old = desiredTemplate(['@ A 192.0.2.1', 'www A 192.0.2.2'], { surplus: 'park', limits });
const wanted = ['@ A 192.0.2.1', 'www CNAME web.example.net'];

/** An address that the file once wanted has to make way for a CNAME. */
const makingWay = async () => {
  const scene = await openScene(presentTemplate(['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2']));
  await scene.pass(old);
  scene.calls.length = 0;
  return scene;
};

const namesOf = ({ records }: { records: readonly { id: number; name: string | null }[] }) =>
  records.map(({ id, name }) => `#${id} ${name ?? '@'}`);

test('what makes way does so directly before what needs it', async () => {
  const scene = await makingWay();
  await scene.pass(desiredTemplate(wanted, { surplus: 'park', limits }));
  expect(scene.calls).toEqual(['list 1', 'update 1', 'add 1']);
  expect(namesOf(scene.present)).toEqual(['#1 @', '#2 _parked-2', '#3 www']);
});

test('nothing makes way for an add that a guard holds', async () => {
  const scene = await makingWay();
  await scene.pass(desiredTemplate(wanted, { surplus: 'park', limits: { ...limits, maxAdds: 0 } }));
  expect(scene.calls).toEqual(['list 1']);
});

test('nothing makes way that may not do so itself, and what needs it waits', async () => {
  const scene = await makingWay();
  const edits = desiredTemplate(wanted, { surplus: 'park', limits, mode: 'edits' });
  scene.present = presentTemplate(['#1 @ A 192.0.2.1', '#2 www A 192.0.2.9']);
  await scene.pass(edits);
  expect(scene.calls.filter((call) => !call.startsWith('list'))).toEqual(['update 1', 'add 1']);
});

test('what made way is back in its place where the write that needed it is found absent', async () => {
  const scene = await makingWay();
  scene.mishaps.set('add 1', failing('unknown', null));
  await scene.pass(desiredTemplate(wanted, { surplus: 'park', limits }));
  expect(scene.calls).toEqual(['list 1', 'update 1', 'add 1', 'list 2', 'list 3', 'update 2']);
  expect(namesOf(scene.present)).toEqual(['#1 @', '#2 www']);
});

test('what made way is back in its place where the write that needed it is refused', async () => {
  const scene = await makingWay();
  scene.mishaps.set('add 1', failing('refused', 422));
  await scene.pass(desiredTemplate(wanted, { surplus: 'park', limits }));
  expect(scene.calls).toEqual(['list 1', 'update 1', 'add 1', 'list 2', 'update 2']);
  expect(namesOf(scene.present)).toEqual(['#1 @', '#2 www']);
});
