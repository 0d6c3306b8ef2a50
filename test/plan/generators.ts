import * as fc from 'fast-check';
import { canonicalName, canonicalRecord } from '../../src/model/canonical.ts';
import {
  hasPriority,
  recordTypes,
  type ActualRecord,
  type RecordData,
  type RecordType,
  type DesiredRecord,
} from '../../src/model/record.ts';
import type { DesiredTemplate, IgnoreRule, ActualTemplate } from '../../src/model/template.ts';
import { entryOf, recordKey } from '../../src/plan/entry.ts';
import { bareName } from '../../src/plan/spelling.ts';
import { matchesIgnore } from '../../src/plan/ignore.ts';
import type { KnownRecord, PlanMemory } from '../../src/plan/memory.ts';
import { desiredTemplate, ignoring, memoryOf } from './records.ts';

/*
 * Templates out of a handful of names and contents, in several spellings, so that records meet: in one set, as
 * copies, as texts of one kind, beside a CNAME, parked, at the subdomain itself.
 */

/** The records that may meet: some of every type, or the crowd of a few record sets. */
interface World {
  readonly types: readonly string[];
  readonly names: readonly (string | null)[];
  /** Names as the service may spell them. */
  readonly spellings: readonly (string | null)[];
}

const names = [null, null, 'www', 'WWW', 'mail', '##DOMAIN##', '*', 'bücher'];
const spelledByTheService = [...names, '', '@', 'xn--bcher-kva', '_parked-1', '_parked-3', '_parked-7'];

const contents: Readonly<Record<RecordType | 'NS', readonly string[]>> = {
  A: ['192.0.2.1', '192.0.2.2', '192.0.2.3', '0.0.0.0', '##IP##'],
  AAAA: ['2001:db8::1', '2001:DB8:0::1', '2001:db8::2', '::'],
  CNAME: ['web.example.net', 'Web.example.net.', 'old.example.net', 'parked.invalid'],
  MX: ['mx1.example.net', 'MX1.example.net.', 'mx2.example.net', '.', 'parked.invalid'],
  PTR: ['host.example.net', 'host.example.net.', 'old.example.net'],
  SRV: ['5 5060 sip.example.net', '5  5060 SIP.example.net.', '0 0 .', '0 0 parked.invalid'],
  TXT: [
    'v=spf1 -all',
    'v=spf1 mx -all',
    '"v=spf1 " "mx -all"',
    'v=DMARC1; p=none',
    'token=a',
    '"token=a"',
    'token=b',
    'parked',
  ],
  NS: ['ns1.example.net'],
};

const worlds = fc.constantFrom<World>(
  { types: [...recordTypes, 'A', 'A', 'TXT', 'CNAME', 'MX'], names, spellings: spelledByTheService },
  { types: ['A', 'MX', 'TXT'], names: [null, 'www'], spellings: ['', 'WWW', 'www', '_parked-1'] },
  { types: ['A', 'TXT', 'CNAME'], names: ['www', 'mail'], spellings: ['www', 'mail', '_parked-1', '@'] },
);

const contentsOf: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(contents));

const recordOf = (types: readonly string[], from: readonly (string | null)[]): fc.Arbitrary<RecordData> =>
  fc.constantFrom(...types).chain((type) =>
    fc.record({
      type: fc.constant(type),
      name: fc.constantFrom(...from),
      content: fc.constantFrom(...contentsOf.get(type.toUpperCase())!),
      priority: hasPriority(type) ? fc.constantFrom(0, 10, 20) : fc.constant(null),
      ttl: fc.constantFrom(null, 60, 300),
    }),
  );

/** As in a file: no record twice, apart from the TTL. */
const desiredRecords = ({ types, names: from }: World): fc.Arbitrary<DesiredRecord[]> =>
  fc
    .uniqueArray(recordOf(types, from), {
      maxLength: 8,
      selector: (record) => recordKey(entryOf(record)),
    })
    .map((records) =>
      records.map((record, at) => ({
        ...record,
        type: recordTypes.find((type) => type === record.type)!,
        source: { file: 'web.yaml', line: at + 1, column: 1 },
      })),
    );

/** As at the service: copies, other spellings, unknown types, a priority on any type. */
const actualRecords = (
  { types, spellings }: World,
  others: readonly string[] = [],
): fc.Arbitrary<ActualRecord[]> =>
  fc
    .array(fc.tuple(recordOf([...types, ...others], spellings), fc.constantFrom(60, 300, 3600)), {
      maxLength: 10,
    })
    .chain((records) =>
      fc
        .shuffledSubarray(
          records.map((_, at) => at + 1),
          { minLength: records.length },
        )
        .map((ids) => records.map(([record, ttl], at) => ({ ...record, ttl, id: ids[at]! }))),
    );

