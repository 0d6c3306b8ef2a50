import { expect, test } from 'vitest';
import { resultOf, type Step } from '../../src/plan/step.ts';
import { withPlaces } from '../../src/reconcile/core/places.ts';
import { known, memoryOf, planOf, recordLine, type Situation } from '../plan/records.ts';

interface Case extends Situation {
  readonly name: string;
  /** What may not be written for its own sake. */
  readonly held: string;
  /** What may be written, in its order. */
  readonly written: readonly string[];
}

const parking = { surplus: 'park' } as const;
const lineOf = (step: Step): string => `${step.difference.action} ${recordLine(resultOf(step))}`;

const cases: readonly Case[] = [
  {
    name: 'what would clear the way for a change that stays in its place',
    file: ['mail MX 0 .'],
    service: ['#1 mail MX 10 mx1.example.net', '#2 mail MX 20 mx2.example.net'],
    memory: memoryOf([known('#1 mail MX 10 mx1.example.net'), known('#2 mail MX 20 mx2.example.net')]),
    template: parking,
    held: 'update mail MX 0 .',
    written: [],
  },
  {
    name: 'a change that would clear the way and leaves no place',
    file: ['mail MX 10 mx1.example.net', 'mail MX 20 mx2.example.net'],
    service: ['#1 mail MX 0 .'],
    held: 'add mail MX 20 mx2.example.net',
    written: [],
  },
  {
    name: 'an add for which a change has to clear the way',
    file: ['mail MX 10 mx1.example.net', 'mail MX 20 mx2.example.net'],
    service: ['#1 mail MX 0 .'],
    held: 'update mail MX 10 mx1.example.net',
    written: [],
  },
  {
    name: 'what would be put to use elsewhere, and what makes way for it there',
    file: ['www AAAA 2001:db8::1', 'api A 192.0.2.3', 'other TXT hello'],
    service: ['#2 www A 192.0.2.2', '#3 api CNAME web.example.net'],
    memory: memoryOf([known('#2 www A 192.0.2.2'), known('#3 api CNAME web.example.net')]),
    template: parking,
    held: 'add www AAAA 2001:db8::1',
    written: ['add other TXT hello'],
  },
  {
    name: 'nothing, where a change in its place is held',
    file: ['www A 192.0.2.9', 'other TXT hello'],
    service: ['#2 www A 192.0.2.2'],
    held: 'update www A 192.0.2.9',
    written: ['add other TXT hello'],
  },
];

test.each(cases)('with what is held waits: $name', ({ held, written, ...situation }) => {
  const plan = planOf(situation);
  expect(plan.steps.map(lineOf)).toContain(held);
  const whyNot = withPlaces(plan, (step) => (lineOf(step) === held ? 'it is held' : null));
  expect(plan.steps.filter((step) => whyNot(step) === null).map(lineOf)).toEqual(written);
});
