import { describe, expect, test } from 'vitest';
import { failureAfter } from '../../src/memory/backoff.ts';
import { KeptOutcomes } from '../../src/reconcile/shell/save.ts';
import { MemoryError, type Failure, type Memory } from '../../src/state/memory.ts';
import { data, desiredTemplate, actualTemplate } from '../plan/records.ts';
import { entryOf, recordKey } from '../../src/plan/entry.ts';
import { intentOf } from '../state/samples.ts';
import { failing, openScene, type Mishap, type Scene } from './pass.ts';
import { moment } from './state.ts';

const service = ['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2', '#3 xxx A 192.0.2.3'];
const inSync = ['@ A 192.0.2.1', 'www A 192.0.2.2', 'xxx A 192.0.2.3'];
const edited = ['@ A 192.0.2.1', 'www A 192.0.2.72', 'xxx A 192.0.2.73'];

const showing =
  (...lines: readonly string[]): Mishap =>
  (template) => ({ ...template, records: actualTemplate(lines).records });

const begun = async (actual: readonly string[] = service): Promise<Scene> =>
  openScene(actualTemplate(actual));

/** Without the readings. */
const writesOf = ({ calls }: Scene): string[] => calls.filter((call) => !call.startsWith('list'));

/** A save that always fails; many retries are a different error. */
const outOfDisk = () => {
  let calls = 0;
  return () => {
    calls += 1;
    return Promise.reject(calls > 5 ? new Error('again and again') : new MemoryError('the disk is full'));
  };
};

describe('a known id is not new in the answer to an add', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['of a record that the file wanted', inSync, inSync],
    ['of a record that the file did not want', inSync.slice(0, 2), inSync],
  ])('%s', async (_, before, after) => {
    const scene = await begun();
    await scene.pass(desiredTemplate(before));
    scene.actual = actualTemplate(service.slice(0, 2));
    // The answer shows the old one again, and not yet the new one.
    scene.mishaps.set('add 1', showing(...service));
    scene.calls.length = 0;
    await scene.pass(desiredTemplate(after));
    expect(scene.calls.slice(0, 4)).toEqual(['list 1', 'list 2', 'add 1', 'list 3']);
  });
});

test('an intent is saved before its write is sent', async () => {
  const scene = await begun();
  let open: ReturnType<Memory['openIntents']> | null = null;
  scene.mishaps.set('update 1', (template) => {
    open = scene.memory.openIntents();
    return template;
  });
  await scene.pass(desiredTemplate(edited));
  expect(await open!).toMatchObject([{ action: 'update', recordId: 2 }]);
});

test('a desired record is written once in a pass, for any answers', async () => {
  const scene = await begun();
  // Stored and gone again, it is confirmed by two readings.
  await scene.pass(desiredTemplate([...edited.slice(0, 2), inSync[2]!]));
  scene.actual = actualTemplate(service);
  scene.now += 600_000;
  scene.calls.length = 0;
  scene.mishaps.set('update 2', showing(...service));
  await scene.pass(desiredTemplate(edited));
  expect(writesOf(scene)).toEqual(['update 1', 'update 2']);
});

test('no other write is sent once the program shuts down', async () => {
  const scene = await begun();
  const stop = new AbortController();
  scene.mishaps.set('update 1', (template) => {
    stop.abort();
    return template;
  });
  await scene.pass(desiredTemplate(edited), { signal: stop.signal });
  expect(writesOf(scene)).toEqual(['update 1']);
});

describe('if nothing can be saved', () => {
  test.each<[string, Partial<Memory>, readonly string[]]>([
    ['before a write, it is not sent', { begin: outOfDisk() }, []],
    ['after a write, no other is sent', { finish: outOfDisk() }, ['update 1']],
  ])('%s', async (_, broken, writes) => {
    const scene = await begun();
    const { holdReason } = await scene.pass(desiredTemplate(edited), {
      writer: { ...scene.memory, ...broken },
    });
    expect(writesOf(scene)).toEqual(writes);
    expect(holdReason).toBe('the disk is full');
  });

  test('in one template, no other template is written', async () => {
    const scene = await begun();
    scene.beside = [{ ...actualTemplate(service), id: 18, name: 'mail' }];
    const fail = outOfDisk();
    const writer: Memory = {
      ...scene.memory,
      begin: (intent) => (intent.templateId === 17 ? fail() : scene.memory.begin(intent)),
    };
    const mail = desiredTemplate(edited, { template: 'mail' });
    await scene.pass([desiredTemplate(edited), mail], { writer, concurrency: 1 });
    expect(writesOf(scene)).toEqual([]);
  });
});

