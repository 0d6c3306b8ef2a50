import { expect, test } from 'vitest';
import { HostingError } from '../../src/hosting/errors.ts';
import { desiredTemplate, actualTemplate } from '../plan/records.ts';
import { failing, openScene, type Mishap, type Scene } from './pass.ts';

/*
 * Holes that waiting for rest had once, where they show only in a whole pass; what journal and answers alone decide is in
 * journal.test.ts.
 */

const limits = { maxAdds: 100, maxChangePercent: 30, minRecords: 10 };
const lines = (count: number) => Array.from({ length: count }, (_, at) => `h${at + 1} A 192.0.2.${at + 1}`);
const stored = (records: readonly string[]) =>
  actualTemplate(records.map((line, at) => `#${at + 1} ${line}`));
const edited = (records: readonly string[]) => records.map((line) => line.replace('192.0.2', '198.51.100'));

/** Known and in sync. */
const known = async (count: number): Promise<Scene> => {
  const scene = await openScene(stored(lines(count)));
  await scene.pass(desiredTemplate(lines(count)));
  scene.calls.length = 0;
  // The saved reading is old enough to count.
  scene.now += 60_000;
  return scene;
};

const writesOf = ({ calls }: Scene): string[] => calls.filter((call) => !call.startsWith('list'));

const onlyTemplate = async (scene: Scene, records: readonly string[], more = {}) =>
  (await scene.pass(desiredTemplate(records, more))).templates[0]!;

test('memory learns nothing from a listing that is behind: what the file took back is edited, not drifted', async () => {
  const scene = await known(1);
  const before = scene.actual;
  await onlyTemplate(scene, edited(lines(1)), { mode: 'edits' });
  scene.mishaps.set('list 1', () => before).set('list 2', () => before);
  expect(await onlyTemplate(scene, lines(1), { mode: 'edits' })).toMatchObject({ status: 'held' });
  scene.mishaps.clear();
  expect(await onlyTemplate(scene, lines(1), { mode: 'edits' })).toMatchObject({
    status: 'in-sync',
    differences: [{ action: 'update', cause: 'edited', outcome: 'applied' }],
  });
});

test('a pass in doubt does not call itself in sync', async () => {
  const scene = await known(2);
  scene.mishaps
    .set('update 1', ({ records, ...template }) => ({ ...template, records: records.slice(0, 1) }))
    .set('list 2', failing('unavailable', 503));
  expect(await onlyTemplate(scene, [...edited(lines(1)), 'h2 A 192.0.2.2'])).toMatchObject({
    status: 'failed',
    differences: [{ action: 'update', outcome: 'applied' }],
  });
});

test('a listing that shows somebody’s new record beside a write of unknown outcome ends the writes', async () => {
  const scene = await known(2);
  const unknown = new HostingError('lost', { operation: 'update-dns-template-record', kind: 'unknown' });
  scene.mishaps
    .set('update 1', () => {
      throw unknown;
    })
    .set('list 2', (template) => {
      const more = actualTemplate(['#9 h9 A 192.0.2.9']).records;
      return (scene.actual = { ...template, records: [...template.records, ...more] });
    });
  expect(await onlyTemplate(scene, edited(lines(2)))).toMatchObject({ status: 'failed' });
  expect(writesOf(scene)).toEqual(['update 1']);
});

test('what always stays unknown keeps no other record waiting, and is a failure with a pause in the end', async () => {
  const scene = await known(2);
  scene.mishaps.set('update 1', failing('unknown', null));
  await onlyTemplate(scene, edited(lines(2)));
  expect(writesOf(scene)).toEqual(['update 1', 'update 2']);
  const seen = [];
  for (const seconds of [311, 11, 311, 11, 1]) {
    scene.now += seconds * 1_000;
    const { differences } = await onlyTemplate(scene, edited(lines(2)));
    seen.push(...differences.map((one) => ('outcome' in one ? one.outcome : one.action)));
  }
  expect(seen).toEqual(['unknown', 'unknown', 'unknown', 'blocked', 'blocked']);
});

test('an add of unknown outcome and the guard against loss do not wait for each other for ever', async () => {
  const scene = await known(6);
  const file = [...lines(6), 'www A 192.0.2.77'];
  scene.mishaps.set('add 1', failing('unknown', null));
  await onlyTemplate(scene, file, { limits });
  scene.mishaps.clear();
  scene.now += 660_000;
  scene.actual = { ...scene.actual, records: scene.actual.records.slice(0, 2) };
  for (let count = 0; count < 3; count += 1) {
    await onlyTemplate(scene, file, { limits });
    scene.now += 60_000;
  }
  expect(scene.actual.records).toHaveLength(7);
});

/** Adds the last line of a file, of which the answer is lost; and puts the line at the service. */
const withLostAdd = async (file: readonly string[], line: string): Promise<Scene> => {
  const scene = await known(1);
  scene.mishaps.set('add 1', failing('unknown', null));
  await onlyTemplate(scene, file);
  scene.mishaps.clear();
  const { records } = actualTemplate([line]);
  scene.actual = { ...scene.actual, records: [...scene.actual.records, ...records] };
  return scene;
};

test('a record seen while only one reading lacks an add is suspect to be it: it is not added again', async () => {
  const file = [...lines(1), 'x TXT "hello  world"'];
  const scene = await withLostAdd(file, '#9 x TXT "hello world"');
  scene.now += 660_000;
  // The second listing, which would end the add as lost, fails.
  scene.mishaps.set('list 2', failing('unavailable', 503));
  await onlyTemplate(scene, file);
  scene.mishaps.clear();
  scene.calls.length = 0;
  for (let count = 0; count < 3; count += 1) {
    scene.now += 60_000;
    await onlyTemplate(scene, file);
  }
  expect(writesOf(scene)).toEqual([]);
});

