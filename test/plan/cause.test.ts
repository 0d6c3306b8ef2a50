import { describe, expect, test } from 'vitest';
import { sameData } from '../../src/model/canonical.ts';
import type { Cause } from '../../src/plan/difference.ts';
import { differencesOf } from './records.ts';
import { data, known, memoryOf, missing, planOf, type Situation } from './records.ts';

interface Case extends Situation {
  readonly name: string;
  readonly causes: readonly Cause[];
}

const cases: readonly Case[] = [
  // adds
  { name: 'an add at first sight', file: ['www A 192.0.2.1'], service: [], causes: ['unknown'] },
  {
    name: 'an add that an earlier pass found keeps its cause',
    file: ['www A 192.0.2.1', 'mail A 192.0.2.2'],
    service: [],
    memory: memoryOf([missing('www A 192.0.2.1', { cause: 'unknown' })]),
    causes: ['edited', 'unknown'],
  },

  // updates
  {
    name: 'an update of an unknown record, for one that is new in the file',
    file: ['www A 192.0.2.1'],
    service: ['#1 www A 192.0.2.2'],
    memory: memoryOf([]),
    causes: ['edited'],
  },
  {
    name: 'an update of an unknown record, for one that was there before',
    file: ['www A 192.0.2.1'],
    service: ['#2 www A 192.0.2.2'],
    memory: memoryOf([known('#1 www A 192.0.2.1')]),
    causes: ['drifted'],
  },
  {
    name: 'an update of one that the file dropped, before any reading has said whether the other is new',
    file: ['ftp CNAME web.example.org'],
    service: ['#1 * CNAME web.example.org'],
    template: { surplus: 'park' },
    memory: { ...memoryOf([known('#1 * CNAME web.example.org')]), hasBeenRead: false },
    causes: ['unknown'],
  },
  {
    name: 'the file states a TTL now',
    file: ['www 300 A 192.0.2.1'],
    service: ['#1 www 60 A 192.0.2.1'],
    memory: memoryOf([known('#1 www A 192.0.2.1', '#1 www 60 A 192.0.2.1')]),
    causes: ['edited'],
  },
  {
    name: 'the service changed the TTL',
    file: ['www 300 A 192.0.2.1'],
    service: ['#1 www 60 A 192.0.2.1'],
    memory: memoryOf([known('#1 www 300 A 192.0.2.1')]),
    causes: ['drifted'],
  },
  {
    name: 'neither changed: they never agreed',
    file: ['www A 192.0.2.1'],
    service: ['#1 www A 192.0.2.2'],
    memory: memoryOf([known('#1 www A 192.0.2.1', '#1 www A 192.0.2.2')]),
    causes: ['unknown'],
  },
  {
    name: 'another spelling is no change',
    file: ['WWW A 192.0.2.1', '@ TXT "token=b"'],
    service: ['#1 www. A 192.0.2.1', '#2 @ TXT token=a'],
    memory: memoryOf([known('#1 www A 192.0.2.1'), known('#2 @ TXT token=b', '#2 @ TXT "token=a"')]),
    causes: ['drifted', 'unknown'],
  },

  // surplus
  {
    name: 'surplus that was changed at the service, while another record matches the file',
    file: ['www A 192.0.2.1'],
    service: ['#1 www A 192.0.2.9', '#2 www A 192.0.2.1'],
    memory: memoryOf([known('#1 www A 192.0.2.1')]),
    causes: ['drifted'],
  },
  {
    name: 'surplus that was always there',
    file: [],
    service: ['#1 www A 192.0.2.1'],
    memory: memoryOf([known('#2 mail A 192.0.2.2')], { preexistingIds: new Set([1]) }),
    causes: ['unknown'],
  },
  {
    name: 'parks',
    file: [],
    service: ['#1 a A 192.0.2.1', '#2 b A 192.0.2.2', '#3 c A 192.0.2.3'],
    memory: memoryOf([known('#1 a A 192.0.2.1')], { preexistingIds: new Set([2]) }),
    template: { surplus: 'park', adopt: true },
    causes: ['edited', 'unknown', 'drifted'],
  },
];

test.for(cases)('$name', (scenario) => {
  const causes = differencesOf(planOf(scenario)).map((difference) =>
    difference.action === 'blocked' ? null : difference.cause,
  );
  expect(causes).toEqual(scenario.causes);
});

describe('the same data', () => {
  test.for([
    ['www 60 A 192.0.2.1', 'WWW 60 a 192.0.2.1', true],
    ['www 60 A 192.0.2.1', 'www 61 A 192.0.2.1', false],
    ['www 60 A 192.0.2.1', 'www A 192.0.2.1', false],
    ['www A 192.0.2.1', 'www A 192.0.2.2', false],
    ['www A 192.0.2.1', 'web A 192.0.2.1', false],
    ['www CNAME a.example.net', 'www PTR a.example.net', false],
    ['@ MX 10 mx1.example.net', '@ MX 20 mx1.example.net', false],
    ['@ MX 10 mx1.example.net', '@ mx 10 MX1.example.net.', true],
  ] as const)('%s, %s: %s', ([one, other, same]) => {
    expect(sameData(data(one), data(other))).toBe(same);
    expect(sameData(data(other), data(one))).toBe(same);
  });
});