describe('an outcome that could not be saved at once', () => {
  const desired = desiredTemplate(['@ A 192.0.2.1', 'www A 192.0.2.2']);

  /** One record has been added, and its outcome could not be saved at the given tries. */
  const added = async (fails: (tries: number) => boolean): Promise<Scene> => {
    const scene = await begun(['#1 @ A 192.0.2.1']);
    await scene.pass(desiredTemplate(['@ A 192.0.2.1']));
    let tries = 0;
    const finish: Memory['finish'] = (...outcome) =>
      fails((tries += 1))
        ? Promise.reject(new MemoryError('the disk is full'))
        : scene.memory.finish(...outcome);
    await scene.pass(desired, { writer: { ...scene.memory, finish } });
    expect(writesOf(scene)).toEqual(['add 1']);
    scene.calls.length = 0;
    return scene;
  };

  test('is saved with the state at the end of the pass', async () => {
    const scene = await added((tries) => tries === 1);
    expect(await scene.memory.openIntents()).toEqual([]);
    const history = await scene.memory.history();
    expect(history).toMatchObject([{ action: 'add', outcome: 'applied', recordId: 2 }]);
  });

  test('is not known to the saved state either', async () => {
    const scene = await added(() => true);
    expect(await scene.memory.openIntents()).toMatchObject([{ action: 'add', after: { name: 'www' } }]);
    const saved = await scene.memory.template(17);
    expect(saved!.records.map(({ key }) => key)).not.toContain('A www  192.0.2.2');
  });

  describe('in a pass, is saved by a later one of the same process', () => {
    /** An add was answered, and nothing could be saved since; the listings are behind it. */
    const kept = async () => {
      const scene = await begun(['#1 @ A 192.0.2.1']);
      const before = scene.actual;
      await scene.pass(desiredTemplate(['@ A 192.0.2.1']));
      const unsaved = new KeptOutcomes();
      const failed = { unsaved, writer: { ...scene.memory, finish: outOfDisk() } };
      await scene.pass(desired, failed);
      for (let list = 1; list < 5; list += 1) scene.mishaps.set(`list ${list}`, () => before);
      const outcomes = async () => (await scene.memory.history()).map(({ outcome }) => outcome);
      return { scene, unsaved, failed, outcomes };
    };

    test.each([0, 1])('after %i more that could not save it either', async (more) => {
      const { scene, unsaved, failed, outcomes } = await kept();
      for (let passes = 0; passes < more; passes += 1) await scene.pass(desired, failed);
      await scene.pass(desired, { unsaved });
      expect(await outcomes()).toEqual(['applied']);
    });

    test('unless another process has changed the state', async () => {
      const { scene, unsaved, outcomes } = await kept();
      const { row } = (await scene.memory.template(17))!;
      await scene.memory.save({ row: { ...row, reportedDrift: ['x'] }, records: [], forgotten: [] });
      await scene.pass(desired, { unsaved });
      expect(await outcomes()).not.toContain('applied');
    });

    test('unless another process has resolved the write', async () => {
      const { scene, unsaved, outcomes } = await kept();
      const [intent] = await scene.memory.openIntents();
      const { row } = (await scene.memory.template(17))!;
      const result = { outcome: 'failed', recordId: null, error: 'absent' } as const;
      await scene.memory.finish(intent!, result, { row, records: [], forgotten: [] });
      await scene.pass(desired, { unsaved, maxAddsPerPass: 0 });
      expect(await outcomes()).toEqual(['failed']);
    });
  });

  /** Two adds that a dead process had sent are resolved; the tries to save an outcome fail of which `bits` has one. */
  const resolved = async (bits: number, fail: () => Error = () => new MemoryError('the disk is full')) => {
    const scene = await begun(['#1 @ A 192.0.2.1']);
    await scene.pass(desiredTemplate(['@ A 192.0.2.1']));
    for (const after of [data('www A 192.0.2.2'), data('xxx A 192.0.2.3')])
      await scene.memory.begin(
        intentOf({ run: 'run-0', key: recordKey(entryOf(after)), after, idsBefore: [1] }),
      );
    scene.actual = actualTemplate(['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2', '#3 xxx A 192.0.2.3']);
    const tried: (string | null)[] = [];
    const finish: Memory['finish'] = (intent, ...outcome) => {
      const before = tried.push(intent.after.name) - 1;
      return (bits >> before) & 1 ? Promise.reject(fail()) : scene.memory.finish(intent, ...outcome);
    };
    const told: (string | null)[] = [];
    const result = scene.pass(desiredTemplate(['@ A 192.0.2.1', 'www A 192.0.2.2', 'xxx A 192.0.2.3']), {
      writer: { ...scene.memory, finish },
      onChange: ({ after }) => told.push(after.name),
    });
    await result.catch(() => undefined);
    const saved = (await scene.memory.template(17))!.records.toSorted((a, b) => (a.key < b.key ? -1 : 1));
    return { saved, tried, told, open: await scene.memory.openIntents(), result };
  };

  test('is saved before the outcome of a later write', async () => {
    const { tried, told, open } = await resolved(1);
    expect(tried).toEqual(['www', 'www', 'xxx']);
    expect(told).toEqual(['www', 'xxx']);
    expect(open).toEqual([]);
  });

  test('is open as long as the saved state does not know it, whichever tries fail', async () => {
    const untroubled = await resolved(0);
    for (let bits = 1; bits < 32; bits += 1) {
      const { saved, open } = await resolved(bits);
      expect(saved.length + open.length).toBe(3);
      if (open.length === 0) expect(saved).toEqual(untroubled.saved);
    }
  });

  test('is told, also if the program fails after an earlier one was saved', async () => {
    const { result, told } = await resolved(2, () => new Error('a mistake'));
    await expect(result).rejects.toThrow('a mistake');
    expect(told).toContain('www');
  });

  test('is saved with what was found out since', async () => {
    const saved = async (fails: boolean) => {
      const scene = await begun(['#1 @ A 192.0.2.1']);
      await scene.pass(desiredTemplate(['@ A 192.0.2.1']));
      // Somebody has added what the file lists now, too.
      scene.actual = actualTemplate(['#1 @ A 192.0.2.1', '#2 xxx A 192.0.2.3']);
      let tries = 0;
      const finish: Memory['finish'] = (...outcome) =>
        fails && (tries += 1) === 1
          ? Promise.reject(new MemoryError('the disk is full'))
          : scene.memory.finish(...outcome);
      await scene.pass(desiredTemplate(['@ A 192.0.2.1', 'www A 192.0.2.2', 'xxx A 192.0.2.3']), {
        writer: { ...scene.memory, finish },
      });
      return (await scene.memory.template(17))!.records;
    };
    expect(await saved(true)).toEqual(await saved(false));
    expect(await saved(true)).toHaveLength(3);
  });

  test.each([
    ['could', (tries: number) => tries === 1],
    ['could not', () => true],
  ])(
    'leaves a record of somebody else in the place of a renamed one, if it %s be saved later',
    async (_, fails) => {
      const scene = await added(fails);
      scene.actual = actualTemplate(['#1 @ A 192.0.2.1', '#2 mail A 192.0.2.2', '#3 www A 192.0.2.9']);
      scene.now += 60_000;
      const parking = { ...desired, surplus: 'park', adopt: true } as const;
      for (let passes = 0; passes < 3; passes += 1) await scene.pass(parking, { force: true });
      expect(scene.actual.records.map(({ name }) => name)).toContain('www');
    },
  );
});

