import { expect, test } from 'vitest';
import { known, linesOf, memoryOf, planOf, type Scenario } from './records.ts';

const scenarios: readonly (Scenario & { readonly inSync?: number })[] = [
  // 1: the same data
  {
    name: 'a priority that the file does not state never differs: no update could clear it',
    file: ['@ MX - mx1.example.net'],
    service: ['#1 @ MX 10 mx1.example.net'],
    inSync: 1,
    plan: [],
  },
  {
    name: 'of copies, the one with the stated TTL is in sync',
    file: ['www 300 A 192.0.2.1'],
    service: ['#1 www 60 A 192.0.2.1', '#2 www 300 A 192.0.2.1'],
    inSync: 1,
    plan: ['surplus #1 duplicate'],
  },
  {
    name: 'of equal copies, the one with the lowest id is in sync',
    file: ['www A 192.0.2.1'],
    service: ['#3 www A 192.0.2.1', '#2 www A 192.0.2.1'],
    inSync: 1,
    plan: ['surplus #3 duplicate'],
  },
  {
    name: 'of equal copies, the known one is in sync',
    file: ['www A 192.0.2.1'],
    service: ['#2 www A 192.0.2.1', '#3 www A 192.0.2.1'],
    memory: memoryOf([known('#3 www A 192.0.2.1')]),
    inSync: 1,
    plan: ['surplus #2 duplicate'],
  },
  {
    name: 'a copy with the data is preferred to the known record that lost it',
    file: ['www A 192.0.2.1'],
    service: ['#2 www A 192.0.2.1', '#3 www A 198.51.100.9'],
    memory: memoryOf([known('#3 www A 192.0.2.1')]),
    inSync: 1,
    plan: ['surplus #3 unlisted'],
  },

  // 1b: the known id
  {
    name: 'a known record is changed, not the one with the lower id',
    file: ['www A 192.0.2.1'],
    service: ['#2 www A 198.51.100.2', '#3 www A 198.51.100.3'],
    memory: memoryOf([known('#3 www A 192.0.2.1')]),
    plan: ['update #3 content: www A 192.0.2.1', 'surplus #2 unlisted'],
  },
  {
    name: 'a known record is preferred to a closer one',
    file: ['www 300 A 192.0.2.1'],
    service: ['#2 www 60 A 192.0.2.1', '#3 www 60 A 198.51.100.3'],
    memory: memoryOf([known('#3 www 300 A 192.0.2.1')]),
    plan: ['update #3 content,ttl: www 300 A 192.0.2.1', 'surplus #2 duplicate'],
  },
  {
    name: 'a known record is found under another name',
    file: ['www A 192.0.2.1'],
    service: ['#5 www.##DOMAIN## A 192.0.2.1'],
    memory: memoryOf([known('#5 www A 192.0.2.1')]),
    plan: ['update #5 name: www A 192.0.2.1'],
  },
  {
    name: 'a known record is found where it was parked',
    file: ['www A 192.0.2.1'],
    service: ['#5 _parked-5 A 0.0.0.0'],
    memory: memoryOf([known('#5 www A 192.0.2.1')]),
    plan: ['update #5 name,content: www A 192.0.2.1'],
  },
  {
    name: 'known records that swapped names are changed back',
    file: ['a A 192.0.2.1', 'b A 192.0.2.2'],
    service: ['#1 b A 192.0.2.1', '#2 a A 192.0.2.2'],
    memory: memoryOf([known('#1 a A 192.0.2.1'), known('#2 b A 192.0.2.2')]),
    plan: ['update #1 name: a A 192.0.2.1', 'update #2 name: b A 192.0.2.2'],
  },
  {
    name: 'a known nameless record that was given a name cannot lose it',
    file: ['@ A 192.0.2.1'],
    service: ['#5 www A 192.0.2.1'],
    memory: memoryOf([known('#5 @ A 192.0.2.1')]),
    plan: ['blocked not-converging #5: @ A 192.0.2.1'],
  },
  {
    name: 'a known nameless record that equals another desired record is left to it',
    file: ['@ A 192.0.2.1', 'www 300 A 192.0.2.1'],
    service: ['#5 www 60 A 192.0.2.1'],
    memory: memoryOf([known('#5 @ A 192.0.2.1')]),
    plan: ['update #5 ttl: www 300 A 192.0.2.1', 'add @ A 192.0.2.1'],
  },
  {
    name: 'a known named record is changed back, though it equals another desired record',
    file: ['mail A 192.0.2.1', 'www 300 A 192.0.2.1'],
    service: ['#5 www 60 A 192.0.2.1'],
    memory: memoryOf([known('#5 mail A 192.0.2.1')]),
    plan: ['update #5 name: mail A 192.0.2.1', 'add www 300 A 192.0.2.1'],
  },
  {
    name: 'a known record that never had its desired data is left to the desired record that it equals',
    file: ['www A 192.0.2.1', 'www 300 A 192.0.2.2'],
    service: ['#5 www 60 A 192.0.2.2'],
    memory: memoryOf([known('#5 www A 192.0.2.1', '#5 www 60 A 192.0.2.2')]),
    plan: ['update #5 ttl: www 300 A 192.0.2.2', 'add www A 192.0.2.1'],
  },
  {
    name: 'a known record of another type is not taken, and no second one is added beside it',
    file: ['www A 192.0.2.1'],
    service: ['#5 www TXT 192.0.2.1'],
    memory: memoryOf([known('#5 www A 192.0.2.1')]),
    plan: ['blocked not-converging #5: www A 192.0.2.1', 'surplus #5 unlisted'],
  },
  {
    name: 'a known record that is missing is added again',
    file: ['www A 192.0.2.1'],
    service: ['#6 mail A 192.0.2.1'],
    memory: memoryOf([known('#5 www A 192.0.2.1')]),
    plan: ['add www A 192.0.2.1', 'surplus #6 unlisted'],
  },
  {
    name: 'a known record that now belongs to another desired record stays with it',
    file: ['www A 192.0.2.1', 'www A 192.0.2.2'],
    service: ['#5 www A 192.0.2.2'],
    memory: memoryOf([known('#5 www A 192.0.2.1')]),
    inSync: 1,
    plan: ['add www A 192.0.2.1'],
  },

  // 2: same content and priority
  {
    name: 'another TTL is preferred to another content, for any ids',
    file: ['www 300 A 192.0.2.2', 'www 300 A 192.0.2.9'],
    service: ['#1 www 300 A 192.0.2.1', '#2 www 60 A 192.0.2.2'],
    plan: ['update #2 ttl: www 300 A 192.0.2.2', 'update #1 content: www 300 A 192.0.2.9'],
  },
  {
    name: 'of copies with another TTL the lowest id',
    file: ['www 300 A 192.0.2.1'],
    service: ['#2 www 30 A 192.0.2.1', '#1 www 60 A 192.0.2.1'],
    plan: ['update #1 ttl: www 300 A 192.0.2.1', 'surplus #2 duplicate'],
  },
  {
    name: 'the same content and priority is preferred to the same content and TTL',
    file: ['@ 300 MX 10 mx1.example.net'],
    service: ['#1 @ 300 MX 20 mx1.example.net', '#2 @ 60 MX 10 mx1.example.net'],
    plan: ['update #2 ttl: @ 300 MX 10 mx1.example.net', 'surplus #1 unlisted'],
  },

  // 3: same content
  {
    name: 'exchanged priorities are two updates of the priority, not of the content',
    file: ['@ MX 10 mx1.example.net', '@ MX 20 mx2.example.net'],
    service: ['#1 @ MX 20 mx1.example.net', '#2 @ MX 10 mx2.example.net'],
    plan: ['update #1 priority: @ MX 10 mx1.example.net', 'update #2 priority: @ MX 20 mx2.example.net'],
  },
  {
    name: 'the same content is preferred to the same priority, for any ids',
    file: ['@ MX 10 mx1.example.net'],
    service: ['#1 @ MX 10 old.example.net', '#2 @ MX 20 mx1.example.net'],
    plan: ['update #2 priority: @ MX 10 mx1.example.net', 'surplus #1 unlisted'],
  },

  // 4: the rest of the set
  {
    name: 'a copy is used first, though more fields change',
    file: ['www 300 A 192.0.2.1', 'www 300 A 192.0.2.2'],
    service: ['#1 www 300 A 192.0.2.1', '#2 www 300 A 198.51.100.2', '#3 www 60 A 192.0.2.1'],
    inSync: 1,
    plan: ['update #3 content,ttl: www 300 A 192.0.2.2', 'surplus #2 unlisted'],
  },
  {
    name: 'a record with another priority is not a copy',
    file: ['@ MX 10 mx1.example.net', '@ MX 10 mx2.example.net'],
    service: ['#1 @ MX 10 mx1.example.net', '#2 @ MX 10 old.example.net', '#3 @ MX 20 mx1.example.net'],
    inSync: 1,
    plan: ['update #2 content: @ MX 10 mx2.example.net', 'surplus #3 unlisted'],
  },
  {
    name: 'two changed fields are preferred to three',
    file: ['@ 300 MX 10 mx1.example.net'],
    service: ['#1 @ 60 MX 20 a.example.net', '#2 @ 300 MX 20 b.example.net'],
    plan: ['update #2 content,priority: @ 300 MX 10 mx1.example.net', 'surplus #1 unlisted'],
  },
  {
    name: 'priority and TTL weigh the same: the lower id, with the priority changed',
    file: ['@ 300 MX 10 mx1.example.net'],
    service: ['#1 @ 300 MX 20 a.example.net', '#2 @ 60 MX 10 b.example.net'],
    plan: ['update #1 content,priority: @ 300 MX 10 mx1.example.net', 'surplus #2 unlisted'],
  },
  {
    name: 'priority and TTL weigh the same: the lower id, with the TTL changed',
    file: ['@ 300 MX 10 mx1.example.net'],
    service: ['#2 @ 300 MX 20 a.example.net', '#1 @ 60 MX 10 b.example.net'],
    plan: ['update #1 content,ttl: @ 300 MX 10 mx1.example.net', 'surplus #2 unlisted'],
  },
  {
    name: 'a set is changed in place, each record once',
    file: ['www A 192.0.2.1', 'www A 192.0.2.2', 'www A 192.0.2.3'],
    service: ['#1 www A 198.51.100.1', '#2 www A 192.0.2.2'],
    inSync: 1,
    plan: ['update #1 content: www A 192.0.2.1', 'add www A 192.0.2.3'],
  },

  // 4: the file's own record first
  {
    name: 'an edit changes the record of the file, though a foreign one needs fewer changes',
    file: ['@ 300 MX 10 new.example.net'],
    service: ['#1 @ 300 MX 10 theirs.example.net', '#2 @ 60 MX 20 old.example.net'],
    memory: memoryOf([known('#2 @ 60 MX 20 old.example.net')]),
    plan: ['update #2 content,priority,ttl: @ 300 MX 10 new.example.net', 'surplus #1 unlisted'],
  },
  {
    name: 'a copy of a paired record is preferred to a record of the file',
    file: ['www A 192.0.2.1', 'www A 192.0.2.9'],
    service: ['#1 www A 192.0.2.1', '#2 www A 192.0.2.2', '#3 www A 192.0.2.1'],
    memory: memoryOf([known('#1 www A 192.0.2.1'), known('#2 www A 192.0.2.2')]),
    inSync: 1,
    plan: ['update #3 content: www A 192.0.2.9', 'surplus #2 unlisted'],
  },
  {
    name: 'an edited CNAME gets no second one, though the service spells its name differently',
    file: ['www CNAME new.example.net'],
    service: ['#5 www.example.com CNAME old.example.net'],
    memory: memoryOf([known('#5 www CNAME old.example.net', '#5 www.example.com CNAME old.example.net')]),
    plan: ['update #5 name,content: www CNAME new.example.net'],
  },
  {
    name: 'a record is found by its name after the file took over the service’s spelling',
    file: ['www.example.com A 192.0.2.1', 'www TXT hello'],
    service: ['#5 www.example.com A 192.0.2.1', '#6 www.example.com TXT hello'],
    memory: memoryOf([
      known('#5 www A 192.0.2.1', '#5 www.example.com A 192.0.2.1'),
      known('#6 www TXT hello', '#6 www.example.com TXT hello'),
    ]),
    inSync: 1,
    plan: ['update #6 name: www TXT hello'],
  },
  {
    name: 'an edited nameless record that the service named is changed, and keeps that name',
    file: ['@ A 192.0.2.9'],
    service: ['#5 ##DOMAIN## A 192.0.2.1'],
    memory: memoryOf([known('#5 @ A 192.0.2.1', '#5 ##DOMAIN## A 192.0.2.1')]),
    plan: ['update #5 name,content: @ A 192.0.2.9'],
  },
  {
    name: 'an edited nameless record that a person gave a name is added anew',
    file: ['@ A 192.0.2.9'],
    service: ['#5 web A 192.0.2.1'],
    memory: memoryOf([known('#5 @ A 192.0.2.1')]),
    plan: ['add @ A 192.0.2.9', 'surplus #5 unlisted'],
  },

  // 5: unmatched records
  {
    name: 'a copy of a record that an update makes is a duplicate',
    file: ['www 300 A 192.0.2.1'],
    service: ['#1 www 60 A 192.0.2.1', '#2 www 60 A 192.0.2.1'],
    plan: ['update #1 ttl: www 300 A 192.0.2.1', 'surplus #2 duplicate'],
  },
  {
    name: 'the same content with another priority is no duplicate',
    file: ['@ MX 10 mx1.example.net'],
    service: ['#1 @ MX 10 mx1.example.net', '#2 @ MX 20 mx1.example.net'],
    inSync: 1,
    plan: ['surplus #2 unlisted'],
  },
];

test.for(scenarios)('$name', (scenario) => {
  const plan = planOf(scenario);
  expect(linesOf(plan)).toEqual(scenario.plan);
  expect(plan.inSync).toBe(scenario.inSync ?? 0);
});
