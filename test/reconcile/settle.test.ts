import { describe, expect, test } from 'vitest';
import type { DesiredTemplate, ActualTemplate } from '../../src/model/template.ts';
import type { Pass } from '../../src/reconcile/pass.ts';
import { entryOf, recordKey } from '../../src/plan/entry.ts';
import { data, desiredTemplate, actual, actualTemplate } from '../plan/records.ts';
import { intentOf } from '../state/samples.ts';
import { failing, openScene, type Scene } from './pass.ts';

const service = ['#1 @ A 192.0.2.1', '#2 mail A 192.0.2.2'];
const file = (...more: readonly string[]) => desiredTemplate(['@ A 192.0.2.1', 'mail A 192.0.2.2', ...more]);

/** Of a process that died after it had sent these adds. */
const left = async (adds: readonly string[], before: readonly string[] = service): Promise<Scene> => {
  const scene = await openScene(actualTemplate(before));
  await scene.pass(file());
  await scene.pass(file());
  scene.calls.length = 0;
  const idsBefore = scene.actual.records.map(({ id }) => id);
  for (const add of adds) {
    const after = data(add);
    await scene.memory.begin(intentOf({ run: 'run-0', key: recordKey(entryOf(after)), after, idsBefore }));
  }
  return scene;
};

const store = (scene: Scene, ...lines: readonly string[]): void => {
  scene.actual = { ...scene.actual, records: [...scene.actual.records, ...lines.map(stored)] };
};

const stored = (line: string) => ({ ...actual(line), ttl: 300 });

const pass = async (scene: Scene, desired: DesiredTemplate, more: Partial<Pass> = {}) => {
  const { templates } = await scene.pass(desired, { ...more, clock: clockOf(scene) });
  const open = await scene.memory.openIntents();
  return {
    calls: scene.calls.join(', '),
    open: open.map(({ after }) => after.name),
    told: templates[0]!.differences.map((one) => {
      const record = 'desired' in one ? one.desired : one.current;
      return `${record.name} ${one.outcome ?? ('reason' in one ? one.reason : one.action)}`;
    }),
  };
};

const clockOf = (scene: Scene): Pass['clock'] => ({
  now: () => scene.now,
  uptime: () => ({ boot: 'b', at: scene.now }),
  sleep: (milliseconds) => {
    scene.calls.push(`wait ${milliseconds}`);
    scene.now += milliseconds;
    return Promise.resolve();
  },
});

