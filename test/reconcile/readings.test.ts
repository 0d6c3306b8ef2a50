import { expect, test } from 'vitest';
import type { DesiredTemplate } from '../../src/model/template.ts';
import { entryOf, recordKey } from '../../src/plan/entry.ts';
import type { Pass } from '../../src/reconcile/pass.ts';
import { MemoryError, type Memory } from '../../src/state/memory.ts';
import { data, desiredTemplate, actualTemplate } from '../plan/records.ts';
import { newEntry } from '../state/samples.ts';
import { openScene, type Scene } from './pass.ts';

interface Case {
  readonly name: string;
  readonly before: readonly string[];
  /** The file in earlier passes, each with the records at the service after it. */
  readonly past: readonly {
    readonly file: DesiredTemplate;
    readonly after?: readonly string[];
    /** The second reading, if it differs. */
    readonly second?: readonly string[];
    /** Milliseconds until the next pass; a minute, where nothing else is said. */
    readonly later?: number;
    /** Milliseconds by which the clock jumps beside that. */
    readonly jump?: number;
    /** The machine starts anew. */
    readonly isRestarted?: boolean;
    /** Nothing is saved at the end. */
    readonly isUnsaved?: boolean;
  }[];
  /** Milliseconds; ten seconds, where nothing else is said. */
  readonly settle?: number;
  readonly file: DesiredTemplate;
  readonly calls: string;
}

const apex = ['@ A 192.0.2.1', '#1 @ A 192.0.2.1'] as const;
const park = { surplus: 'park', limits: { maxAdds: 100, maxChangePercent: 100, minRecords: 10 } } as const;
const file = (...records: readonly string[]) => desiredTemplate([apex[0], ...records]);
const parking = (...records: readonly string[]) => desiredTemplate([apex[0], ...records], park);

const adopting = (...records: readonly string[]) =>
  desiredTemplate([apex[0], ...records], { ...park, adopt: true });

