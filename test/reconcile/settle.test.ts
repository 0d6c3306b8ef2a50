import { describe, expect, test } from 'vitest';
import type { DesiredTemplate } from '../../src/model/template.ts';
import type { Pass } from '../../src/reconcile/pass.ts';
import { entryOf, recordKey } from '../../src/plan/entry.ts';
import { data, desiredTemplate, present, presentTemplate } from '../plan/records.ts';
import { intentOf } from '../state/samples.ts';
import { failing, openScene, type Scene } from './pass.ts';

const service = ['#1 @ A 192.0.2.1', '#2 mail A 192.0.2.2'];
const file = (...more: readonly string[]) => desiredTemplate(['@ A 192.0.2.1', 'mail A 192.0.2.2', ...more]);

/** Of a process that died after it had sent these adds. */
const left = async (adds: readonly string[], before: readonly string[] = service): Promise<Scene> => {
  const scene = await openScene(presentTemplate(before));
  await scene.pass(file());
  await scene.pass(file());
  scene.calls.length = 0;
  const idsBefore = scene.present.records.map(({ id }) => id);
  for (const add of adds) {
    const after = data(add);
    await scene.memory.begin(intentOf({ run: 'run-0', key: recordKey(entryOf(after)), after, idsBefore }));
  }
  return scene;
};

const store = (scene: Scene, ...lines: readonly string[]): void => {
  scene.present = { ...scene.present, records: [...scene.present.records, ...lines.map(stored)] };
};

const stored = (line: string) => ({ ...present(line), ttl: 300 });

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
    return Promise.resolve();
  },
});

describe('an add of unknown outcome', () => {
  test('is found absent by two readings, the settling time before each', async () => {
    const scene = await left(['www A 192.0.2.3']);
    expect(await pass(scene, file('www A 192.0.2.3'))).toEqual({
      calls: 'list 1, wait 10000, list 2, wait 10000, list 3',
      open: [],
      told: ['www pending-write'],
    });
  });

  test('is there in the first reading, and nobody waits', async () => {
    const scene = await left(['www A 192.0.2.3']);
    store(scene, '#9 www A 192.0.2.3');
    expect(await pass(scene, file('www A 192.0.2.3'))).toEqual({ calls: 'list 1', open: [], told: [] });
  });

  test('is there in the last reading', async () => {
    const scene = await left(['www A 192.0.2.3']);
    scene.mishaps.set('list 3', () => {
      store(scene, '#9 www A 192.0.2.3');
      return scene.present;
    });
    const { open, told } = await pass(scene, file('www A 192.0.2.3'));
    expect({ open, told }).toEqual({ open: [], told: [] });
  });

  test('stays unknown where a reading lacks a record that the one before showed', async () => {
    const scene = await left(['www A 192.0.2.3']);
    scene.mishaps.set('list 2', (template) => ({ ...template, records: template.records.slice(1) }));
    const { open } = await pass(scene, file('www A 192.0.2.3'));
    expect(open).toEqual(['www']);
  });

  test('stays unknown where every reading lacks most of what memory knows', async () => {
    const scene = await left(['www A 192.0.2.3']);
    scene.present = presentTemplate([]);
    const { open } = await pass(scene, file('www A 192.0.2.3'));
    expect(open).toEqual(['www']);
  });

  test('keeps its record set closed while it is unknown, whatever the file says by then', async () => {
    const scene = await left(['www A 192.0.2.3']);
    scene.mishaps.set('list 2', failing('unavailable', 502));
    const { open, told, calls } = await pass(scene, file('www A 192.0.2.4'));
    expect(calls).not.toContain('add');
    expect({ open, told }).toEqual({ open: ['www'], told: ['www pending-write'] });
  });

  test('has not made a record that was there before it', async () => {
    const scene = await left(['www A 192.0.2.3'], [...service, '#3 www.acme.example A 192.0.2.3']);
    const { told } = await pass(scene, file('www A 192.0.2.3'));
    expect(told).toContain('www pending-write');
    expect((await scene.memory.template(17))!.records.map(({ recordId }) => recordId)).not.toContain(3);
  });

  test('alone takes a record that is like what it was to make', async () => {
    const scene = await left(['www A 192.0.2.3']);
    store(scene, '#9 www.acme.example A 192.0.2.3');
    await pass(scene, file('www A 192.0.2.3'));
    expect(await idOf(scene, 'A www  192.0.2.3')).toBe(9);
  });

  test('beside another of its type takes none that is only like it: it may be the other’s', async () => {
    const scene = await left(['www A 192.0.2.3', 'www.acme A 192.0.2.3']);
    expect(await scene.memory.openIntents()).toHaveLength(2);
    store(scene, '#9 www.acme.example A 192.0.2.3');
    const { calls } = await pass(scene, file('www A 192.0.2.3', 'www.acme A 192.0.2.3'));
    expect(calls).not.toContain('add');
    expect(await idOf(scene, 'A www  192.0.2.3')).toBeNull();
    expect(await idOf(scene, 'A www.acme  192.0.2.3')).toBeNull();
  });
});

const idOf = async (scene: Scene, key: string): Promise<number | null | undefined> =>
  (await scene.memory.template(17))!.records.find((record) => record.key === key)?.recordId;
