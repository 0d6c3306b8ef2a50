import { expect, test } from 'vitest';
import { resultOf, type Step } from '../../src/plan/step.ts';
import { withDependentWaits } from '../../src/plan/place.ts';
import { known, memoryOf, planOf, recordLine, type Situation } from '../plan/records.ts';

interface Case extends Situation {
  readonly name: string;
  /** The steps that may not be written by themselves. */
  readonly held: string;
  /** The steps that may be written, in order. */
  readonly written: readonly string[];
}

const parking = { surplus: 'park' } as const;
const lineOf = (step: Step): string => `${step.difference.action} ${recordLine(resultOf(step))}`;

const cases: readonly Case[] = [
  {
    name: 'the step that would clear the way for a held change',
    file: ['mail MX 0 .'],
    service: ['#1 mail MX 10 mx1.example.net', '#2 mail MX 20 mx2.example.net'],
    memory: memoryOf([known('#1 mail MX 10 mx1.example.net'), known('#2 mail MX 20 mx2.example.net')]),
    template: parking,
    held: 'update mail MX 0 .',
    written: [],
  },
  {
    name: 'a step that would clear the way and leaves no name',
    file: ['mail MX 10 mx1.example.net', 'mail MX 20 mx2.example.net'],
    service: ['#1 mail MX 0 .'],
    held: 'add mail MX 20 mx2.example.net',
    written: [],
  },
  {
    name: 'an add for which a change must clear the way',
    file: ['mail MX 10 mx1.example.net', 'mail MX 20 mx2.example.net'],
    service: ['#1 mail MX 0 .'],
    held: 'update mail MX 10 mx1.example.net',
    written: [],
  },
  {
    name: 'a reuse elsewhere, and the step that clears its way',
    file: ['www AAAA 2001:db8::1', 'api A 192.0.2.3', 'other TXT hello'],
    service: ['#2 www A 192.0.2.2', '#3 api CNAME web.example.net'],
    memory: memoryOf([known('#2 www A 192.0.2.2'), known('#3 api CNAME web.example.net')]),
    template: parking,
    held: 'add www AAAA 2001:db8::1',
    written: ['add other TXT hello'],
  },
  {
    name: 'nothing, if a change in place is held',
    file: ['www A 192.0.2.9', 'other TXT hello'],
    service: ['#2 www A 192.0.2.2'],
    held: 'update www A 192.0.2.9',
    written: ['add other TXT hello'],
  },
];

test.each(cases)('waits with the held step: $name', ({ held, written, ...situation }) => {
  const plan = planOf(situation);
  expect(plan.steps.map(lineOf)).toContain(held);
  const whyNot = withDependentWaits(plan, (step) =>
    lineOf(step) === held ? { cause: 'held', text: 'it is held' } : null,
  );
  expect(plan.steps.filter((step) => whyNot(step) === null).map(lineOf)).toEqual(written);
});
