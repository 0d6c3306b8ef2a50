import { expect, test } from 'vitest';
import type { DesiredTemplate } from '../../src/model/template.ts';
import { entryOf, recordKey } from '../../src/plan/entry.ts';
import { data, desiredTemplate, presentTemplate } from '../plan/records.ts';
import { intentOf } from '../state/samples.ts';
import { openScene, type Scene } from './pass.ts';

interface Case {
  readonly name: string;
  readonly before: readonly string[];
  /** What the file said in passes before, each with what the service held after it. */
  readonly past: readonly {
    readonly file: DesiredTemplate;
    readonly after?: readonly string[];
    /** Milliseconds until the next pass; a minute, where nothing else is said. */
    readonly later?: number;
  }[];
  readonly file: DesiredTemplate;
  readonly calls: string;
}

const apex = ['@ A 192.0.2.1', '#1 @ A 192.0.2.1'] as const;
const park = { surplus: 'park', limits: { maxAdds: 100, maxChangePercent: 100, minRecords: 10 } } as const;
const file = (...records: readonly string[]) => desiredTemplate([apex[0], ...records]);
const parking = (...records: readonly string[]) => desiredTemplate([apex[0], ...records], park);

/** Two readings have to ask for a write; the older one may be of an earlier pass. */
const cases: readonly Case[] = [
  {
    name: 'an add at first contact',
    before: [apex[1]],
    past: [],
    file: file('api A 192.0.2.2'),
    calls: 'list 1, wait 10000, list 2, add 1',
  },
  {
    name: 'an add that is new in the file',
    before: [apex[1]],
    past: [{ file: file() }],
    file: file('api A 192.0.2.2'),
    calls: 'list 1, add 1',
  },
  {
    name: 'an add to a template of which no record is known',
    before: [],
    past: [{ file: desiredTemplate([]) }],
    file: desiredTemplate(['api A 192.0.2.2']),
    calls: 'list 1, add 1',
  },
  {
    name: 'an update at first contact',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [],
    file: file('www A 192.0.2.3'),
    calls: 'list 1, wait 10000, list 2, update 1',
  },
  {
    name: 'an add of what was there before',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [{ file: file('www A 192.0.2.2'), after: [apex[1]] }],
    file: file('www A 192.0.2.2'),
    calls: 'list 1, wait 10000, list 2, add 1',
  },
  {
    name: 'an add of what was there before, and became another wanted record',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [
      { file: file('www A 192.0.2.2'), after: [apex[1], '#2 api A 192.0.2.2'] },
      { file: file('www A 192.0.2.2', 'api A 192.0.2.2') },
    ],
    file: file('www A 192.0.2.2', 'api A 192.0.2.2'),
    calls: 'list 1, add 1',
  },
  {
    name: 'an add beside a missing record of its type that the file wanted before',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [{ file: file('www A 192.0.2.2'), after: [apex[1]] }],
    file: file('api A 192.0.2.2'),
    calls: 'list 1, wait 10000, list 2, add 1',
  },
  {
    name: 'an add beside a missing record that the file never wanted',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [{ file: file(), after: [apex[1]] }],
    file: file('api TXT hello'),
    calls: 'list 1, wait 10000, list 2, add 1',
  },
  {
    name: 'an add beside a missing record of another type',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [{ file: file('www A 192.0.2.2'), after: [apex[1]] }],
    file: file('api TXT hello'),
    calls: 'list 1, wait 10000, list 2, add 1',
  },
  {
    name: 'an add at the name of a missing record of another type, which may be in its way',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [{ file: file('www A 192.0.2.2'), after: [apex[1]] }],
    file: file('www CNAME web.example.net'),
    calls: 'list 1, wait 10000, list 2, add 1',
  },
  {
    name: 'an update that brings a record to the name of a missing one',
    before: [apex[1], '#2 www A 192.0.2.2', '#3 old CNAME web.example.net'],
    past: [
      {
        file: parking('www A 192.0.2.2', 'old CNAME web.example.net'),
        after: [apex[1], '#3 old CNAME web.example.net'],
      },
    ],
    file: parking('www CNAME web.example.net'),
    calls: 'list 1, wait 10000, list 2, update 1',
  },
  {
    name: 'an update of a record that stood for another wanted one, of which a copy is there',
    before: [apex[1], '#2 api A 192.0.2.3', '#3 api A 192.0.2.3'],
    past: [{ file: file('api A 192.0.2.3'), after: [apex[1], '#2 api A 192.0.2.30', '#3 api A 192.0.2.3'] }],
    file: file('api A 192.0.2.3', 'api A 192.0.2.4'),
    calls: 'list 1, wait 10000, list 2, update 1',
  },
  {
    name: 'a park of what is not wanted any more',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [{ file: parking('www A 192.0.2.2') }],
    file: parking(),
    calls: 'list 1, update 1',
  },
  {
    name: 'a park of what was parked and is back',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [{ file: parking('www A 192.0.2.2') }, { file: parking(), after: [apex[1], '#2 www A 192.0.2.2'] }],
    file: parking(),
    calls: 'list 1, wait 10000, list 2, update 1',
  },
  {
    name: 'an update to a value that was stored only just now',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [{ file: file('www A 192.0.2.3'), after: [apex[1], '#2 www A 192.0.2.2'] }],
    file: file('www A 192.0.2.3'),
    calls: 'list 1, wait 10000, list 2, update 1',
  },
  {
    name: 'an update less than the settling time after the first reading',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [{ file: file('www A 192.0.2.2'), later: 9_000 }],
    file: file('www A 192.0.2.3'),
    calls: 'list 1, wait 10000, list 2, update 1',
  },
  {
    name: 'an update where anything else was changed at the service since',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [{ file: file('www A 192.0.2.2'), after: [apex[1], '#2 www A 192.0.2.2', '#3 api TXT hello'] }],
    file: file('www A 192.0.2.3'),
    calls: 'list 1, wait 10000, list 2, update 1',
  },
  {
    name: 'an update of what another pass saw changed, and did not write',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [
      { file: file('www A 192.0.2.2'), after: [apex[1], '#2 www A 192.0.2.9'] },
      { file: desiredTemplate([apex[0], 'www A 192.0.2.2'], { mode: 'report' }) },
    ],
    file: file('www A 192.0.2.2'),
    calls: 'list 1, update 1',
  },
  {
    name: 'an update right after a write of our own',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [{ file: file('www A 192.0.2.2') }, { file: file('www A 192.0.2.3'), later: 0 }],
    file: file('www A 192.0.2.4'),
    calls: 'list 1, update 1',
  },
  {
    name: 'an update to another value after that',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [{ file: file('www A 192.0.2.3') }],
    file: file('www A 192.0.2.4'),
    calls: 'list 1, update 1',
  },
];

