import { expect, test } from 'vitest';
import { entryOf, recordKey } from '../../src/plan/entry.ts';
import { parkedKey, type KnownRecord } from '../../src/plan/memory.ts';
import { data, ignoring, known, linesOf, memoryOf, planOf, type Scenario } from './records.ts';

const park = { surplus: 'park' } as const;
const adopt = { surplus: 'park', adopt: true } as const;

/** Known without an answer that shows its name at the service. */
const untold = (line: string): KnownRecord => known(line, line, { keptName: null });

/** Parked to make way for the desired record of the key. */
const displaced = (line: string, key: string, was: string): KnownRecord => {
  const { recordId } = known(line);
  return known(line, line, {
    key: parkedKey(recordId!),
    displaced: { key, was: data(was), cause: 'edited' },
  });
};

const cnameKey = recordKey(entryOf(data('www CNAME web.example.org')));

/** For which #2 has made way. */
const updateInPlace = (reason: 'refused' | 'not-converging') => ({
  file: ['www MX 0 .'],
  service: ['#1 www MX 10 mx1.example.net', '#2 _parked-2 MX 20 parked.invalid'],
  memory: memoryOf([
    displaced(
      '#2 _parked-2 MX 20 parked.invalid',
      recordKey(entryOf(data('www MX 0 .'))),
      'www MX 20 mx2.example.net',
    ),
  ]),
  template: { surplus: 'park' } as const,
  blockOf: () => ({ reason, message: 'no' }),
});

