import { expect, test } from 'vitest';
import { actualTemplate, desiredTemplate } from '../plan/records.ts';
import { failing, openScene, type Mishap, type Scene } from './pass.ts';

/* Answers that are not whole, since somebody else changed the template meanwhile, and listings behind our own writes. */

const limits = { maxAdds: 100, maxChangePercent: 100, minRecords: 10 };
const file = (...records: readonly string[]) => desiredTemplate(['@ A 192.0.2.1', ...records], { limits });

/** Nothing that was written since is shown. */
const behind =
  (scene: Scene): Mishap =>
  () =>
    scene.actual;

const withoutRecord =
  (id: number): Mishap =>
  (template) => ({ ...template, records: template.records.filter((record) => record.id !== id) });

const addsIn = ({ calls }: Scene): readonly string[] => calls.filter((call) => call.startsWith('add'));

test('an update whose answer lacks another record is not repeated by an add where the file now wants its old value too', async () => {
  const scene = await openScene(
    actualTemplate(['#1 @ A 192.0.2.1', '#2 mail A 192.0.2.3', '#3 www A 192.0.2.4']),
  );
  await scene.pass(file('mail A 192.0.2.3', 'www A 192.0.2.4'));
  const before = scene.actual;
  scene.now += 60_000;
  const old = behind({ ...scene, actual: before });
  scene.mishaps.set('update 1', withoutRecord(3)).set('list 2', old).set('list 3', old);
  await scene.pass(file('mail A 192.0.2.1', 'www A 192.0.2.4'));
  expect(scene.actual.records.map(({ content }) => content)).toContain('192.0.2.1');

  scene.now += 60_000;
  scene.mishaps.clear();
  scene.mishaps.set('list 1', old).set('list 2', old);
  scene.calls.length = 0;
  await scene.pass(file('mail A 192.0.2.1', 'mail A 192.0.2.3', 'www A 192.0.2.4'));
  expect(scene.calls.filter((call) => !call.startsWith('list'))).toEqual([]);

  scene.now += 60_000;
  scene.mishaps.clear();
  await scene.pass(file('mail A 192.0.2.1', 'mail A 192.0.2.3', 'www A 192.0.2.4'));
  const mail = scene.actual.records.filter(({ name }) => name === 'mail').map(({ content }) => content);
  expect(mail.toSorted()).toEqual(['192.0.2.1', '192.0.2.3']);
});

test('an add that its answer and one listing showed is not sent again after listings that are behind it', async () => {
  const scene = await openScene(actualTemplate(['#1 @ A 192.0.2.1', '#3 www A 192.0.2.4']));
  await scene.pass(file('www A 192.0.2.4'));
  const before = scene.actual;
  const gone = withoutRecord(3);
  scene.now += 60_000;
  // Somebody removes #3 meanwhile: the answer lacks it, and the last of the readings that settle the add shows the add.
  scene.mishaps
    .set('add 1', gone)
    .set('list 2', () => before)
    .set('list 3', () => gone(before))
    .set('list 4', gone);
  await scene.pass(file('www A 192.0.2.4', 'api A 192.0.2.5'));
  expect(scene.calls).toContain('list 4');

  const listed = (): Mishap => () => gone(before);
  for (const _ of [1, 2, 3]) {
    scene.now += 400_000;
    scene.mishaps.clear();
    for (const call of ['list 1', 'list 2', 'list 3']) scene.mishaps.set(call, listed());
    await scene.pass(file('api A 192.0.2.5'));
  }
  expect(addsIn(scene)).toEqual(['add 1']);
});

test('an add that its answer showed is not sent again after somebody gave its record another name', async () => {
  const scene = await openScene(actualTemplate(['#1 @ A 192.0.2.1', '#3 www A 192.0.2.4']));
  await scene.pass(file('www A 192.0.2.4'));
  const before = scene.actual;
  const gone = withoutRecord(3);
  scene.now += 60_000;
  scene.mishaps.set('add 1', gone);
  for (const call of ['list 2', 'list 3', 'list 4']) scene.mishaps.set(call, () => gone(before));
  await scene.pass(file('www A 192.0.2.4', 'api A 192.0.2.5'));
  // Listings miss it twice.
  scene.now += 60_000;
  scene.mishaps.clear();
  for (const call of ['list 1', 'list 2', 'list 3']) scene.mishaps.set(call, () => gone(before));
  await scene.pass(file('api A 192.0.2.5'));
  expect(await scene.memory.openIntents()).toEqual([]);

  const moved = scene.actual.records.find(({ content }) => content === '192.0.2.5')!;
  scene.actual = {
    ...scene.actual,
    records: scene.actual.records.map((record) => (record === moved ? { ...moved, name: 'old' } : record)),
  };
  for (const _ of [1, 2]) {
    scene.now += 400_000;
    scene.mishaps.clear();
    await scene.pass(file('api A 192.0.2.5'));
  }
  expect(addsIn(scene)).toEqual(['add 1']);
});

test('an add that is late is not taken for somebody else’s address at its name', async () => {
  const scene = await openScene(actualTemplate(['#1 @ A 192.0.2.1']));
  await scene.pass(file());
  scene.now += 60_000;
  scene.mishaps.set('add 1', failing('unknown', 504));
  const beside: Mishap = () => actualTemplate(['#1 @ A 192.0.2.1', '#7 api A 192.0.2.77']);
  for (const call of ['list 2', 'list 3', 'list 4']) scene.mishaps.set(call, beside);
  await scene.pass(file('api A 192.0.2.5', 'www A 192.0.2.4'));
  expect(await scene.memory.openIntents()).toHaveLength(1);

  scene.now += 20_000;
  scene.mishaps.clear();
  scene.actual = beside(scene.actual);
  await scene.pass(file('api A 192.0.2.5', 'www A 192.0.2.4'));
  expect(addsIn(scene)).toEqual(['add 1']);
  expect(scene.actual.records.map(({ id }) => id)).toEqual([1, 7]);
});

test('an add that a person repeated, and that an earlier record ends, is not sent a third time after listings that are behind', async () => {
  const scene = await openScene(actualTemplate(['#1 @ A 192.0.2.1']));
  await scene.pass(file());
  const before = scene.actual;
  const lists = (shown: Mishap): void => {
    scene.mishaps.clear();
    for (const call of ['list 1', 'list 2', 'list 3', 'list 4']) scene.mishaps.set(call, shown);
  };
  const wanted = file('www A 192.0.2.9');
  scene.now += 20_000;
  await scene.pass(wanted);
  const earlier = scene.actual;
  scene.now += 20_000;
  lists(behind({ ...scene, actual: before }));
  scene.mishaps.set('add 1', (template) => {
    const other = actualTemplate(['#7 other A 192.0.2.7']).records;
    return (scene.actual = { ...template, records: [...template.records, ...other] });
  });
  await scene.pass(wanted, { trigger: 'command', retry: true });
  scene.now += 360_000;
  lists(() => earlier);
  await scene.pass(wanted);
  scene.now += 20_000;
  scene.mishaps.clear();
  await scene.pass(wanted);
  for (const _ of [1, 2]) {
    scene.now += 20_000;
    lists(() => before);
    await scene.pass(wanted);
  }
  expect(addsIn(scene)).toEqual(['add 1', 'add 1']);
});
