import { expect, test } from 'vitest';
import {
  additionOf,
  changeOf,
  isPark,
  isUpdate,
  type RecordAddition,
  type RecordChange,
} from '../../src/plan/step.ts';
import { parkedForm } from '../../src/plan/parked.ts';
import { entryOf } from '../../src/plan/entry.ts';
import { desiredTemplate, planOf, type Situation } from './records.ts';

type Sent = Partial<RecordAddition & RecordChange>;

/** What the one step of a plan sends; what is null is not sent. */
const sentBy = (situation: Situation): Sent => {
  const [step, ...others] = planOf(situation).steps;
  expect(others).toEqual([]);
  const sent = isUpdate(step!) || isPark(step!) ? changeOf(step) : additionOf(step!);
  return Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null));
};

interface Case extends Situation {
  readonly name: string;
  readonly sent: Sent;
}

const adds: readonly Case[] = [
  {
    name: 'the text of the file, not its canonical form',
    file: ['@ TXT "v=spf1 " "-all"'],
    service: [],
    sent: { type: 'TXT', content: '"v=spf1 " "-all"' },
  },
  {
    name: 'a TTL and a priority of zero',
    file: ['@ 0 MX 0 .'],
    service: [],
    sent: { type: 'MX', content: '.', ttl: 0, priority: 0 },
  },
  {
    name: 'name and priority of an SRV',
    file: ['_sip._tcp SRV 10 5 5060 sip.example.net'],
    service: [],
    sent: { type: 'SRV', content: '5 5060 sip.example.net', name: '_sip._tcp', priority: 10 },
  },
  {
    name: 'the name of a PTR',
    file: ['10 PTR host.example.net'],
    service: [],
    sent: { type: 'PTR', content: 'host.example.net', name: '10' },
  },
];

const updates: readonly Case[] = [
  {
    name: 'of an MX its priority too',
    file: ['@ MX 10 new.example.net'],
    service: ['#5 @ MX 10 old.example.net'],
    sent: { recordId: 5, content: 'new.example.net', priority: 10 },
  },
  {
    name: 'of an MX the priority alone',
    file: ['@ MX 0 mx1.example.net'],
    service: ['#5 @ MX 10 mx1.example.net'],
    sent: { recordId: 5, priority: 0 },
  },
  {
    name: 'of an MX its current priority if the file states none',
    file: ['@ 300 MX - mx1.example.net'],
    service: ['#5 @ 60 MX 10 mx1.example.net'],
    sent: { recordId: 5, ttl: 300, priority: 10 },
  },
  {
    name: 'of an SRV its name and priority too',
    file: ['_sip._tcp 300 SRV 10 5 5060 sip.example.net'],
    service: ['#5 _sip._tcp 60 srv 10 5 5060 sip.example.net'],
    sent: { recordId: 5, ttl: 300, name: '_sip._tcp', priority: 10 },
  },
  {
    name: 'of a reused record its name and content; a TTL that the file does not state stays',
    file: ['www A 192.0.2.1'],
    service: ['#5 old 60 A 192.0.2.2'],
    template: { surplus: 'park', adopt: true },
    sent: { recordId: 5, name: 'www', content: '192.0.2.1' },
  },
  {
    name: 'of a reused record every field that differs',
    file: ['www 300 MX 10 mx1.example.net'],
    service: ['#5 _parked-5 60 MX 20 parked.invalid'],
    template: { surplus: 'park' },
    sent: { recordId: 5, name: 'www', content: 'mx1.example.net', ttl: 300, priority: 10 },
  },
];

const parks: readonly Case[] = (
  [
    ['#5 www 60 A 192.0.2.1', { content: '0.0.0.0' }],
    ['#5 www 60 AAAA 2001:db8::1', { content: '::' }],
    ['#5 www 60 CNAME web.example.net', { content: 'parked.invalid' }],
    ['#5 10 60 PTR host.example.net', { content: 'parked.invalid' }],
    ['#5 @ 60 MX 10 mx1.example.net', { content: 'parked.invalid', priority: 10 }],
    ['#5 _sip._tcp 60 SRV 10 5 5060 sip.example.net', { content: '0 0 parked.invalid', priority: 10 }],
    ['#5 @ 60 TXT v=spf1 mx -all', { content: 'parked' }],
    ['#5 www 60 a 192.0.2.1', { content: '0.0.0.0' }],
  ] as const
).map(([line, sent]) => ({
  name: line,
  file: [],
  service: [line],
  template: { surplus: 'park', adopt: true },
  sent: { recordId: 5, name: '_parked-5', ...sent },
}));

test('parking an MX that the service shows without a priority sends one, which updates need', () => {
  const shown = { id: 5, type: 'MX', name: null, content: 'mx1.example.net', priority: null, ttl: 60 };
  expect(parkedForm(shown, 'MX').priority).toBe(0);
});

test('an add sends no priority if the type has none', () => {
  const [record] = desiredTemplate(['www A 192.0.2.1']).records;
  const desired = { ...record!, priority: 10 };
  const difference = { action: 'add', desired, cause: 'edited', source: desired.source } as const;
  expect(additionOf({ difference, desired: entryOf(desired) }).priority).toBeNull();
});

test.for(adds)('an add sends $name', (scenario) => {
  expect(sentBy(scenario)).toEqual(scenario.sent);
});

test.for(updates)('an update sends $name', (scenario) => {
  expect(sentBy(scenario)).toEqual(scenario.sent);
});

test.for(parks)('parking $name sends an unused name and inert content', (scenario) => {
  expect(sentBy(scenario)).toEqual(scenario.sent);
});
