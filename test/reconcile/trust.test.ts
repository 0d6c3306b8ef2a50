import { describe, expect, test } from 'vitest';
import { compareListing } from '../../src/reconcile/core/two-readings.ts';
import { unionOf } from '../../src/reconcile/core/reading.ts';
import { openTemplate } from '../../src/reconcile/core/state.ts';
import type { ActualTemplate } from '../../src/model/template.ts';
import { desiredTemplate, actual, actualTemplate } from '../plan/records.ts';
import { failing, openScene, type Mishap, type Scene } from './pass.ts';
import { newFile, opened } from '../state/samples.ts';
import { newState, runWith } from './state.ts';

const service = ['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2', '#3 xxx A 192.0.2.3', '#4 zzz A 192.0.2.4'];
const inSync = desiredTemplate(['@ A 192.0.2.1', 'www A 192.0.2.2', 'xxx A 192.0.2.3', 'zzz A 192.0.2.4']);
/** Three updates, one after the other. */
const edited = ['@ A 192.0.2.1', 'www A 192.0.2.72', 'xxx A 192.0.2.73', 'zzz A 192.0.2.74'];
/** One add, which a second reading has to confirm. */
const added = ['@ A 192.0.2.1', 'www A 192.0.2.2', 'xxx A 192.0.2.3', 'zzz A 192.0.2.4', 'new A 192.0.2.5'];

const without =
  (id: number): Mishap =>
  (template) => ({ ...template, records: template.records.filter((record) => record.id !== id) });

const showing =
  (line: string): Mishap =>
  (template) => {
    const record = { ...actual(line), ttl: 300 };
    return { ...template, records: [...without(record.id)(template).records, record] };
  };

/** So it is at the service from then on. */
const becoming =
  (scene: Scene, line: string): Mishap =>
  (template) =>
    (scene.actual = showing(line)(template));

const refused = failing('refused', 422);
const lost = failing('unknown', null);

interface Row {
  readonly differs: string;
  readonly desired: readonly string[];
  readonly mishaps: (scene: Scene) => Readonly<Record<string, Mishap>>;
  readonly calls: string;
  readonly outcomes: readonly string[];
}