test('a write that the listing of a retry shows is told once, as applied', async () => {
  const file = [...lines(1), 'www A 192.0.2.77'];
  const scene = await withLostAdd(file, '#9 www A 192.0.2.77');
  scene.now += 60_000;
  const told: string[] = [];
  await scene.pass(desiredTemplate(file), {
    run: 'run-2',
    retry: true,
    onChange: ({ outcome }) => told.push(outcome),
  });
  expect(told).toEqual(['applied']);
});

test('what an answer shows otherwise than the listing counts from the answer on: a command waits for a second reading', async () => {
  const scene = await known(2);
  scene.mishaps.set('update 1', (template) => {
    const [one, other] = template.records;
    return (scene.actual = { ...template, records: [one!, { ...other!, content: '203.0.113.9' }] });
  });
  await onlyTemplate(scene, ['h1 A 198.51.100.1', 'h2 A 192.0.2.2'], { mode: 'edits' });
  scene.mishaps.clear();
  scene.calls.length = 0;
  scene.now += 1_000;
  await onlyTemplate(scene, ['h1 A 198.51.100.1', 'h2 A 192.0.2.2']);
  expect(scene.calls.slice(0, 2)).toEqual(['list 1', 'list 2']);
});

test('nothing is learnt from an answer that lacks records, if the program ends before a listing', async () => {
  const scene = await known(2);
  const ending = new AbortController();
  scene.mishaps.set('update 1', (template) => {
    ending.abort();
    return { ...template, records: template.records.slice(0, 1) };
  });
  await scene.pass(desiredTemplate([...edited(lines(1)), 'h2 A 192.0.2.2']), { signal: ending.signal });
  const template = await scene.memory.template(scene.actual.id);
  expect(template?.row.lastReading).toBeNull();
});

const free = { maxAdds: 100, maxChangePercent: 100, minRecords: 100 };
const shownIn = ({ actual: { records } }: Scene): string[] =>
  records.map(({ id, name, type, content }) => `#${id} ${name ?? '@'} ${type} ${content}`);

test('one reading that shows somebody’s record as parked puts it to no use', async () => {
  const scene = await openScene(actualTemplate(['#9 x CNAME theirs.example', '#3 c A 192.0.2.3']));
  await onlyTemplate(scene, ['c A 192.0.2.3'], { surplus: 'park', limits: free });
  scene.now += 900_000;
  scene.actual = actualTemplate(['#9 x CNAME theirs.example', '#3 c A 192.0.2.3', '#4 y A 192.0.2.4']);
  scene.mishaps.set('list 2', (template) => ({
    ...template,
    records: template.records.map((one) => (one.id === 9 ? { ...one, name: '_parked-9' } : one)),
  }));
  await onlyTemplate(scene, ['c A 192.0.2.3', 'z CNAME r.example'], { surplus: 'park', limits: free });
  expect(shownIn(scene)).toContain('#9 x CNAME theirs.example');
});

test('one reading that lacks a record makes no copy of it the record of the file', async () => {
  const scene = await openScene(
    actualTemplate(['#5 a A 192.0.2.1', '#9 a A 192.0.2.1', '#10 b A 192.0.2.3']),
  );
  await onlyTemplate(scene, ['a A 192.0.2.1', 'b A 192.0.2.3'], { limits: free });
  scene.now += 60_000;
  scene.mishaps.set('list 1', (template) => ({
    ...template,
    records: template.records.filter(({ id }) => id !== 5),
  }));
  await onlyTemplate(scene, ['a A 192.0.2.1', 'b A 192.0.2.3'], { limits: free });
  scene.now += 60_000;
  scene.mishaps.clear();
  await onlyTemplate(scene, ['a A 192.0.2.7', 'b A 192.0.2.3'], { limits: free });
  expect(shownIn(scene)).toContain('#5 a A 192.0.2.7');
});

test('a record without a name that made way is parked, also where another record could use it', async () => {
  const scene = await openScene(actualTemplate(['#1 @ CNAME old.example']));
  await onlyTemplate(scene, ['@ CNAME old.example'], { surplus: 'park', limits: free });
  scene.now += 60_000;
  await onlyTemplate(scene, ['@ A 192.0.2.1', 'www CNAME new.example'], { surplus: 'park', limits: free });
  expect(shownIn(scene).filter((line) => line.includes(' @ '))).toEqual(['#2 @ A 192.0.2.1']);
});

test('mail is not given up in part: where one MX cannot be parked, those that made way come back', async () => {
  const mail = ['m MX 10 a.example', 'm MX 20 b.example', 'm MX 30 c.example', 'www MX 1 x.example'];
  const scene = await openScene(actualTemplate(mail.map((line, index) => `#${index + 1} ${line}`)));
  await onlyTemplate(scene, mail, { surplus: 'park', limits: free });
  const before = shownIn(scene);
  const refusing: Mishap = (template) =>
    template.records.some(({ name }) => name === '_parked-3') ? failing('refused', 422)(template) : template;
  for (const count of [1, 2, 3, 4]) scene.mishaps.set(`update ${count}`, refusing);
  for (const _pass of ['first', 'later']) {
    scene.now += 60_000;
    await onlyTemplate(scene, ['m MX 0 .', 'www MX 1 x.example'], { surplus: 'park', limits: free });
  }
  expect(shownIn(scene)).toEqual(before);
});