test.each(cases)('$name: $calls', async ({ before, past, file: last, calls }) => {
  const scene = await openScene(presentTemplate(before));
  for (const { file: wanted, after, later = 60_000 } of past) {
    await scene.pass(wanted, { clock: telling(scene) });
    if (after) scene.present = presentTemplate(after);
    scene.now += later;
  }
  scene.calls.length = 0;
  await scene.pass(last, { clock: telling(scene) });
  expect(scene.calls.join(', ')).toBe(calls);
});

/** A clock that tells among the calls when somebody waits. */
const telling = (scene: Scene) => ({
  now: () => scene.now,
  uptime: () => ({ boot: 'b', at: scene.now }),
  sleep: (milliseconds: number) => {
    scene.calls.push(`wait ${milliseconds}`);
    scene.now += milliseconds;
    return Promise.resolve();
  },
});

test('what was read before an add that a process died over is no reading for the pass that finds it', async () => {
  const scene = await openScene(presentTemplate([apex[1]]));
  const clock = telling(scene);
  const after = data('api A 192.0.2.2');
  await scene.pass(file(), { clock });
  scene.now += 60_000;
  const before = scene.present;
  const key = recordKey(entryOf(after));
  await scene.memory.begin(intentOf({ run: 'run-0', at: scene.now, key, after, idsBefore: [1] }));
  scene.present = presentTemplate([apex[1], '#2 api A 192.0.2.2']);
  await scene.pass(file('api A 192.0.2.2'), { clock });
  scene.now += 60_000;
  scene.calls.length = 0;
  // A listing is behind.
  scene.mishaps.set('list 1', () => before);
  await scene.pass(file('api A 192.0.2.2'), { clock });
  expect(scene.calls).toEqual(['list 1', 'wait 10000', 'list 2']);
});