/** One row or more for each row of the trust table. */
const rows: Readonly<Record<string, readonly Row[]>> = {
  'the answer to a write': [
    {
      differs: 'lacks an id: one more reading decides',
      desired: edited,
      mishaps: () => ({ 'update 1': without(1) }),
      calls: 'list 1, update 1, list 2, update 2, update 3',
      outcomes: ['www applied', 'xxx applied', 'zzz applied'],
    },
    {
      differs: 'is of another template: one more reading decides',
      desired: edited,
      mishaps: () => ({ 'update 1': (template) => ({ ...template, id: 18 }) }),
      calls: 'list 1, update 1, list 2, update 2, update 3',
      outcomes: ['www applied', 'xxx applied', 'zzz applied'],
    },
    {
      differs: 'has more ids than expected: unknown, and the template stops',
      desired: edited,
      mishaps: () => ({ 'update 1': showing('#9 abc A 192.0.2.9') }),
      calls: 'list 1, update 1',
      outcomes: ['www unknown', 'xxx skipped', 'zzz skipped'],
    },
    {
      differs: 'shows other values: they are accepted',
      desired: edited,
      mishaps: (scene) => ({ 'update 1': becoming(scene, '#3 xxx A 192.0.2.73') }),
      calls: 'list 1, update 1, update 2',
      outcomes: ['www applied', 'zzz applied'],
    },
    {
      differs: 'shows the written record with other values: applied, and not sent again',
      desired: edited,
      mishaps: (scene) => ({ 'update 1': becoming(scene, '#2 www A 192.0.2.99') }),
      calls: 'list 1, update 1, update 2, update 3',
      outcomes: ['www applied', 'xxx applied', 'zzz applied', 'www blocked'],
    },
  ],
  'the reading after an answer that is not believed': [
    {
      differs: 'lacks an id: unknown',
      desired: edited,
      mishaps: () => ({ 'update 1': without(1), 'list 2': without(1) }),
      calls: 'list 1, update 1, list 2',
      outcomes: ['www unknown', 'xxx skipped', 'zzz skipped'],
    },
    {
      differs: 'has more ids than expected: unknown',
      desired: edited,
      mishaps: () => ({ 'update 1': without(1), 'list 2': showing('#9 abc A 192.0.2.9') }),
      calls: 'list 1, update 1, list 2',
      outcomes: ['www unknown', 'xxx skipped', 'zzz skipped'],
    },
    {
      differs: 'shows other values than were sent: unknown',
      desired: edited,
      mishaps: () => ({ 'update 1': without(1), 'list 2': showing('#2 www A 192.0.2.99') }),
      calls: 'list 1, update 1, list 2',
      outcomes: ['www unknown', 'xxx skipped', 'zzz skipped'],
    },
    {
      differs: 'shows the written record with another spelling of its name: applied, and not sent again',
      desired: edited,
      mishaps: (scene) => ({ 'update 1': without(1), 'list 2': becoming(scene, '#2 www. A 192.0.2.72') }),
      calls: 'list 1, update 1, list 2, update 2, update 3',
      outcomes: ['www applied', 'xxx applied', 'zzz applied', 'www blocked'],
    },
  ],
  'the reading after the answer to an add that is not believed': [
    {
      differs: 'shows the record under an earlier id: unknown',
      desired: added,
      mishaps: (scene) => ({
        'add 1': (template) => without(1)((scene.actual = without(5)(template))),
        'list 3': showing('#3 new A 192.0.2.5'),
      }),
      calls: 'list 1, list 2, add 1, list 3, list 4, list 5',
      outcomes: ['new failed'],
    },
  ],
  'the reading after a refusal': [
    {
      differs: 'shows the refused record: applied',
      desired: edited,
      mishaps: (scene) => ({ 'update 1': refused, 'list 2': becoming(scene, '#2 www A 192.0.2.72') }),
      calls: 'list 1, update 1, list 2, update 2, update 3',
      outcomes: ['www applied', 'xxx applied', 'zzz applied'],
    },
    {
      differs: 'lacks an id: the previous reading is kept',
      desired: edited,
      mishaps: () => ({ 'update 1': refused, 'list 2': without(3) }),
      calls: 'list 1, update 1, list 2, update 2, update 3',
      outcomes: ['www failed', 'xxx applied', 'zzz applied'],
    },
    {
      differs: 'shows the refused record and lacks an id: applied, and the previous reading is kept',
      desired: added,
      mishaps: (scene) => ({
        'add 1': refused,
        'list 3': (template) => without(3)(becoming(scene, '#8 new A 192.0.2.5')(template)),
      }),
      calls: 'list 1, list 2, add 1, list 3',
      outcomes: ['new applied'],
    },
    {
      differs:
        'shows the refused record and more ids than expected: applied, and the previous reading is kept',
      desired: added,
      mishaps: (scene) => ({
        'add 1': refused,
        'list 3': (template) =>
          becoming(scene, '#9 abc A 192.0.2.9')(becoming(scene, '#8 new A 192.0.2.5')(template)),
      }),
      calls: 'list 1, list 2, add 1, list 3',
      outcomes: ['new applied'],
    },
    {
      differs: 'shows the refused record under an earlier id: still refused',
      desired: added,
      mishaps: (scene) => ({ 'add 1': refused, 'list 3': becoming(scene, '#3 new A 192.0.2.5') }),
      calls: 'list 1, list 2, add 1, list 3',
      outcomes: ['new failed'],
    },
    {
      differs: 'has more ids than expected: the template holds',
      desired: edited,
      mishaps: () => ({ 'update 1': refused, 'list 2': showing('#9 abc A 192.0.2.9') }),
      calls: 'list 1, update 1, list 2',
      outcomes: ['www failed', 'xxx skipped', 'zzz skipped'],
    },
    {
      differs: 'shows other values than an answer: the answer is kept, and the template holds',
      desired: edited,
      mishaps: () => ({ 'update 2': refused, 'list 2': showing('#2 www A 192.0.2.2') }),
      calls: 'list 1, update 1, update 2, list 2',
      outcomes: ['www applied', 'xxx failed', 'zzz skipped'],
    },
  ],
  'the listing that is to confirm': [
    {
      differs: 'lacks an id: nothing is written',
      desired: added,
      mishaps: () => ({ 'list 2': without(1) }),
      calls: 'list 1, list 2',
      outcomes: ['new skipped'],
    },
    {
      differs: 'has more ids: it is accepted',
      desired: added,
      mishaps: (scene) => ({ 'list 2': becoming(scene, '#9 new A 192.0.2.5') }),
      calls: 'list 1, list 2',
      outcomes: [],
    },
    {
      differs: 'shows other values: they are accepted',
      desired: added,
      mishaps: (scene) => ({ 'list 2': becoming(scene, '#2 www A 192.0.2.99') }),
      calls: 'list 1, list 2, add 1',
      outcomes: ['new applied', 'www skipped'],
    },
  ],
  'a listing that is to settle an add': [
    {
      differs: 'lacks an id: it is inconclusive',
      desired: added,
      mishaps: () => ({ 'add 1': lost, 'list 3': without(1), 'list 4': without(1) }),
      calls: 'list 1, list 2, add 1, list 3, list 4',
      outcomes: ['new unknown'],
    },
    {
      differs: 'has the record: applied',
      desired: added,
      mishaps: (scene) => ({ 'add 1': lost, 'list 3': becoming(scene, '#9 new A 192.0.2.5') }),
      calls: 'list 1, list 2, add 1, list 3',
      outcomes: ['new applied'],
    },
    {
      differs: 'shows other values: they are accepted',
      desired: added,
      mishaps: (scene) => ({ 'add 1': lost, 'list 3': becoming(scene, '#2 www A 192.0.2.99') }),
      calls: 'list 1, list 2, add 1, list 3, list 4',
      outcomes: ['new failed', 'www skipped'],
    },
  ],
};