const scenarios: readonly (Scenario & { readonly parked?: number; readonly ignored?: number })[] = [
  // report
  {
    name: 'with report it is neither reused nor parked, though the file once listed it',
    file: ['new A 192.0.2.1'],
    service: ['#1 old A 192.0.2.1'],
    memory: memoryOf([known('#1 old A 192.0.2.1')]),
    plan: ['add new A 192.0.2.1', 'surplus #1 unlisted'],
  },

  // park: which surplus
  {
    name: 'an ignored parked record stays where it is',
    file: ['new A 192.0.2.1'],
    service: ['#1 _parked-1 A 0.0.0.0'],
    template: { ...adopt, ignore: [ignoring({ name: '_parked-*' })] },
    plan: ['add new A 192.0.2.1'],
    ignored: 1,
  },
  {
    name: 'a record that may not be parked now is reported',
    file: [],
    service: ['#1 old A 192.0.2.1', '#2 older A 192.0.2.2'],
    template: adopt,
    parkBlockOf: ({ record }) =>
      record.id === 1 ? { error: 'refused', retryAt: '2026-11-20T20:05:00.000Z' } : null,
    plan: ['park #2: _parked-2 A 0.0.0.0', 'surplus #1 unlisted'],
  },

  {
    name: 'with adopt, a record stays if its name may be the service’s spelling of one that may not be written now',
    file: ['www A 192.0.2.1', 'mail MX 10 mx1.example.net'],
    service: [
      '#1 www.##DOMAIN## TXT hello',
      '#2 mail. MX 20 mx2.example.net',
      '#3 old.www A 192.0.2.2',
      '#4 www2 A 192.0.2.2',
    ],
    template: adopt,
    blockOf: () => ({ reason: 'vanished', message: 'wait' }),
    plan: [
      'park #3: _parked-3 A 0.0.0.0',
      'park #4: _parked-4 A 0.0.0.0',
      'blocked vanished: www A 192.0.2.1',
      'blocked vanished: mail MX 10 mx1.example.net',
      'surplus #1 unlisted',
      'surplus #2 unlisted',
    ],
  },

  // park: reused first
  {
    name: 'a nameless add takes only a nameless record: no name can be cleared',
    file: ['@ A 192.0.2.1'],
    service: ['#1 old A 192.0.2.1'],
    template: adopt,
    plan: ['add @ A 192.0.2.1', 'park #1: _parked-1 A 0.0.0.0'],
  },
  {
    name: 'a nameless text is reused for a nameless add that pairing would not match',
    file: ['@ TXT token=new'],
    service: ['#1 @ TXT token=old'],
    template: adopt,
    plan: ['update #1 content: @ TXT token=new'],
  },
  {
    name: 'a nameless add chooses before a named one',
    file: ['a TXT token=a', '@ TXT token=b'],
    service: ['#1 @ TXT token=c'],
    template: adopt,
    plan: ['update #1 content: @ TXT token=b', 'add a TXT token=a'],
  },
  {
    name: 'a nameless record may be reused for a named add',
    file: ['new TXT token=a'],
    service: ['#1 @ TXT token=b'],
    template: adopt,
    plan: ['update #1 name,content: new TXT token=a'],
  },
  {
    name: 'the lowest id is reused first, the rest is parked',
    file: ['new A 192.0.2.1'],
    service: ['#3 old A 192.0.2.1', '#2 older A 192.0.2.2'],
    template: adopt,
    plan: ['update #2 name,content: new A 192.0.2.1', 'park #3: _parked-3 A 0.0.0.0'],
  },
  {
    name: 'an add that may not be written now reuses nothing',
    file: ['new A 192.0.2.1'],
    service: ['#1 old A 192.0.2.1'],
    template: adopt,
    blockOf: () => ({ reason: 'vanished', message: 'wait' }),
    plan: ['park #1: _parked-1 A 0.0.0.0', 'blocked vanished: new A 192.0.2.1'],
  },
  {
    name: 'a record of the file stays at the name of an add that may not be written now, in the service’s spelling',
    file: ['mail CNAME web.example.org'],
    service: ['#5 mail.##DOMAIN## A 192.0.2.1'],
    memory: memoryOf([untold('#5 mail A 192.0.2.1')]),
    template: { surplus: 'park' },
    blockOf: () => ({ reason: 'vanished', message: 'wait' }),
    plan: ['blocked vanished: mail CNAME web.example.org', 'surplus #5 unlisted'],
  },
  {
    name: 'a record that is blocked reuses nothing that stands in the way of another one',
    file: ['www CNAME web.example.org', 'ftp A 192.0.2.3'],
    service: ['#1 www A 192.0.2.2', '#3 ftp CNAME web.example.net'],
    memory: memoryOf([untold('#1 www A 192.0.2.2')]),
    template: { surplus: 'park' },
    plan: [
      'park #1: _parked-1 A 0.0.0.0',
      'add www CNAME web.example.org',
      'blocked cname-conflict by #3: ftp A 192.0.2.3',
      'surplus #3 unlisted',
    ],
  },
  {
    name: 'what makes way is parked, where another name is blocked',
    file: ['www CNAME web.example.org', 'ftp A 192.0.2.3', 'mail A 192.0.2.4'],
    service: ['#1 mail CNAME web.example.org', '#2 www A 192.0.2.2', '#3 ftp CNAME web.example.net'],
    memory: memoryOf([untold('#1 mail CNAME web.example.org'), untold('#2 www A 192.0.2.2')]),
    template: { surplus: 'park' },
    plan: [
      'park #1: _parked-1 CNAME parked.invalid',
      'add mail A 192.0.2.4',
      'park #2: _parked-2 A 0.0.0.0',
      'add www CNAME web.example.org',
      'blocked cname-conflict by #3: ftp A 192.0.2.3',
      'surplus #3 unlisted',
    ],
  },
  {
    name: 'a record stays if what is wanted at its name is blocked by another one, too',
    file: ['www CNAME web.example.org', 'ftp A 192.0.2.3'],
    service: ['#1 www A 192.0.2.2', '#2 www TXT theirs', '#3 ftp CNAME web.example.net'],
    memory: memoryOf([untold('#1 www A 192.0.2.2')]),
    template: { surplus: 'park' },
    plan: [
      'blocked cname-conflict by #3: ftp A 192.0.2.3',
      'blocked cname-conflict by #2: www CNAME web.example.org',
      'surplus #1 unlisted',
      'surplus #2 unlisted',
      'surplus #3 unlisted',
    ],
  },
  {
    name: 'a displaced record is restored, though a record that cannot be written would reuse it',
    file: ['www CNAME web.example.org', 'ftp A 192.0.2.3'],
    service: ['#2 _parked-2 A 0.0.0.0', '#3 ftp CNAME web.example.net'],
    memory: memoryOf([displaced('#2 _parked-2 A 0.0.0.0', cnameKey, 'www A 192.0.2.2')]),
    template: { surplus: 'park' },
    blockOf: ({ record }) => (record.type === 'CNAME' ? { reason: 'refused', message: 'no' } : null),
    plan: [
      'park #2: www A 192.0.2.2',
      'blocked cname-conflict by #3: ftp A 192.0.2.3',
      'blocked refused: www CNAME web.example.org',
      'surplus #3 unlisted',
    ],
  },
  {
    name: 'also if another record, which is blocked, would reuse it',
    ...updateInPlace('refused'),
    file: ['www MX 0 .', 'ftp MX 10 mx3.example.net'],
    service: [...updateInPlace('refused').service, '#3 ftp CNAME web.example.net'],
    blockOf: ({ record }) => (record.name === 'www' ? { reason: 'refused', message: 'no' } : null),
    plan: [
      'park #2: www MX 20 mx2.example.net',
      'blocked cname-conflict by #3: ftp MX 10 mx3.example.net',
      'blocked refused #1: www MX 0 .',
      'surplus #3 unlisted',
    ],
  },
  {
    name: 'and not where the service spells what that update made otherwise',
    ...updateInPlace('not-converging'),
    plan: ['blocked not-converging #1: www MX 0 .'],
    parked: 1,
  },

  // parked records
  {
    name: 'the parked record with the lowest id is reused, also without saved state and adopt',
    file: ['new A 192.0.2.1'],
    service: ['#3 _parked-3 A 0.0.0.0', '#2 _parked-99 A 0.0.0.0', '#1 _parked-1 TXT parked'],
    template: park,
    plan: ['update #2 name,content: new A 192.0.2.1'],
    parked: 2,
  },
  {
    name: 'a parked record is not parked again, for any saved state',
    file: ['@ A 192.0.2.1'],
    service: ['#1 _PARKED-1 A 0.0.0.0', '#2 @ A 192.0.2.1', '#3 _parked-3 TXT parked'],
    memory: memoryOf([known('#1 @ A 192.0.2.1'), known('#3 @ TXT hello')]),
    template: park,
    plan: [],
    parked: 2,
  },
  {
    name: 'only a relative or absolute name of _parked- and digits means parked',
    file: [],
    service: [
      '#1 _parked-x A 0.0.0.0',
      '#2 _parked- A 0.0.0.0',
      '#3 a._parked-3 A 0.0.0.0',
      '#4 _parked-4x A 0.0.0.0',
      '#5 _parked-5.##DOMAIN## A 0.0.0.0',
    ],
    plan: ['surplus #1 unlisted', 'surplus #2 unlisted', 'surplus #3 unlisted', 'surplus #4 unlisted'],
    parked: 1,
  },
  {
    name: 'a file may list a record at such a name',
    file: ['_parked-1 A 192.0.2.1'],
    service: ['#1 _parked-1 A 0.0.0.0', '#2 _parked-1 A 0.0.0.1', '#3 _parked-3 A 0.0.0.0'],
    plan: ['update #1 content: _parked-1 A 192.0.2.1'],
    parked: 2,
  },
];

