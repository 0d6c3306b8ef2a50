import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalName } from '../../src/model/canonical.ts';
import { hasPriority, recordTypes } from '../../src/model/record.ts';
import type { DesiredTemplate, IgnoreRule } from '../../src/model/template.ts';
import { matchesIgnore } from '../../src/plan/ignore.ts';
import { planTemplate, type TemplatePlan } from '../../src/plan/plan.ts';
import type { PlanInput } from '../../src/plan/plan-input.ts';
import { actualOf, isPark, isUpdate } from '../../src/plan/step.ts';
import {
  actualTemplate,
  data,
  desiredTemplate,
  differencesOf,
  ignoring,
  keyOf,
  known,
  memoryOf,
} from './records.ts';

/*
 * Templates out of a handful of names and contents, in several spellings, so that records meet: in one set, as
 * copies, as texts of one kind, beside a CNAME, parked, at the subdomain itself. What is remembered may be wrong. That the
 * writes of such plans end, and where, the rounds of the laws show.
 */

/** The records that may meet: some of every type, or the crowd of a few record sets. */
interface World {
  readonly types: readonly string[];
  readonly names: readonly string[];
  /** Names as the service may spell them. */
  readonly spellings: readonly string[];
}

const names = ['@', '@', 'www', 'WWW', 'mail', '##DOMAIN##', '*', 'bücher'];

const worlds = fc.constantFrom<World>(
  {
    types: [...recordTypes, 'A', 'A', 'TXT', 'CNAME', 'MX'],
    names,
    spellings: [...names, 'xn--bcher-kva', '_parked-1', '_parked-3', '_parked-7'],
  },
  { types: ['A', 'MX', 'TXT'], names: ['@', 'www'], spellings: ['@', 'WWW', 'www', '_parked-1'] },
  { types: ['A', 'TXT', 'CNAME'], names: ['www', 'mail'], spellings: ['www', 'mail', '_parked-1', '@'] },
);

const contents: Readonly<Record<string, readonly string[]>> = {
  A: ['192.0.2.1', '192.0.2.2', '192.0.2.3', '0.0.0.0', '##IP##'],
  AAAA: ['2001:db8::1', '2001:DB8:0::1', '2001:db8::2', '::'],
  CNAME: ['web.example.net', 'Web.example.net.', 'old.example.net', 'parked.invalid'],
  MX: ['mx1.example.net', 'MX1.example.net.', 'mx2.example.net', '.', 'parked.invalid'],
  PTR: ['host.example.net', 'host.example.net.', 'old.example.net'],
  SRV: ['5 5060 sip.example.net', '5  5060 SIP.example.net.', '0 0 .', '0 0 parked.invalid'],
  TXT: ['v=spf1 -all', 'v=spf1 mx -all', '"v=spf1 " "mx -all"', 'v=DMARC1; p=none', 'token=a', '"token=a"'],
  NS: ['ns1.example.net'],
};

const lineOf = (types: readonly string[], from: readonly string[]): fc.Arbitrary<string> =>
  fc
    .constantFrom(...types)
    .chain((type) =>
      fc
        .tuple(
          fc.constantFrom(...from),
          fc.constantFrom('', '60 ', '300 '),
          hasPriority(type.toUpperCase()) ? fc.constantFrom('0 ', '10 ', '20 ') : fc.constant(''),
          fc.constantFrom(...contents[type.toUpperCase()]!),
        )
        .map(([name, ttl, priority, content]) => `${name} ${ttl}${type} ${priority}${content}`),
    );

const withIds = (lines: readonly string[]): fc.Arbitrary<string[]> =>
  fc
    .shuffledSubarray(
      lines.map((_, at) => at + 1),
      { minLength: lines.length },
    )
    .map((ids) => lines.map((line, at) => `#${ids[at]} ${line}`));

/** No service stores a record that was sent without a name under a name that the file has for others. */
const knownOf = (line: string, seen: string, id: number, file: readonly string[]) => {
  const record = known(`#${id} ${line}`, `#${id} ${seen}`);
  const isListed = file.some((one) => canonicalName(data(one).name) === record.keptName);
  return canonicalName(record.wanted.name) === '' && isListed ? { ...record, keptName: '' } : record;
};

const rules: readonly IgnoreRule[] = [
  ignoring({ type: 'MX' }),
  ignoring({ name: 'mail' }),
  ignoring({ name: '*', type: 'TXT' }),
  ignoring({ content: 'token=*' }),
  ignoring({ type: 'CNAME', name: '@' }),
];

const policies = [
  { surplus: 'report', adopt: false },
  { surplus: 'park', adopt: false },
  { surplus: 'park', adopt: true },
] as const;