describe.each(Object.entries(rows))('%s', (_, cases) => {
  test.each(cases)('$differs', async ({ desired, mishaps, calls, outcomes }) => {
    const scene = await openScene(actualTemplate(service));
    // For a template that was read before, one reading is as good as two.
    if (desired === edited) await scene.pass(inSync, { settle: 0 });
    scene.calls.length = 0;
    for (const [call, mishap] of Object.entries(mishaps(scene))) scene.mishaps.set(call, mishap);
    const { templates } = await scene.pass(desiredTemplate(desired), desired === edited ? { settle: 0 } : {});
    expect(scene.calls.join(', ')).toBe(calls);
    expect(
      templates[0]!.differences.map((one) =>
        'desired' in one ? `${one.desired.name} ${one.outcome ?? one.action}` : `#${one.recordId}`,
      ),
    ).toEqual(outcomes);
  });
});

test.each([
  ['lacks an id', without(4)],
  ['holds more than expected', showing('#9 abc A 192.0.2.9')],
])('nothing more is written after a reading that shows the refused record and %s', async (_, mishap) => {
  const scene = await openScene(actualTemplate(service));
  await scene.pass(inSync, { settle: 0 });
  scene.calls.length = 0;
  scene.mishaps.set('update 1', refused);
  scene.mishaps.set('list 2', (template) => mishap(becoming(scene, '#2 www A 192.0.2.72')(template)));
  const { templates } = await scene.pass(desiredTemplate(edited), { settle: 0 });
  expect(scene.calls).toEqual(['list 1', 'update 1', 'list 2']);
  expect(templates[0]!.differences[0]).toMatchObject({ recordId: 2, outcome: 'applied' });
});