test('of many records that are blocked none is tried after the other for what it might reuse', () => {
  const many = Array.from({ length: 20_000 }, (_, index) => `n${index}`);
  const plan = planOf({
    file: ['www CNAME web.example.org', ...many.map((name) => `${name} A 192.0.2.3`)],
    service: [
      '#1 www A 192.0.2.2',
      ...many.map((name, index) => `#${index + 2} ${name} CNAME a.example.net`),
    ],
    memory: memoryOf([untold('#1 www A 192.0.2.2')]),
    template: { surplus: 'park' },
  });
  expect(linesOf(plan).slice(0, 2)).toEqual([
    'park #1: _parked-1 A 0.0.0.0',
    'add www CNAME web.example.org',
  ]);
});

test.for(scenarios)('$name', (scenario) => {
  const plan = planOf(scenario);
  expect(linesOf(plan)).toEqual(scenario.plan);
  expect({ parked: plan.parked, ignored: plan.ignored }).toEqual({
    parked: scenario.parked ?? 0,
    ignored: scenario.ignored ?? 0,
  });
});

test('a park that waits says why and until when', () => {
  const wait = { error: 'refused', retryAt: '2026-11-20T20:05:00.000Z' };
  const plan = planOf({
    file: [],
    service: ['#1 old A 192.0.2.1'],
    template: adopt,
    parkBlockOf: () => wait,
  });
  expect(plan.surplus).toMatchObject([{ recordId: 1, ...wait }]);
});
