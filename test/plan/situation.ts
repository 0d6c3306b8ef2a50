import { compareSubdomain } from '../../src/plan/subdomains.ts';
import type { SubdomainRecord } from '../../src/model/template.ts';
import type { Difference } from '../../src/plan/difference.ts';
import type { ActualEntry } from '../../src/plan/entry.ts';
import { guardTemplate, lossIn } from '../../src/plan/guard.ts';
import { noMemory, parkedKey, type KnownRecord, type PlanMemory } from '../../src/plan/memory.ts';
import { planTemplate, type TemplatePlan } from '../../src/plan/plan.ts';
import type { Block, PlanInput } from '../../src/plan/plan-input.ts';
import { additionOf, changeOf, isPark, isUpdate } from '../../src/plan/step.ts';
import { expanded, type Scenario } from '../scenarios/notation.ts';
import type { PlayedStep } from '../scenarios/play.ts';
import {
  actual,
  actualTemplate,
  data,
  desiredTemplate,
  differencesOf,
  keyOf,
  known,
  memoryOf,
  missing,
  recordLine,
  saying,
} from './records.ts';

/*
 * A situation is what a plan is made of, in the notation of scenarios:
 *
 *   file: surplus: park | www A 192.0.2.1                records, and keys of a template file
 *   service: #1 www A 192.0.2.9                          records
 *   known: #1 www A 192.0.2.1                            what is remembered: a record on which both sides agreed
 *     #1 www A 192.0.2.1 -> www.example.net A 192.0.2.1  the same, and what the service made of it
 *     untold #1 www A 192.0.2.1                          no answer has shown its name
 *     www A 192.0.2.1 [unknown]                          it is missing; the cause of that difference
 *     #2 _parked-2 A 0.0.0.0 for NEW was OLD [edited]    it made way
 *     preexisting #1                                     it stood there before
 *   refused: www | vanished: * | refused updates: *      what may not be written now, by its name
 *   unparkable: #1                                       what may not be parked now
 *
 * Each holds until another one of it takes its place. It says its `plan`, what the steps of it `sends`, which `guard`
 * holds it, and how a `subdomain` differs whose records are `derived`.
 */

export const playSituation = ({ steps }: Scenario): PlayedStep[] => {
  const given = new Map<string, readonly string[]>();
  return steps.flatMap((step) => {
    const { text, lines } = step;
    const say = sayings[text];
    if (!say && !inputs.has(text)) throw new Error(`no such step: ${text}`);
    if (say) return [{ ...step, said: say(given) }];
    given.set(text, lines[0] === 'nothing' ? [] : lines.flatMap(expanded));
    return [];
  });
};

type Given = ReadonlyMap<string, readonly string[]>;

const reasons = ['refused', 'vanished', 'not-converging'] as const satisfies readonly Block['reason'][];

const inputs: ReadonlySet<string> = new Set([
  'file',
  'service',
  'known',
  'unparkable',
  'lost before',
  'named',
  'derived',
  ...reasons.flatMap((reason) => [reason, `${reason} updates`]),
]);

const sayings: Readonly<Record<string, (given: Given) => readonly string[]>> = {
  plan: (given) => {
    const said = planLines(planTemplate(inputOf(given)));
    const turned = new Map([...given].map(([text, lines]) => [text, lines.toReversed()]));
    const saidThen = planLines(planTemplate(inputOf(turned)));
    if (said.join() !== saidThen.join()) throw new Error(`in another order it says: ${saidThen.join(' | ')}`);
    return said;
  },
  sends: (given) =>
    planTemplate(inputOf(given)).steps.map((step) => {
      const sent = isUpdate(step) || isPark(step) ? changeOf(step) : additionOf(step);
      return Object.entries(sent)
        .filter(([, value]) => value !== null)
        .map(([key, value]) => `${key}=${value}`)
        .join(' ');
    }),
  guard: (given) => {
    const seen = inputOf(given);
    const before = given.get('lost before')?.map((id) => Number(id.slice(1))) ?? null;
    const { isWhole } = lossIn(seen, before);
    const plan = planTemplate(seen);
    const hold = guardTemplate({
      ...seen,
      plan,
      isWhole,
      unlistedIds: [],
      isSettled: true,
      retry: false,
      force: false,
    });
    return hold === null ? ['none'] : [`${hold.scope === 'template' ? '' : `${hold.scope} `}${hold.cause}`];
  },
  subdomain: (given) => {
    const [name = 'shop.example.net'] = given.get('named') ?? [];
    const template = actualTemplate(given.get('service') ?? []);
    return compareSubdomain(name, template, (given.get('derived') ?? []).map(derived)).map(
      ({ kind, templateRecord, record, fields }) => {
        if (kind === 'missing') return `missing #${templateRecord!.id}`;
        if (kind === 'foreign') return `foreign #${record!.id}`;
        return `stale #${record!.id} of #${templateRecord!.id}: ${fields.join()}`;
      },
    );
  },
};