const situations: fc.Arbitrary<PlanInput> = worlds
  .chain(({ types, names: from, spellings }) =>
    fc.record({
      from: fc.constant({ types, from }),
      file: fc.uniqueArray(lineOf(types, from), { maxLength: 8, selector: keyOf }),
      service: fc.array(lineOf([...types, 'NS', 'cname', 'mx'], spellings), { maxLength: 10 }).chain(withIds),
      ignore: fc.subarray([...rules], { maxLength: 1 }),
      policy: fc.constantFrom(...policies),
    }),
  )
  .chain(({ from: { types, from }, file, service, ignore, policy }) => {
    const before = fc.oneof(lineOf(types, from), ...(file.length > 0 ? [fc.constantFrom(...file)] : []));
    const agreed = fc.uniqueArray(fc.tuple(before, before, fc.integer({ min: 1, max: 14 })), {
      maxLength: 8,
      comparator: ([one, , id], [other, , otherId]) => id === otherId || keyOf(one) === keyOf(other),
    });
    return agreed.map((records) => ({
      desired: desiredTemplate(
        file.filter((line) => !matchesIgnore(ignore, data(line))),
        { ...policy, ignore },
      ),
      actual: actualTemplate(service),
      memory: memoryOf(
        records.map(([line, seen, id]) => knownOf(line, seen, id, file)),
        { hasBeenRead: records.length > 0 },
      ),
    }));
  });

const runs = { numRuns: process.env['CI'] ? 1_000 : 200 };

test('a plan is the same for any order of the records on either side, and does not change its input', () => {
  const said = (plan: TemplatePlan): unknown => [differencesOf(plan), plan.inSync, plan.parked, plan.ignored];
  fc.assert(
    fc.property(situations, fc.infiniteStream(fc.nat()), (situation, numbers) => {
      const shuffled = <Thing>(things: readonly Thing[]): Thing[] =>
        things
          .map((thing) => ({ thing, number: numbers.next().value }))
          .toSorted((a, b) => a.number - b.number)
          .map(({ thing }) => thing);
      const turned = {
        ...situation,
        desired: { ...situation.desired, records: shuffled(situation.desired.records) },
        actual: { ...situation.actual, records: shuffled(situation.actual.records) },
      };
      expect(said(planTemplate(deepFrozen(turned)))).toEqual(said(planTemplate(situation)));
    }),
    runs,
  );
});

test('a plan contains every record of either side once', () => {
  fc.assert(
    fc.property(situations, (situation) => {
      const plan = planTemplate(situation);
      const ids = plan.steps.flatMap((step) => actualOf(step)?.record.id ?? []);
      const adds = plan.steps.filter((step) => actualOf(step) === null).length;
      const updates = plan.steps.filter(isUpdate).length;
      const used = new Set([...plan.pairs.map((pair) => pair.actual.record.id), ...ids]);
      const surplus = plan.surplus.map(({ recordId }) => recordId);
      for (const { recordId, reason } of plan.blocked)
        if (recordId !== undefined && reason.endsWith('-conflict')) used.add(recordId);
      expect(plan.inSync + adds + updates + plan.blocked.length).toBe(situation.desired.records.length);
      expect(new Set([...used, ...surplus]).size).toBe(used.size + surplus.length);
      expect(used.size + surplus.length + plan.parked + plan.ignored).toBe(situation.actual.records.length);
    }),
    runs,
  );
});

test('park never sends more adds than report needs', () => {
  const addsIn = ({ steps }: TemplatePlan): number =>
    steps.filter(({ difference }) => difference.action === 'add').length;
  const neededBy = (plan: TemplatePlan): number =>
    addsIn(plan) +
    plan.blocked.filter(({ recordId, reason }) => recordId === undefined || reason === 'not-converging')
      .length;
  // What is parked to make way serves a later step.
  const sentBy = (plan: TemplatePlan): number =>
    addsIn(plan) - [...plan.clearsFor.keys()].filter(isPark).length;
  fc.assert(
    fc.property(situations, fc.boolean(), (situation, adopt) => {
      const plannedWith = (policy: Pick<DesiredTemplate, 'surplus' | 'adopt'>) =>
        planTemplate({ ...situation, desired: { ...situation.desired, ...policy } });
      const reporting = plannedWith(policies[0]);
      expect(sentBy(plannedWith({ surplus: 'park', adopt }))).toBeLessThanOrEqual(neededBy(reporting));
    }),
    runs,
  );
});

test('each of thousands of records goes where the next one was, the last one first', () => {
  const file = Array.from({ length: 8_000 }, (_, at) => `host${at} A 10.0.${at >> 8}.${at & 255}`);
  const moved = file.map((line, at) => `#${at} ${line.replace(`host${at}`, `host${at + 1}`)}`);
  const { steps } = planTemplate({
    desired: desiredTemplate(file),
    actual: actualTemplate(moved),
    memory: memoryOf(file.map((line, at) => known(`#${at} ${line}`))),
    blockOf: () => null,
    parkBlockOf: () => null,
  });
  expect(steps.map((step) => actualOf(step)!.record.id)).toEqual(file.map((_, at) => at).toReversed());
});

const deepFrozen = <Thing>(thing: Thing): Thing => {
  if (typeof thing !== 'object' || thing === null || Object.isFrozen(thing)) return thing;
  for (const part of Object.values(thing)) deepFrozen(part);
  return Object.freeze(thing);
};
