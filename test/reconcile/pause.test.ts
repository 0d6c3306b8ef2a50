import { describe, expect, it } from 'vitest';
import type { Pass } from '../../src/reconcile/pass.ts';
import type { PassResult, TemplateResult } from '../../src/result.ts';
import { actualTemplate, desiredTemplate } from '../plan/records.ts';
import { failing, openScene, type Mishap, type Scene } from './pass.ts';
import { historyOf } from '../state/samples.ts';

const file = ['h1 A 192.0.2.1', 'h2 A 192.0.2.2', 'h3 A 192.0.2.3'];
const stored = (lines: readonly string[]) => lines.map((line, at) => `#${at + 1} ${line}`);

/** The template is known, and the file then changes two records and adds one. */
const edited = ['h1 A 198.51.100.1', 'h2 A 198.51.100.2', 'h3 A 192.0.2.3', 'h4 A 192.0.2.4'];
const limits = { maxAdds: 100, maxChangePercent: 100, minRecords: 10 };

const known = async (): Promise<Scene> => {
  const scene = await openScene(actualTemplate(stored(file)));
  await scene.pass(desiredTemplate(file));
  scene.now += 60_000;
  scene.calls.length = 0;
  return scene;
};

const writesOf = ({ calls }: Scene): string[] => calls.filter((call) => !call.startsWith('list'));

const only = ({ templates: [first] }: PassResult): TemplateResult => first!;

const suspend = (scene: Scene, duration: number | null = null, by = 'ann') =>
  scene.memory.suspend({ by, reason: 'new web server', duration, templates: [ofScene] });
const byNameAlone = { template: desiredTemplate([]).template, templateId: null };
const ofScene = { template: desiredTemplate([]).template, templateId: actualTemplate([]).id };

/** The service answers as ever, and then somebody suspends the template. */
const suspending =
  (scene: Scene): Mishap =>
  (template) => {
    void suspend(scene);
    return template;
  };