describe('a listing made for another template holds the adds of this one unless it shows the same', () => {
  /** The view of a template after such listings, if its own reading showed the first two records. */
  const after = async (...listings: readonly (readonly string[])[]) => {
    const state = newState(['@ A 192.0.2.1', 'api A 192.0.2.3'], service.slice(0, 2));
    const memory = await opened(newFile());
    const coming: ActualTemplate[] = listings.map(actualTemplate);
    const silent = runWith({ memory, writer: memory });
    const listDnsTemplates = () => Promise.resolve([coming.shift()!]);
    const run = runWith({
      memory,
      writer: memory,
      service: { ...silent.pass.service, listDnsTemplates },
    });
    for (const _ of listings) await run.readTemplates();
    const { holds, basis } = compareListing(state, run.listing);
    const idsOf = ({ records }: ActualTemplate) => records.map(({ id }) => id).toSorted((a, b) => a - b);
    return {
      held: holds.map(({ scope }) => scope),
      view: idsOf(basis.view),
      shown: idsOf(unionOf(run.listing?.get(basis.view.id), basis.view)),
    };
  };

  test.each<[string, readonly (readonly string[])[], boolean, readonly number[]]>([
    ['the same', [service.slice(0, 2)], false, [1, 2]],
    ['a record less', [service.slice(0, 1)], true, [1, 2]],
    ['another value', [['#1 @ A 192.0.2.99', ...service.slice(1, 2)]], true, [1, 2]],
    ['a record more', [service.slice(0, 3)], true, [1, 2, 3]],
    ['a record more, and the next one does not', [service.slice(0, 3), service.slice(0, 2)], true, [1, 2, 3]],
    ['other records than the one before', [service.slice(0, 3), [service[3]!]], true, [1, 2, 3, 4]],
  ])('%s', async (_, listings, isStopped, shown) => {
    const result = await after(...listings);
    expect(result).toEqual({ held: isStopped ? ['adds'] : [], view: [1, 2], shown });
  });

  test('or is behind our own write', async () => {
    const before = actualTemplate(['#1 @ A 192.0.2.1']);
    const scene = await openScene(before);
    const desired = desiredTemplate(['@ A 192.0.2.1', 'www A 192.0.2.2']);
    await scene.pass(desired);
    const at = { now: scene.now, uptime: { boot: 'b', at: scene.now } };
    const bound = { desired, actual: scene.actual, notes: [] };
    const options = { asked: at, moment: at, settle: 10_000, unknownPause: 300_000, retry: false };
    const state = openTemplate(bound, await scene.memory.template(17), options);
    expect(compareListing(state, new Map([[17, before]])).holds).toEqual([]);
  });
});

test('a reading that shows the refused record and too many others does not show the service’s spelling', async () => {
  const scene = await openScene(actualTemplate(service));
  await scene.pass(inSync, { settle: 0 });
  scene.mishaps.set('update 1', refused);
  scene.mishaps.set('list 2', (template) =>
    showing('#9 abc A 192.0.2.9')(becoming(scene, '#2 www A 192.0.2.72')(template)),
  );
  await scene.pass(desiredTemplate(edited), { settle: 0 });
  const { records } = (await scene.memory.template(17))!;
  expect(records.map(({ rewritten }) => rewritten).filter((one) => one !== null)).toEqual([]);
});

test('a record that any listing of a pass showed stays known, though later ones lack it or its template', async () => {
  const web = (...lines: readonly string[]) => actualTemplate(lines);
  const mail = { ...actualTemplate(['#5 mail A 192.0.2.5']), id: 18, name: 'mail' };
  const listings = [
    [web('#1 @ A 192.0.2.1', '#9 www A 192.0.2.9'), mail],
    [web('#1 @ A 192.0.2.1'), mail],
    [mail],
  ];
  const left = listings.values();
  const { memory } = await openScene(web());
  const run = runWith({
    memory,
    writer: null,
    service: { ...unused, listDnsTemplates: () => Promise.resolve(left.next().value ?? []) },
  });
  for (const listing of listings) {
    const read = await run.readTemplates();
    expect([...read!.values()]).toEqual(listing);
    expect(run.listing!.get(17)!.records.map(({ id }) => id)).toEqual([1, 9]);
  }
});

const unused = {
  addDnsTemplateRecord: () => expect.fail('no write'),
  updateDnsTemplateRecord: () => expect.fail('no write'),
  listDnsRecords: () => expect.fail('no subdomain'),
};