test('no other template is written after one fails with a bug', async () => {
  const scene = await begun();
  const beside = { ...actualTemplate(service), id: 18, name: 'mail' };
  scene.beside = [beside];
  const sent: number[] = [];
  const pass = scene.pass([desiredTemplate(edited), desiredTemplate(edited, { template: 'mail' })], {
    concurrency: 2,
    service: {
      listDnsTemplates: () => Promise.resolve([scene.actual, beside]),
      addDnsTemplateRecord: () => Promise.reject(new Error('no add is wanted')),
      listDnsRecords: () => Promise.resolve([]),
      updateDnsTemplateRecord: async (templateId) => {
        sent.push(templateId);
        if (templateId === 17) throw new Error('a defect');
        return beside;
      },
    },
  });
  await expect(pass).rejects.toThrow('a defect');
  expect(sent.filter((id) => id === 18).length).toBeLessThan(2);
});

describe('a value that does not stay is not sent for ever', () => {
  test('a value that the service stored differently, also if the pass could not save its end', async () => {
    const scene = await begun();
    scene.mishaps.set('update 1', (template) => {
      scene.actual = showing('#1 @ A 192.0.2.1', '#2 www A 192.0.2.99', service[2]!)(template);
      return scene.actual;
    });
    const desired = desiredTemplate([...edited.slice(0, 2), inSync[2]!]);
    await scene.pass(desired, { writer: { ...scene.memory, save: outOfDisk() } });
    scene.mishaps.clear();
    const { templates } = await scene.pass(desired);
    expect(writesOf(scene)).toEqual(['update 1']);
    expect(templates[0]!.differences).toMatchObject([{ action: 'blocked', reason: 'not-converging' }]);
  });

  test('another TTL is another value', async () => {
    const scene = await begun();
    for (const ttl of [600, 900, 1_200])
      await scene.pass(desiredTemplate([inSync[0]!, `www ${ttl} A 192.0.2.2`]));
    scene.actual = actualTemplate(service);
    scene.now += 600_000;
    scene.calls.length = 0;
    await scene.pass(desiredTemplate([inSync[0]!, 'www 1200 A 192.0.2.2']));
    expect(writesOf(scene)).toEqual(['update 1']);
  });
});

