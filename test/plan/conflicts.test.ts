import { expect, test } from 'vitest';
import { ignoring, known, linesOf, memoryOf, planOf, type Scenario } from './records.ts';

const park = { surplus: 'park', adopt: true } as const;

/** Conflicts that block a write, with any record, and steps that clear them. */
const scenarios: readonly Scenario[] = [
  // A CNAME must be alone at its name
  {
    name: 'names agree in canonical form',
    file: ['WWW CNAME web.example.net', '@ TXT hello'],
    service: ['#1 www A 192.0.2.1', '#2 @ CNAME web.example.net'],
    plan: [
      'blocked cname-conflict by #2: @ TXT hello',
      'blocked cname-conflict by #1: WWW CNAME web.example.net',
      'surplus #1 unlisted',
      'surplus #2 unlisted',
    ],
  },
  {
    name: 'a record whose name differs by a placeholder or the final dot alone counts',
    file: ['www CNAME web.example.net', '@ CNAME web.example.net', 'ftp CNAME web.example.net'],
    service: ['#1 www.##DOMAIN## A 192.0.2.1', '#2 ##DOMAIN##. A 192.0.2.1', '#3 ftp. A 192.0.2.1'],
    plan: [
      'blocked cname-conflict by #2: @ CNAME web.example.net',
      'blocked cname-conflict by #3: ftp CNAME web.example.net',
      'blocked cname-conflict by #1: www CNAME web.example.net',
      'surplus #1 unlisted',
      'surplus #2 unlisted',
      'surplus #3 unlisted',
    ],
  },
  {
    name: 'the same of a record that the file has dropped',
    file: ['www A 192.0.2.1'],
    service: ['#1 www. CNAME web.example.net'],
    memory: memoryOf([known('#1 www CNAME web.example.net')]),
    plan: ['blocked cname-conflict by #1: www A 192.0.2.1', 'surplus #1 unlisted'],
  },
  {
    name: 'an unreadable record counts',
    file: ['www CNAME web.example.net', 'ftp A 192.0.2.1', '@ MX 0 .'],
    service: ['#1 www A ?', '#2 ftp CNAME ?', '#3 @ MX - ?'],
    plan: [
      'blocked cname-conflict by #2: ftp A 192.0.2.1',
      'blocked cname-conflict by #1: www CNAME web.example.net',
      'blocked not-converging #3: @ MX 0 .',
    ],
  },
  {
    name: 'no record is added beside an unreadable one that may be it, and that one is no surplus',
    file: ['www A 192.0.2.1', 'www TXT hello', 'ftp A 192.0.2.2', 'mail A 192.0.2.1'],
    service: ['#1 www A ?', '#2 ftp.##DOMAIN## A ?', '#3 post A ?'],
    memory: memoryOf([known('#3 mail A 192.0.2.1')]),
    template: park,
    plan: [
      'add www TXT hello',
      'blocked not-converging #2: ftp A 192.0.2.2',
      'blocked not-converging #3: mail A 192.0.2.1',
      'blocked not-converging #1: www A 192.0.2.1',
    ],
  },
  {
    name: 'of desired records that exclude each other, the first in the order of writes is added',
    file: ['www CNAME web.example.net', 'www A 192.0.2.1'],
    service: [],
    plan: ['add www A 192.0.2.1', 'blocked cname-conflict: www CNAME web.example.net'],
  },
  {
    name: 'updates in place stay allowed',
    file: ['www CNAME new.example.net', 'mail 300 A 192.0.2.2'],
    service: [
      '#1 www CNAME old.example.net',
      '#2 www TXT hello',
      '#3 mail 60 A 192.0.2.1',
      '#4 mail CNAME old.example.net',
    ],
    plan: [
      'update #3 content,ttl: mail 300 A 192.0.2.2',
      'update #1 content: www CNAME new.example.net',
      'surplus #2 unlisted',
      'surplus #4 unlisted',
    ],
  },
  {
    name: 'a rename is not an update in place',
    file: ['www A 192.0.2.1'],
    service: ['#1 web A 192.0.2.1', '#2 www CNAME web.example.net'],
    memory: memoryOf([known('#1 www A 192.0.2.1')]),
    plan: ['blocked cname-conflict #1 by #2: www A 192.0.2.1', 'surplus #2 unlisted'],
  },
  {
    name: 'a rename clears the way for another record',
    file: ['web A 192.0.2.1', 'www CNAME web.example.net'],
    service: ['#1 www A 192.0.2.1'],
    memory: memoryOf([known('#1 web A 192.0.2.1')]),
    plan: ['update #1 name: web A 192.0.2.1', 'add www CNAME web.example.net'],
  },
  {
    name: 'a blocked rename blocks the step that needs its name',
    file: ['web A 192.0.2.1', 'www CNAME web.example.net'],
    service: ['#1 www A 192.0.2.1', '#2 web CNAME x.example.net'],
    memory: memoryOf([known('#1 web A 192.0.2.1')]),
    template: { ignore: [ignoring({ name: 'web' })] },
    plan: [
      'blocked cname-conflict #1 by #2: web A 192.0.2.1',
      'blocked cname-conflict by #1: www CNAME web.example.net',
    ],
  },
  {
    name: 'known records of both kinds that swapped names block each other',
    file: ['a A 192.0.2.1', 'b CNAME web.example.net'],
    service: ['#1 b A 192.0.2.1', '#2 a CNAME web.example.net'],
    memory: memoryOf([known('#1 a A 192.0.2.1'), known('#2 b CNAME web.example.net')]),
    plan: [
      'blocked cname-conflict #2 by #1: b CNAME web.example.net',
      'blocked cname-conflict #1 by #2: a A 192.0.2.1',
    ],
  },

  // Parking clears the way
  {
    name: 'a surplus record that makes way is parked, and serves nothing else yet',
    file: ['www CNAME web.example.net', 'zoo A 192.0.2.9'],
    service: ['#1 www A 192.0.2.1'],
    template: park,
    plan: ['add zoo A 192.0.2.9', 'park #1: _parked-1 A 0.0.0.0', 'add www CNAME web.example.net'],
  },
  {
    name: 'a surplus record is reused once its new name is clear',
    file: ['www A 192.0.2.9'],
    service: ['#1 old A 192.0.2.1', '#2 www CNAME web.example.net'],
    template: park,
    plan: ['park #2: _parked-2 CNAME parked.invalid', 'update #1 name,content: www A 192.0.2.9'],
  },
  {
    name: 'surplus records that swap names are parked, so that either can come back',
    file: ['a CNAME web.example.net', 'b A 192.0.2.1'],
    service: ['#1 a A 192.0.2.1', '#2 b CNAME web.example.net'],
    template: park,
    plan: [
      'park #2: _parked-2 CNAME parked.invalid',
      'add b A 192.0.2.1',
      'park #1: _parked-1 A 0.0.0.0',
      'add a CNAME web.example.net',
    ],
  },
  {
    name: 'a record is parked once, though several steps wait for its name',
    file: ['c CNAME web.example.net', 'a A 192.0.2.1', 'a AAAA 2001:db8::1', 'a TXT hello'],
    service: ['#1 a CNAME web.example.net', '#2 c A 192.0.2.1', '#3 c AAAA 2001:db8::1', '#4 c TXT hello'],
    template: park,
    plan: [
      'park #1: _parked-1 CNAME parked.invalid',
      'add a A 192.0.2.1',
      'add a AAAA 2001:db8::1',
      'add a TXT hello',
      'park #2: _parked-2 A 0.0.0.0',
      'park #3: _parked-3 AAAA ::',
      'park #4: _parked-4 TXT parked',
      'add c CNAME web.example.net',
    ],
  },
  {
    name: 'of known records that swapped names one is parked, and comes back once its name is clear',
    file: ['a A 192.0.2.1', 'b CNAME web.example.net'],
    service: ['#1 b A 192.0.2.1', '#2 a CNAME web.example.net'],
    memory: memoryOf([known('#1 a A 192.0.2.1'), known('#2 b CNAME web.example.net')]),
    template: { surplus: 'park' },
    plan: [
      'park #2: _parked-2 CNAME parked.invalid',
      'update #1 name: a A 192.0.2.1',
      'add b CNAME web.example.net',
    ],
  },
  {
    name: 'no record is parked first if the record may not be parked now',
    file: ['a CNAME web.example.net', 'b A 192.0.2.1'],
    service: ['#1 a A 192.0.2.1', '#2 b CNAME web.example.net'],
    template: park,
    parkBlockOf: () => ({ error: 'refused' }),
    plan: [
      'blocked cname-conflict by #2: b A 192.0.2.1',
      'blocked cname-conflict by #1: a CNAME web.example.net',
      'surplus #1 unlisted',
      'surplus #2 unlisted',
    ],
  },
  {
    name: 'a record that may not be parked blocks the step, and the other records stay in service',
    file: ['www CNAME web.example.net'],
    service: ['#1 www A 192.0.2.1', '#2 www TXT hello'],
    memory: memoryOf([known('#1 www A 192.0.2.1')]),
    template: { surplus: 'park' },
    plan: [
      'blocked cname-conflict by #2: www CNAME web.example.net',
      'surplus #1 unlisted',
      'surplus #2 unlisted',
    ],
  },
  {
    name: 'a surplus record is not reused elsewhere while its replacement is blocked',
    file: ['www CNAME web.example.net', 'zoo A 192.0.2.9'],
    service: ['#1 www A 192.0.2.1', '#2 www CAA 0 issue "ca.example.net"'],
    template: park,
    plan: [
      'add zoo A 192.0.2.9',
      'blocked cname-conflict by #2: www CNAME web.example.net',
      'surplus #1 unlisted',
    ],
  },
  {
    name: 'a surplus record is not parked while the record that replaces it may not be changed',
    file: ['www CNAME web.example.net'],
    service: ['#1 www A 192.0.2.1', '#3 _parked-3 CNAME parked.invalid'],
    template: park,
    blockOf: (_desired, occupant) => (occupant === null ? null : { reason: 'refused', message: 'no' }),
    plan: ['blocked refused #3: www CNAME web.example.net', 'surplus #1 unlisted'],
  },

  // Names in the service's spelling
  {
    name: 'a CNAME beside a record that the service stores under a longer name',
    file: ['www CNAME web.example.net'],
    service: ['#5 www.example.com A 192.0.2.1'],
    memory: memoryOf([known('#5 www A 192.0.2.1', '#5 www.example.com A 192.0.2.1')]),
    plan: ['blocked cname-conflict by #5: www CNAME web.example.net', 'surplus #5 unlisted'],
  },
  {
    name: 'a foreign record at the name under which the service stores ours',
    file: ['www A 192.0.2.1', 'www AAAA 2001:db8::1'],
    service: ['#5 www.example.com A 192.0.2.1', '#6 www.example.com CNAME theirs.example.net'],
    memory: memoryOf([known('#5 www A 192.0.2.1', '#5 www.example.com A 192.0.2.1')]),
    plan: [
      'update #5 name: www A 192.0.2.1',
      'blocked cname-conflict by #6: www AAAA 2001:db8::1',
      'surplus #6 unlisted',
    ],
  },
  {
    name: 'a new name, with the ending that the service appends to others',
    file: ['www A 192.0.2.1', 'ftp CNAME web.example.net', '@ TXT hello'],
    service: [
      '#5 www.example.com A 192.0.2.1',
      '#6 ftp.example.com A 192.0.2.1',
      '#7 example.com CNAME theirs.example.net',
    ],
    memory: memoryOf([known('#5 www A 192.0.2.1', '#5 www.example.com A 192.0.2.1')]),
    plan: [
      'update #5 name: www A 192.0.2.1',
      'blocked cname-conflict by #7: @ TXT hello',
      'blocked cname-conflict by #6: ftp CNAME web.example.net',
      'surplus #6 unlisted',
      'surplus #7 unlisted',
    ],
  },
  {
    name: 'the subdomain itself, if the service gives it a name',
    file: ['@ CNAME web.example.net'],
    service: ['#5 ##DOMAIN## A 192.0.2.1', '#6 www.##DOMAIN## A 192.0.2.1'],
    memory: memoryOf([known('#5 @ A 192.0.2.1', '#5 ##DOMAIN## A 192.0.2.1')]),
    plan: [
      'blocked cname-conflict by #5: @ CNAME web.example.net',
      'surplus #5 unlisted',
      'surplus #6 unlisted',
    ],
  },
  {
    name: 'an update in place stays allowed under the service’s spelling of the name',
    file: ['www CNAME new.example.net'],
    service: ['#5 www.example.com CNAME old.example.net', '#6 www.example.com TXT hello'],
    memory: memoryOf([known('#5 www CNAME old.example.net', '#5 www.example.com CNAME old.example.net')]),
    plan: ['update #5 name,content: www CNAME new.example.net', 'surplus #6 unlisted'],
  },
  {
    name: 'parking clears the way under the service’s spelling of the name',
    file: ['www CNAME web.example.net'],
    service: ['#5 www.example.com A 192.0.2.1'],
    memory: memoryOf([known('#5 www A 192.0.2.1', '#5 www.example.com A 192.0.2.1')]),
    template: { surplus: 'park' },
    plan: ['park #5: _parked-5 A 0.0.0.0', 'add www CNAME web.example.net'],
  },
  {
    name: 'a record at the service’s spelling of a name stays while its replacement is blocked',
    file: ['www CNAME web.example.net', 'web A 192.0.2.7'],
    service: ['#5 www.example.com A 192.0.2.1', '#6 www.example.com TXT theirs'],
    memory: memoryOf([known('#5 www A 192.0.2.1', '#5 www.example.com A 192.0.2.1')]),
    template: { surplus: 'park' },
    plan: [
      'add web A 192.0.2.7',
      'blocked cname-conflict by #6: www CNAME web.example.net',
      'surplus #5 unlisted',
      'surplus #6 unlisted',
    ],
  },
  {
    name: 'a name that a person gave to our record is not the service’s spelling',
    file: ['www CNAME web.example.net'],
    service: ['#5 web A 192.0.2.1', '#6 web TXT theirs'],
    memory: memoryOf([known('#5 www A 192.0.2.1')]),
    plan: ['add www CNAME web.example.net', 'surplus #5 unlisted', 'surplus #6 unlisted'],
  },

  // A null MX must be the only MX
  {
    name: 'a TTL may change beside a null MX that is there already',
    file: ['@ 300 MX 0 .'],
    service: ['#1 @ 60 MX 0 .', '#2 @ MX 20 mx2.example.net'],
    plan: ['update #1 ttl: @ 300 MX 0 .', 'surplus #2 unlisted'],
  },
  {
    name: 'an update to another MX beside a null MX that stays',
    file: ['@ MX 10 mx1.example.net'],
    service: ['#1 @ MX 10 old.example.net', '#2 @ MX 0 .'],
    plan: ['blocked null-mx-conflict #1 by #2: @ MX 10 mx1.example.net', 'surplus #2 unlisted'],
  },
  {
    name: 'a lone null MX becomes another MX, and then others may be added',
    file: ['@ MX 10 mx1.example.net', '@ MX 20 mx2.example.net'],
    service: ['#1 @ MX 0 .'],
    plan: ['update #1 content,priority: @ MX 10 mx1.example.net', 'add @ MX 20 mx2.example.net'],
  },
  {
    name: 'the only MX becomes a null MX',
    file: ['@ MX 0 .'],
    service: ['#1 @ MX 10 mx1.example.net'],
    plan: ['update #1 content,priority: @ MX 0 .'],
  },
  {
    name: 'a record without a name that the file adopts is parked for a null MX once that is there',
    file: ['@ MX 0 .'],
    service: ['#1 @ MX 10 mx1.example.net', '#2 @ MX 20 mx2.example.net'],
    template: park,
    plan: ['update #1 content,priority: @ MX 0 .', 'park #2: _parked-2 MX 20 parked.invalid'],
  },
  {
    name: 'a record without a name is parked once the CNAME in its place is there, and not reused elsewhere',
    file: ['@ CNAME web.example.net', 'www A 192.0.2.1'],
    service: ['#1 @ A 192.0.2.1'],
    template: park,
    plan: ['add www A 192.0.2.1', 'add @ CNAME web.example.net', 'park #1: _parked-1 A 0.0.0.0'],
  },
  {
    name: 'a record without a name that would go later is no conflict',
    file: ['@ CNAME web.example.net'],
    service: ['#1 @ A 192.0.2.1', '#2 @ CAA 0 issue "ca.example.net"'],
    template: park,
    plan: ['blocked cname-conflict by #2: @ CNAME web.example.net', 'surplus #1 unlisted'],
  },
  {
    name: 'a record without a name may be reused if nothing replaces it',
    file: ['www A 192.0.2.1'],
    service: ['#1 @ A 192.0.2.1'],
    template: park,
    plan: ['update #1 name: www A 192.0.2.1'],
  },
  {
    name: 'an MX in an unknown spelling is still an MX',
    file: ['@ MX 0 .'],
    service: ['#1 @ mx 10 mx1.example.net', '#2 @ Mx 20 mx2.example.net'],
    template: { ignore: [ignoring({ content: 'mx2.example.net' })] },
    plan: ['blocked null-mx-conflict #1 by #2: @ MX 0 .'],
  },
];

test.for(scenarios)('$name', (scenario) => {
  expect(linesOf(planOf(scenario))).toEqual(scenario.plan);
});

test('a blocked step names the DNS rule that it would break', () => {
  const plan = planOf({
    file: ['www CNAME web.example.net', '@ MX 0 .'],
    service: ['#1 www A 192.0.2.1', '#2 @ MX 10 mx1.example.net', '#3 @ MX 20 mx2.example.net'],
  });
  expect(plan.blocked.map(({ reason, message }) => [reason, /CNAME|null MX/.exec(message)?.[0]])).toEqual([
    ['null-mx-conflict', 'null MX'],
    ['cname-conflict', 'CNAME'],
  ]);
});