const inputOf = (given: Given): PlanInput => ({
  desired: saying(desiredTemplate([]), given.get('file') ?? []),
  actual: actualTemplate(given.get('service') ?? []),
  memory: memoryIn(given),
  blockOf: ({ record }, there) => {
    const found = reasons.find(
      (reason) =>
        isAbout(given.get(reason), record.name ?? '@') ||
        (there !== null && isAbout(given.get(`${reason} updates`), record.name ?? '@')),
    );
    return found ? { reason: found, message: 'no' } : null;
  },
  parkBlockOf: ({ record }: ActualEntry) =>
    isAbout(given.get('unparkable'), `#${record.id}`) ? { error: 'refused' } : null,
});

const isAbout = (names: readonly string[] | undefined, name: string): boolean =>
  names?.some((one) => one === '*' || one === name) === true;

/** Nothing is remembered where it says nothing. */
const memoryIn = (given: Given): PlanMemory => {
  const lines = given.get('known');
  if (!lines) return noMemory;
  const preexisting = lines.flatMap((line) => /^preexisting #(\d+)$/.exec(line)?.[1] ?? []);
  const records = lines.filter((line) => !/^(?:preexisting|not read)/.test(line)).map(knownRecord);
  return memoryOf(records, {
    hasBeenRead: !lines.includes('not read'),
    preexistingIds: new Set(preexisting.map(Number)),
  });
};

const knownRecord = (line: string): KnownRecord => {
  const [, untold, text = '', seen, key, was, cause = null] =
    /^(untold )?(.*?)(?: -> (.*?))?(?: for (.*) was (.*?))?(?: \[(\w+)\])?$/.exec(line)!;
  const more = { cause: cause as KnownRecord['cause'] };
  if (!text.startsWith('#')) return missing(text, more);
  const id = actual(text).id;
  if (key !== undefined && was !== undefined) {
    const displaced = { key: keyOf(key), was: data(was), cause: more.cause ?? 'unknown' };
    return known(text, text, { key: parkedKey(id), displaced });
  }
  return known(text, seen, { ...more, ...(untold ? { keptName: null } : {}) });
};

/** Without `from` where it derives from no record of a template. */
const derived = (line: string): SubdomainRecord => {
  const [, id, from, record] = /^(#\d+)(?: from (\d+))?: (.*)$/s.exec(line)!;
  return { ...actual(`${id} ${record}`), templateRecordId: from === undefined ? null : Number(from) };
};

/** Writes in their order, then what is blocked, then surplus; and how many records nothing is said about. */
const planLines = (plan: TemplatePlan): string[] => [
  ...differencesOf(plan).map(differenceLine),
  ...(plan.inSync > 0 ? [`${plan.inSync} in sync`] : []),
  ...(plan.parked > 0 ? [`${plan.parked} parked`] : []),
  ...(plan.ignored > 0 ? [`${plan.ignored} ignored`] : []),
];

/** `update #5 content,ttl: www 300 A 192.0.2.1 [edited]`: a cause that nobody knows is not said. */
const differenceLine = (difference: Difference): string => {
  const id = 'recordId' in difference ? ` #${difference.recordId}` : '';
  if (difference.action === 'blocked') {
    const by = (difference.conflicts ?? []).map((one) => ` #${one}`).join('');
    return `blocked ${difference.reason}${id}${by && ` by${by}`}: ${recordLine(difference.desired)}`;
  }
  const cause = difference.cause === 'unknown' ? '' : ` [${difference.cause}]`;
  if (difference.action === 'surplus') {
    const why = difference.error === undefined ? '' : ` (${difference.error})`;
    return `surplus${id} ${difference.reason}${cause}${why}`;
  }
  const fields = difference.action === 'update' ? ` ${difference.fields.join()}` : '';
  return `${difference.action}${id}${fields}: ${recordLine(difference.desired)}${cause}`;
};