/**
 * Any ids, bound to any desired records, current or old, agreed or not. No service stores a record that was sent without
 * a name under a name that the file has for others.
 */
const memories = (world: World, desired: readonly DesiredRecord[]): fc.Arbitrary<PlanMemory> => {
  const before = fc.oneof(
    recordOf(world.types, world.names),
    ...(desired.length > 0 ? [fc.constantFrom<RecordData>(...desired)] : []),
  );
  const known = fc
    .record({
      recordId: fc.integer({ min: 1, max: 14 }),
      wanted: before,
      seen: before,
      keptName: before.map(({ name }) => canonicalName(name)),
    })
    .map((record): KnownRecord => {
      const isNameless = canonicalName(record.wanted.name) === '';
      const isListed = desired.some(({ name }) => canonicalName(name) === record.keptName);
      return {
        ...record,
        key: recordKey(entryOf(record.wanted)),
        keptName: isNameless && isListed ? '' : record.keptName,
        isOnlyCounted: false,
        lostAdds: 0,
        displaced: null,
        cause: null,
      };
    });
  return fc
    .uniqueArray(known, {
      maxLength: 8,
      comparator: (one, other) => one.recordId === other.recordId || one.key === other.key,
    })
    .map((agreed) => memoryOf(agreed, { hasBeenRead: agreed.length > 0 }));
};

const ignoreRules: fc.Arbitrary<IgnoreRule[]> = fc.array(
  fc.constantFrom(
    ignoring({ type: 'MX' }),
    ignoring({ name: 'mail' }),
    ignoring({ name: '*', type: 'TXT' }),
    ignoring({ content: 'token=*' }),
    ignoring({ type: 'CNAME', name: '@' }),
  ),
  { maxLength: 1 },
);

/** Of records that exclude each other the first stays: no checked file has both. */
const withoutConflicts = (records: readonly DesiredRecord[]): DesiredRecord[] => {
  const kept: DesiredRecord[] = [];
  for (const record of records) if (!kept.some((other) => excludeEachOther(record, other))) kept.push(record);
  return kept;
};

const excludeEachOther = (a: RecordData, b: RecordData): boolean => {
  const [left, right] = [canonicalRecord(a), canonicalRecord(b)];
  if (bareName(left.name) !== bareName(right.name)) return false;
  if (left.type === 'CNAME' || right.type === 'CNAME') return true;
  return left.type === 'MX' && right.type === 'MX' && (left.content === '.') !== (right.content === '.');
};

/** A record that is both listed and ignored is an error of the file. */
const notIgnored = (records: readonly DesiredRecord[], rules: readonly IgnoreRule[]): DesiredRecord[] =>
  records.filter((record) => !matchesIgnore(rules, record));

export interface Situation {
  readonly desired: DesiredTemplate;
  readonly actual: ActualTemplate;
  readonly memory: PlanMemory;
}

const actualTemplate = (records: readonly ActualRecord[]): ActualTemplate => ({
  id: 17,
  name: 'web',
  publiclyAvailable: false,
  subdomains: null,
  records,
});

/** Any combination: policies, ignored and unknown records, a state that may be wrong. */
export const situations: fc.Arbitrary<Situation> = worlds.chain((world) =>
  fc
    .record({
      desired: desiredRecords(world),
      actual: actualRecords(world, ['NS', 'cname', 'mx']),
      ignore: ignoreRules,
      policy: fc.constantFrom(
        { surplus: 'report', adopt: false } as const,
        { surplus: 'park', adopt: false } as const,
        { surplus: 'park', adopt: true } as const,
      ),
    })
    .chain(({ desired, actual, ignore, policy }) =>
      memories(world, desired).map((memory) => ({
        desired: { ...desiredTemplate([]), ...policy, ignore, records: notIgnored(desired, ignore) },
        actual: actualTemplate(actual),
        memory,
      })),
    ),
);

/** A record without a name stays: records that it excludes cannot be added. */
const besideNameless = (
  desired: readonly DesiredRecord[],
  actual: readonly ActualRecord[],
): DesiredRecord[] => {
  const nameless = actual.filter((record) => canonicalRecord(record).name === '');
  return desired.filter((record) => !nameless.some((other) => excludeEachOther(record, other)));
};

/** What `park` with `adopt` must make equal to the file: nothing ignored, unknown or excluded. */
export const tidySituations: fc.Arbitrary<Situation> = worlds.chain((world) =>
  fc
    .record({ desired: desiredRecords(world).map(withoutConflicts), actual: actualRecords(world) })
    .map(({ desired, actual }) => ({ desired: besideNameless(desired, actual), actual }))
    .chain(({ desired, actual }) =>
      memories(world, desired).map((memory) => ({
        desired: { ...desiredTemplate([]), surplus: 'park' as const, adopt: true, records: desired },
        actual: actualTemplate(actual),
        memory,
      })),
    ),
);
