import { expect, test } from 'vitest';
import { ignoring, known, linesOf, memoryOf, planOf, type Scenario } from './records.ts';

/** Addresses, then texts and PTR, then what points at names; in each updates before adds; parks last. */
const scenarios: readonly Scenario[] = [
  {
    name: 'all phases, whatever the order of the file',
    file: [
      '_sip._tcp SRV 10 5 5060 sip.example.net',
      '@ MX 10 mx1.example.net',
      'www CNAME web.example.net',
      '10 PTR host.example.net',
      '@ TXT v=spf1 mx -all',
      'web AAAA 2001:db8::1',
      'web A 192.0.2.1',
      'sub MX 10 mx2.example.net',
      'sub TXT v=spf1 -all',
      'sub A 192.0.2.2',
    ],
    service: ['#1 sub A 198.51.100.1', '#2 sub TXT v=spf1 mx', '#3 sub MX 20 mx2.example.net'],
    plan: [
      'update #1 content: sub A 192.0.2.2',
      'add web A 192.0.2.1',
      'add web AAAA 2001:db8::1',
      'update #2 content: sub TXT v=spf1 -all',
      'add 10 PTR host.example.net',
      'add @ TXT v=spf1 mx -all',
      'update #3 priority: sub MX 10 mx2.example.net',
      'add www CNAME web.example.net',
      'add @ MX 10 mx1.example.net',
      'add _sip._tcp SRV 10 5 5060 sip.example.net',
    ],
  },
  {
    name: 'an MX that is changed makes way directly before the MX that needs it',
    file: ['@ MX 10 a.example.net', '@ MX 20 mx.example.net', '@ 300 MX 5 z.example.net'],
    service: ['#1 @ 60 MX 5 z.example.net', '#2 @ MX 20 .'],
    plan: [
      'update #2 content: @ MX 20 mx.example.net',
      'update #1 ttl: @ 300 MX 5 z.example.net',
      'add @ MX 10 a.example.net',
    ],
  },
  {
    name: 'three steps clear the way',
    file: ['a TXT hello', 'b CNAME x.example.net', 'c A 192.0.2.3'],
    service: ['#1 b A 192.0.2.1', '#2 a CNAME x.example.net', '#3 c CNAME x.example.net'],
    memory: memoryOf([known('#1 c A 192.0.2.3'), known('#2 b CNAME x.example.net')]),
    template: { surplus: 'park', adopt: true },
    plan: [
      'park #3: _parked-3 CNAME parked.invalid',
      'update #1 name,content: c A 192.0.2.3',
      'update #2 name: b CNAME x.example.net',
      'add a TXT hello',
    ],
  },
  {
    name: 'conflicts, then waiting steps, then surplus by id',
    file: [
      'www CNAME web.example.net',
      'b A 192.0.2.2',
      'a A 192.0.2.1',
      'c 300 A 192.0.2.3',
      'd A 192.0.2.4',
    ],
    service: ['#9 www TXT hello', '#8 old A 192.0.2.8', '#7 c 60 A 192.0.2.3', '#6 x NS ns1.example.net'],
    blockOf: ({ record }) => (record.name === 'd' ? null : { reason: 'refused', message: 'no' }),
    template: { ignore: [ignoring({ name: 'x' })] },
    plan: [
      'add d A 192.0.2.4',
      'blocked refused #7: c 300 A 192.0.2.3',
      'blocked refused: a A 192.0.2.1',
      'blocked refused: b A 192.0.2.2',
      'blocked refused: www CNAME web.example.net',
      'surplus #8 unlisted',
      'surplus #9 unlisted',
    ],
  },
];

test.for(scenarios)('$name', (scenario) => {
  expect(linesOf(planOf(scenario))).toEqual(scenario.plan);
  const turned = {
    ...scenario,
    file: scenario.file.toReversed(),
    service: scenario.service.toReversed(),
  };
  expect(linesOf(planOf(turned))).toEqual(scenario.plan);
});