/** Two readings must require a write; the older one may be from an earlier pass. */
const cases: readonly Case[] = [
  {
    name: 'a park where only an add that listings may not show yet would be left at the name',
    before: [apex[1]],
    past: [{ file: adopting('mail A 192.0.2.2'), after: [apex[1], '#9 mail AAAA 2001:db8::1'] }],
    file: adopting('mail A 192.0.2.2'),
    calls: 'list 1, wait 10000, list 2',
  },
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
    name: 'an add to a template without a known record',
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
    name: 'an add of a record that was there before',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [{ file: file('www A 192.0.2.2'), after: [apex[1]] }],
    file: file('www A 192.0.2.2'),
    calls: 'list 1, wait 10000, list 2, add 1',
  },
  {
    name: 'an add beside a missing record of its type that the file listed before',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [{ file: file('www A 192.0.2.2'), after: [apex[1]] }],
    file: file('api A 192.0.2.2'),
    calls: 'list 1, wait 10000, list 2, add 1',
  },
  {
    name: 'an add beside a missing record that the file never listed',
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
    name: 'an update of the record of another desired one that has a copy',
    before: [apex[1], '#2 api A 192.0.2.3', '#3 api A 192.0.2.3'],
    past: [{ file: file('api A 192.0.2.3'), after: [apex[1], '#2 api A 192.0.2.30', '#3 api A 192.0.2.3'] }],
    file: file('api A 192.0.2.3', 'api A 192.0.2.4'),
    calls: 'list 1, wait 10000, list 2, update 1',
  },
  {
    name: 'a park of a record that the file no longer lists',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [{ file: parking('www A 192.0.2.2') }],
    file: parking(),
    calls: 'list 1, update 1',
  },
  {
    name: 'a park of a record that was parked and is back',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [
      { file: parking('www A 192.0.2.2') },
      { file: parking(), after: [apex[1], '#2 www A 192.0.2.2'], later: 600_000 },
    ],
    file: parking(),
    calls: 'list 1, wait 10000, list 2, update 1',
  },
  {
    name: 'nothing, beside a park that the listing may not show yet',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [{ file: parking('www A 192.0.2.2') }, { file: parking(), after: [apex[1], '#2 www A 192.0.2.2'] }],
    file: parking(),
    calls: 'list 1, wait 10000, list 2',
  },
  {
    name: 'an update to a value that was stored ten minutes ago',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [{ file: file('www A 192.0.2.3'), after: [apex[1], '#2 www A 192.0.2.2'], later: 600_000 }],
    file: file('www A 192.0.2.3'),
    calls: 'list 1, wait 10000, list 2, update 1',
  },
  {
    name: 'nothing, beside a value that the listing may not show yet',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [{ file: file('www A 192.0.2.3'), after: [apex[1], '#2 www A 192.0.2.2'] }],
    file: file('www A 192.0.2.3'),
    calls: 'list 1, wait 10000, list 2',
  },
  {
    name: 'an edit that takes an update back which the listing does not show yet',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [
      { file: file('www A 192.0.2.2') },
      { file: file('www A 192.0.2.3'), after: [apex[1], '#2 www A 192.0.2.2'] },
    ],
    file: desiredTemplate([apex[0], 'www A 192.0.2.2'], { mode: 'edits' }),
    calls: 'list 1',
  },
  {
    name: 'an update less than the settling time after the first reading',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [{ file: file('www A 192.0.2.2'), later: 9_000 }],
    file: file('www A 192.0.2.3'),
    calls: 'list 1, wait 10000, list 2, update 1',
  },
  {
    name: 'an update after anything else was changed at the service',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [{ file: file('www A 192.0.2.2'), after: [apex[1], '#2 www A 192.0.2.2', '#3 api TXT hello'] }],
    file: file('www A 192.0.2.3'),
    calls: 'list 1, wait 10000, list 2, update 1',
  },
  {
    name: 'an update of a change that another pass saw and did not write',
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
  {
    name: 'an update right after a second reading that differs from the first',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [{ file: file('www A 192.0.2.9'), second: [apex[1], '#2 www A 192.0.2.3'], later: 0 }],
    file: file('www A 192.0.2.4'),
    calls: 'list 1, wait 10000, list 2, update 1',
  },
  {
    name: 'an update of a record that a second reading lacked',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [{ file: file('www A 192.0.2.9'), second: [apex[1]], after: [apex[1], '#2 www A 192.0.2.2'] }],
    file: file('www A 192.0.2.9'),
    calls: 'list 1, wait 10000, list 2, update 1',
  },
  {
    name: 'an update of a record that is unchanged after a write whose end was not saved',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [
      { file: file('www A 192.0.2.2') },
      {
        file: file('www A 192.0.2.3'),
        isUnsaved: true,
        after: [apex[1], '#2 www A 192.0.2.2'],
        later: 600_000,
      },
    ],
    file: file('www A 192.0.2.3'),
    calls: 'list 1, wait 10000, list 2, update 1',
  },
  {
    name: 'an update at first contact, with settle 0',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [],
    settle: 0,
    file: file('www A 192.0.2.3'),
    calls: 'list 1, wait 0, list 2, update 1',
  },
  {
    name: 'an update after a clock jumped',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [{ file: file('www A 192.0.2.2'), later: 1_000, jump: 3_600_000 }],
    file: file('www A 192.0.2.3'),
    calls: 'list 1, wait 10000, list 2, update 1',
  },
  {
    name: 'an update after a reboot',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [{ file: file('www A 192.0.2.2'), isRestarted: true }],
    file: file('www A 192.0.2.3'),
    calls: 'list 1, update 1',
  },
  {
    name: 'an update of a record that came back under another id',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [{ file: file('www A 192.0.2.2'), after: [apex[1], '#3 www A 192.0.2.2'] }],
    file: file('www A 192.0.2.3'),
    calls: 'list 1, wait 10000, list 2, update 1',
  },
  {
    name: 'an update after the TTL of another record changed',
    before: ['#1 @ 300 A 192.0.2.1', '#2 www A 192.0.2.2'],
    past: [{ file: file('www A 192.0.2.2'), after: ['#1 @ 600 A 192.0.2.1', '#2 www A 192.0.2.2'] }],
    file: file('www A 192.0.2.3'),
    calls: 'list 1, wait 10000, list 2, update 1',
  },
  {
    name: 'an update after the service changed the order of its list',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [{ file: file('www A 192.0.2.2'), after: ['#2 www A 192.0.2.2', apex[1]] }],
    file: file('www A 192.0.2.3'),
    calls: 'list 1, update 1',
  },
  {
    name: 'an update the settling time after the first of three readings',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [
      { file: file('www A 192.0.2.2'), later: 6_000 },
      { file: file('www A 192.0.2.2'), later: 6_000 },
    ],
    file: file('www A 192.0.2.3'),
    calls: 'list 1, update 1',
  },
  {
    name: 'an update of a change that a pass saw a minute after a write',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [
      { file: file('www A 192.0.2.2') },
      { file: file('www A 192.0.2.3'), after: [apex[1], '#2 www A 192.0.2.9'] },
      { file: desiredTemplate([apex[0], 'www A 192.0.2.3'], { mode: 'report' }) },
    ],
    file: file('www A 192.0.2.3'),
    calls: 'list 1, update 1',
  },
  {
    name: 'nothing, at first contact',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [],
    file: file('www A 192.0.2.2'),
    calls: 'list 1',
  },
  {
    name: 'nothing writable, at first contact',
    before: [apex[1], '#2 www A 192.0.2.2'],
    past: [],
    file: desiredTemplate([apex[0], 'www A 192.0.2.3'], { mode: 'report' }),
    calls: 'list 1',
  },
];