describe('a refusal', () => {
  const refusing = async () => {
    const scene = await begun();
    scene.mishaps.set('update 1', failing('refused', 422));
    await scene.pass(desiredTemplate(edited.slice(0, 2)));
    scene.mishaps.clear();
    scene.calls.length = 0;
    return scene;
  };

  test.each<[string, string, Parameters<Scene['pass']>[1], readonly string[], number]>([
    ['waits', 'www A 192.0.2.72', {}, [], 0],
    ['waits no longer than it should', 'www A 192.0.2.72', {}, ['update 1'], 60_000],
    ['waits no longer where the clock was set back', 'www A 192.0.2.72', {}, ['update 1'], -86_400_000],
    ['does not wait for an apply', 'www A 192.0.2.72', { trigger: 'command' }, ['update 1'], 0],
    ['is of no more interest after an edit', 'www A 192.0.2.73', {}, ['update 1'], 0],
  ])('%s', async (_, desired, more, writes, later) => {
    const scene = await refusing();
    scene.now += later;
    await scene.pass(desiredTemplate([inSync[0]!, desired]), more);
    expect(writesOf(scene)).toEqual(writes);
  });

  test('is dropped after another write of the record, also if only that could be saved', async () => {
    const scene = await begun();
    const file = (ttl: number) => desiredTemplate([inSync[0]!, `www ${ttl} A 192.0.2.2`]);
    scene.mishaps.set('update 1', failing('refused', 422));
    await scene.pass(file(600));
    scene.mishaps.clear();
    await scene.pass(file(900), { writer: { ...scene.memory, save: outOfDisk() } });
    scene.calls.length = 0;
    await scene.pass(file(600));
    expect(writesOf(scene)).toEqual(['update 1']);
  });

  test('makes backoffs grow from a minute to six hours when it repeats', () => {
    const pauses: number[] = [];
    let failure: Failure | null = null;
    const refused = { kind: 'refused', message: 'no', sent: data('www A 192.0.2.2') } as const;
    while (pauses.length < 11) {
      failure = failureAfter(failure, refused, moment);
      pauses.push(failure.pause / 60_000);
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360]);
  });
});