describe('an add of unknown outcome', () => {
  test('is not a record that an earlier pass saw, and the readings before it lacked', async () => {
    const scene = await openScene(actualTemplate(service));
    await scene.pass(file());
    const whole = actualTemplate([...service, '#9 www CNAME web.example.org']);
    scene.actual = whole;
    await scene.pass(file());
    scene.actual = actualTemplate(service);
    scene.mishaps.set('add 1', failing('unknown', 504));
    for (const list of ['list 3', 'list 4']) scene.mishaps.set(list, () => (scene.actual = whole));
    const { told } = await pass(scene, file('www CNAME cdn.example.org'));
    expect(told).not.toContain('www applied');
    expect((await scene.memory.template(17))!.records).not.toContainEqual(
      expect.objectContaining({ recordId: 9 }),
    );
  });

  test('stays unknown if a reading lacks a record of the previous one', async () => {
    const scene = await left(['www A 192.0.2.3']);
    scene.mishaps.set('list 2', (template) => ({ ...template, records: template.records.slice(1) }));
    const { open } = await pass(scene, file('www A 192.0.2.3'));
    expect(open).toEqual(['www']);
  });

  test('stays unknown if no reading shows all that the first one did, and nothing is written', async () => {
    const scene = await left(['www A 192.0.2.3']);
    const lacking = (template: ActualTemplate) => ({ ...template, records: template.records.slice(1) });
    scene.mishaps.set('list 2', lacking).set('list 3', lacking);
    const edited = desiredTemplate(['@ A 192.0.2.1', 'mail A 192.0.2.9', 'www A 192.0.2.3']);
    const { calls, open, told } = await pass(scene, edited);
    expect(calls).toBe('list 1, wait 10000, list 2, wait 10000, list 3');
    expect({ open, told }).toEqual({ open: ['www'], told: ['mail skipped', 'www pending-write'] });
  });

  test('is looked for in readings that update everything else too', async () => {
    const scene = await left(['www A 192.0.2.3']);
    store(scene, '#9 other TXT hello');
    scene.mishaps.set('list 3', (template) => ({ ...template }));
    const edited = desiredTemplate(['@ A 192.0.2.1', 'mail A 192.0.2.9', 'www A 192.0.2.3']);
    const { calls } = await pass(scene, edited);
    expect(calls).toBe('list 1, wait 10000, list 2, wait 10000, list 3, update 1');
  });

  test('stays unknown if every reading lacks most known records', async () => {
    const scene = await left(['www A 192.0.2.3']);
    scene.actual = actualTemplate([]);
    const { open } = await pass(scene, file('www A 192.0.2.3'));
    expect(open).toEqual(['www']);
  });

  test('beside another add of its type is not matched with a similar record', async () => {
    const scene = await left(['www A 192.0.2.3', 'www.acme A 192.0.2.3']);
    expect(await scene.memory.openIntents()).toHaveLength(2);
    store(scene, '#9 www.acme.example A 192.0.2.3');
    const { calls } = await pass(scene, file('www A 192.0.2.3', 'www.acme A 192.0.2.3'));
    expect(calls).not.toContain('add');
    expect(await idOf(scene, 'A www  192.0.2.3')).toBeNull();
    expect(await idOf(scene, 'A www.acme  192.0.2.3')).toBeNull();
  });

  test('beside another add of its type is matched with an equal record', async () => {
    const scene = await left(['www A 192.0.2.3', 'api A 192.0.2.4']);
    store(scene, '#9 www A 192.0.2.3', '#10 api A 192.0.2.4');
    const { calls, open } = await pass(scene, file('www A 192.0.2.3', 'api A 192.0.2.4'));
    expect({ calls, open }).toEqual({ calls: 'list 1', open: [] });
  });

  test('did not make the record of another desired one', async () => {
    const scene = await left([]);
    const after = data('www A 192.0.2.3');
    const intent = intentOf({ run: 'run-0', key: 'A www  192.0.2.3', after, idsBefore: [1] });
    await scene.memory.begin(intent);
    scene.actual = actualTemplate([service[0]!, '#2 www.acme.example A 192.0.2.3']);
    await pass(scene, file('www A 192.0.2.3'));
    expect(await idOf(scene, 'A www  192.0.2.3')).toBeNull();
  });

  test('did not make a record that equals another desired one', async () => {
    const scene = await left(['www A 192.0.2.3']);
    store(scene, '#9 www.acme A 192.0.2.3');
    const { calls, told } = await pass(scene, file('www A 192.0.2.3', 'www.acme A 192.0.2.3'));
    expect(calls).toBe('list 1, wait 10000, list 2, wait 10000, list 3');
    expect(told).toEqual(['www pending-write']);
    expect(await idOf(scene, 'A www.acme  192.0.2.3')).toBe(9);
  });

  test('is resolved when the known record is back', async () => {
    const scene = await left([]);
    store(scene, '#9 www A 192.0.2.3');
    await pass(scene, file('www A 192.0.2.3'));
    const after = data('www A 192.0.2.3');
    const intent = intentOf({ run: 'run-0', key: 'A www  192.0.2.3', after, idsBefore: [1, 2] });
    await scene.memory.begin(intent);
    scene.calls.length = 0;
    const { calls, open } = await pass(scene, file('www A 192.0.2.3'));
    expect({ calls, open }).toEqual({ calls: 'list 1', open: [] });
  });

  test.each<[string, Partial<Pass>, readonly string[]]>([
    ['stays unknown', {}, ['www']],
    ['is given up where a person says so', { retry: true, trigger: 'command' }, []],
  ])('%s beside a new record of its type of unknown origin', async (_, more, stillOpen) => {
    const scene = await left(['www A 192.0.2.3']);
    store(scene, '#9 zzz A 192.0.2.77');
    const { open } = await pass(scene, file('www A 192.0.2.3'), more);
    expect(open).toEqual(stillOpen);
  });

  test('that no file lists any more waits for a person if a file lists it again', async () => {
    const scene = await left(['www A 192.0.2.3']);
    store(scene, '#9 zzz A 192.0.2.77');
    expect((await pass(scene, file())).open).toEqual([]);
    scene.now += 24 * 3_600_000;
    const { told, calls } = await pass(scene, file('www A 192.0.2.3'));
    expect(told).toContain('www pending-write');
    expect(calls).not.toContain('add');
  });

  test.each<[string, readonly string[]]>([
    ['absent', []],
    ['beside a new record of its type that could be anything', ['#9 zzz A 192.0.2.77']],
  ])('stays unknown in a pass over other templates: %s', async (_, more) => {
    const scene = await left(['www A 192.0.2.3']);
    store(scene, ...more);
    const part = { templates: [], unusable: [], problems: [], files: 1 };
    const described = { ...part, templates: [file('www A 192.0.2.3')] };
    await scene.pass(part, { described });
    expect(await scene.memory.openIntents()).toHaveLength(1);
  });
});

const idOf = async (scene: Scene, key: string): Promise<number | null | undefined> =>
  (await scene.memory.template(17))!.records.find((record) => record.key === key)?.recordId;