test.each(cases)('$name: $calls', async ({ before, past, file: last, settle = 10_000, calls }) => {
  const scene = await openScene(actualTemplate(before));
  const ticking = new Ticking(scene);
  for (const one of past) {
    const { file: desired, after, second, later = 60_000, jump = 0, isRestarted, isUnsaved } = one;
    if (second) scene.mishaps.set('list 2', () => (scene.actual = actualTemplate(second)));
    const writer = isUnsaved ? { ...scene.memory, save: outOfDisk } : scene.memory;
    await scene.pass(desired, { clock: ticking.clock, settle, writer });
    scene.mishaps.clear();
    if (after) scene.actual = actualTemplate(after);
    scene.now += later + jump;
    scene.jumped += jump;
    if (isRestarted) ticking.boot = 'c';
  }
  scene.calls.length = 0;
  await scene.pass(last, { clock: ticking.clock, settle });
  expect(scene.calls.join(', ')).toBe(calls);
});

test.each<[string, boolean, string[]]>([
  ['all is saved', false, ['list 1', 'wait 10000', 'list 2']],
  ['the end of a pass cannot be saved', true, ['list 1']],
])(
  'readings from before an add during which the process died do not count in the next pass: %s',
  async (_, isUnsaved, calls) => {
    const scene = await openScene(actualTemplate([apex[1]]));
    const { clock } = new Ticking(scene);
    const after = data('api A 192.0.2.2');
    await scene.pass(file(), { clock });
    scene.now += 60_000;
    const before = scene.actual;
    const key = recordKey(entryOf(after));
    await scene.memory.begin(newEntry({ run: 'run-0', at: scene.now, key, after, idsBefore: [1] }));
    scene.actual = actualTemplate([apex[1], '#2 api A 192.0.2.2']);
    const writer = isUnsaved ? { ...scene.memory, save: outOfDisk } : scene.memory;
    await scene.pass(file('api A 192.0.2.2'), { clock, writer });
    scene.now += 60_000;
    scene.calls.length = 0;
    // A listing is behind.
    scene.mishaps.set('list 1', () => before);
    await scene.pass(file('api A 192.0.2.2'), { clock });
    expect(scene.calls).toEqual(calls);
  },
);

const outOfDisk: Memory['save'] = () => Promise.reject(new MemoryError('the disk is full'));

/** Records waits among the calls. */
class Ticking {
  boot = 'b';
  readonly clock: Pass['clock'];

  constructor(scene: Scene) {
    this.clock = {
      now: () => scene.now,
      uptime: () => ({ boot: this.boot, at: scene.now - scene.jumped }),
      sleep: (milliseconds) => {
        scene.calls.push(`wait ${milliseconds}`);
        scene.now += milliseconds;
        return Promise.resolve();
      },
    };
  }
}

test('a missing record needs two readings of one pass: those between two passes may have shown it', async () => {
  const records = Array.from({ length: 12 }, (_, index) => `host${index} A 192.0.2.${index + 1}`);
  const scene = await openScene(actualTemplate(records.map((line, index) => `#${index + 1} ${line}`)));
  const whole = desiredTemplate(records, { limits: { maxAdds: 100, maxChangePercent: 50, minRecords: 10 } });
  await scene.pass(whole);
  scene.mishaps.set('list 1', (template) => ({ ...template, records: [] }));
  scene.mishaps.set('list 2', (template) => ({ ...template, records: [] }));
  const { templates } = await scene.pass(whole);
  expect(templates[0]?.status).toBe('held');
  scene.mishaps.delete('list 2');
  scene.now += 3_600_000;
  scene.calls.length = 0;
  await scene.pass(whole);
  expect(scene.calls).toEqual(['list 1', 'list 2']);
});