describe('a suspended template', () => {
  it('is not written, in any pass, and says who suspended it, why and until when', async () => {
    const scene = await known();
    await suspend(scene, 3_600_000);
    const [suspension] = await scene.memory.suspensions();
    const until = new Date(suspension!.until!).toISOString();
    const wanted = desiredTemplate(edited, { limits });
    for (const more of [{}, { trigger: 'command', force: true, retry: true, acceptLoss: true }] as const) {
      const result = only(await scene.pass(wanted, more));
      expect(result).toMatchObject({
        status: 'suspended',
        message: `suspended by ann until ${until}: new web server`,
        suspension: {
          by: 'ann',
          reason: 'new web server',
          since: new Date(suspension!.since).toISOString(),
          until,
        },
      });
      expect(result.differences.map(({ outcome, error, retryAt }) => [outcome, error, retryAt])).toEqual(
        Array.from({ length: 3 }, () => ['skipped', `held: ${result.message}`, until]),
      );
    }
    expect(writesOf(scene)).toEqual([]);
    await scene.memory.resume([ofScene]);
    expect(only(await scene.pass(wanted))).toMatchObject({ status: 'in-sync' });
    expect(writesOf(scene)).toEqual(['update 1', 'update 2', 'add 1']);
  });

  it('is suspended without differences too, also for a pass that remembers its result', async () => {
    const scene = await known();
    const wanted = desiredTemplate(file);
    const cache: Pass['cache'] = { byId: new Map(), results: [] };
    expect(only(await scene.pass(wanted, { cache })).status).toBe('in-sync');
    expect(cache.byId.size).toBe(1);
    await suspend(scene);
    expect(only(await scene.pass(wanted, { cache }))).toMatchObject({
      status: 'suspended',
      message: 'suspended by ann: new web server',
    });
    await scene.memory.resume(null);
    expect(only(await scene.pass(wanted, { cache })).status).toBe('in-sync');
  });

  it.each([
    ['its id, whatever its name', { template: 'its old name', templateId: ofScene.templateId }, 'suspended'],
    ['its name, whatever its id', { template: ofScene.template, templateId: 99 }, 'suspended'],
    ['the client', null, 'suspended'],
    ['another template', { template: 'other', templateId: 99 }, 'drifted'],
  ])('is known by %s', async (_, template, status) => {
    const scene = await known();
    const templates = template === null ? null : [template];
    await scene.memory.suspend({ by: 'ann', reason: 'r', duration: null, templates });
    const result = await scene.pass(desiredTemplate(edited, { limits }), { writer: null });
    expect(only(result).status).toBe(status);
  });

  it('is known by its name at the service, if its file names it by id', async () => {
    const scene = await openScene(actualTemplate(stored(file)));
    await scene.memory.suspend({ by: 'ann', reason: 'r', duration: null, templates: [byNameAlone] });
    const byId = desiredTemplate(edited, { limits, adopt: true, id: 17, template: 'template-17' });
    expect(only(await scene.pass(byId)).status).toBe('suspended');
    // From then on it is known whatever it is called.
    scene.actual = { ...scene.actual, name: 'another' };
    for (const template of ['template-17', 'another', 'another'])
      expect(only(await scene.pass({ ...byId, template })).status).toBe('suspended');
    expect(writesOf(scene)).toEqual([]);
    await scene.memory.resume([byNameAlone]);
    expect(only(await scene.pass({ ...byId, template: 'another' })).status).toBe('in-sync');
  });

  it('is known by the name under which it was managed, also in later passes', async () => {
    const scene = await known();
    await scene.memory.suspend({ by: 'ann', reason: 'r', duration: null, templates: [byNameAlone] });
    scene.actual = { ...scene.actual, name: 'another' };
    const renamed = { ...desiredTemplate(edited, { limits }), template: 'another' };
    for (let pass = 0; pass < 3; pass += 1) expect(only(await scene.pass(renamed)).status).toBe('suspended');
    expect(writesOf(scene)).toEqual([]);
  });

  it('shows the suspension that lasts the longest', async () => {
    const scene = await known();
    await suspend(scene, 60_000, 'bob');
    await suspend(scene, null, 'ann');
    expect(only(await scene.pass(desiredTemplate(file))).suspension).toMatchObject({
      by: 'ann',
      until: null,
    });
  });

  it.each([
    ['between two readings', 'list 1', []],
    ['while the second reading is under way', 'list 2', []],
    ['between two writes', 'update 1', ['update 1']],
    ['before an add', 'update 2', ['update 1', 'update 2']],
  ])('is left alone from the moment on at which it is suspended: %s', async (_, call, writes) => {
    const scene = await openScene(actualTemplate(stored(file)));
    scene.mishaps.set(call, suspending(scene));
    const result = only(await scene.pass(desiredTemplate(edited, { limits, adopt: true })));
    expect(writesOf(scene)).toEqual(writes);
    expect(result).toMatchObject({ status: 'suspended', message: 'suspended by ann: new web server' });
    expect((await scene.memory.journal()).filter(({ state }) => state !== 'accepted')).toEqual([]);
  });

  it('is left alone if it is suspended while an entry is saved', async () => {
    const scene = await known();
    const writer: Pass['writer'] = {
      ...scene.memory,
      begin: async (entry) => {
        const begun = await scene.memory.begin(entry);
        await suspend(scene);
        return begun;
      },
    };
    const result = await scene.pass(desiredTemplate(edited, { limits }), { writer });
    expect(writesOf(scene)).toEqual([]);
    expect(only(result).status).toBe('suspended');
    expect(await scene.memory.journal()).toEqual([]);
    expect(await historyOf(scene.memory)).toEqual([]);
  });

  it('keeps a record parked that was to make way', async () => {
    const scene = await openScene(actualTemplate(['#1 www A 192.0.2.1', '#2 h2 A 192.0.2.2']));
    const before = ['www A 192.0.2.1', 'h2 A 192.0.2.2'];
    const park = { surplus: 'park', limits } as const;
    await scene.pass(desiredTemplate(before, park));
    scene.now += 60_000;
    scene.calls.length = 0;
    scene.mishaps.set('update 1', suspending(scene));
    const after = desiredTemplate(['www CNAME web.example.net', 'h2 A 192.0.2.2'], park);
    expect(only(await scene.pass(after)).status).toBe('suspended');
    expect(writesOf(scene)).toEqual(['update 1']);
    scene.mishaps.clear();
    await scene.memory.resume(null);
    scene.now += 60_000;
    await scene.pass(after);
    expect(writesOf(scene)).toEqual(['update 1', 'add 1']);
  });

  it('has its unknown writes settled by reading', async () => {
    const scene = await known();
    scene.mishaps.set('add 1', (template) => failing('unknown', null)(template));
    await scene.pass(desiredTemplate([...file, 'h4 A 192.0.2.4']));
    scene.mishaps.clear();
    await suspend(scene);
    scene.actual = actualTemplate(stored([...file, 'h4 A 192.0.2.4']));
    scene.now += 600_000;
    scene.calls.length = 0;
    expect(only(await scene.pass(desiredTemplate([...file, 'h4 A 192.0.2.4'])))).toMatchObject({
      status: 'suspended',
      differences: [],
    });
    expect(writesOf(scene)).toEqual([]);
    expect(await scene.memory.journal()).toMatchObject([{ state: 'accepted' }]);
  });

  it('ends what a client writes if nobody can tell whether it is suspended', async () => {
    const scene = await known();
    const { MemoryError } = await import('../../src/state/memory.ts');
    const memory = {
      ...scene.memory,
      suspensions: () => Promise.reject(new MemoryError('the disk is gone')),
    };
    const result = await scene.pass(desiredTemplate(edited, { limits }), { memory });
    expect(result.holdReason).toBe('the disk is gone');
    expect(writesOf(scene)).toEqual([]);
  });
});

it.each([0, 3_600_000, -3_600_000])(
  'a wait that the service asks for is a duration, also where the clock is set by %i ms during the pass',
  async (jump) => {
    const scene = await known();
    scene.mishaps.set('update 1', failing('rate-limited', 429, 60_000));
    const onChange = (): void => {
      scene.now += 1_000 + jump;
      scene.jumped += jump;
    };
    const result = await scene.pass(desiredTemplate(edited, { limits }), { onChange });
    expect(result).toMatchObject({ isRateLimited: true, retryAfter: 59_000 });
    expect(writesOf(scene)).toEqual(['update 1']);
  },
);
