import { canonicalName } from '../../src/model/canonical.ts';
import {
  hasPriority,
  isRecordType,
  type ActualRecord,
  type RecordData,
  type DesiredRecord,
} from '../../src/model/record.ts';
import type { DesiredTemplate, IgnoreRule, ActualTemplate } from '../../src/model/template.ts';
import type { Difference } from '../../src/plan/difference.ts';
import { entryOf, recordKey } from '../../src/plan/entry.ts';
import { noMemory, type KnownRecord, type PlanMemory } from '../../src/plan/memory.ts';
import type { TemplatePlan } from '../../src/plan/plan.ts';
import { parseRecord } from '../scenarios/records.ts';

/*
 * Records as lines of a zone file, so that scenarios read as tables: `NAME [TTL] TYPE [PRIORITY] CONTENT`.
 * `@` is no name; MX and SRV have a priority, `-` for none; content is the rest of the line. Records of the
 * service begin with `#ID`; the content `?` cannot be understood.
 *
 *     www 300 A 192.0.2.1        @ MX 10 mx1.example.net        #7 @ 3600 TXT v=spf1 mx -all
 */

export const data = (line: string): RecordData => {
  const { type, name, content, priority, ttl } = parseRecord(line.replace(/^#\d+ /, ''));
  return { type, name, content, priority, ttl: ttl === null ? null : Number(ttl) };
};

/** Line 1 is the first record of the file. */
const desired = (line: string, place = 1): DesiredRecord => {
  const record = data(line);
  if (!isRecordType(record.type)) throw new Error(`no file can want this: ${line}`);
  return { ...record, type: record.type, source: { file: 'web.yaml', line: place, column: 1 } };
};

export const actual = (line: string): ActualRecord => ({
  id: Number(/^#(\d+) /.exec(line)![1]),
  ...data(line),
  ...(line.endsWith(' ?') ? { isUnreadable: true } : {}),
});

export const desiredTemplate = (
  records: readonly string[],
  more: Partial<DesiredTemplate> = {},
): DesiredTemplate => ({
  template: 'web',
  id: null,
  source: { file: 'web.yaml', line: 1, column: 1 },
  mode: 'enforce',
  surplus: 'report',
  adopt: false,
  limits: { maxAdds: 100, maxChangePercent: 30, minRecords: 10 },
  subdomains: [],
  ignore: [],
  records: records.map((line, at) => desired(line, at + 1)),
  ...more,
});

/** A file as it says from now on: keys of a template file, and all its records if it says any, or `nothing`. */
export const saying = (before: DesiredTemplate, lines: readonly string[]): DesiredTemplate => {
  const isKey = (line: string): boolean => /^[a-z]\w+: /i.test(line);
  const keys = new Map(lines.filter(isKey).map((line) => line.split(': ') as [string, string]));
  const stray = [...keys.keys()].find((key) => !fileKeys.has(key));
  if (stray !== undefined) throw new Error(`no such key: ${stray}`);
  const records = lines.filter((line) => !isKey(line) && line !== 'nothing');
  const { surplus, mode, limits } = before;
  const given = <const Word extends string>(key: string, words: readonly Word[]): Word | undefined =>
    words.find((word) => word === keys.get(key));
  const number = (key: keyof typeof limits): number => Number(keys.get(key) ?? limits[key]);
  const ignored = ['Type', 'Name', 'Content'].flatMap((part) => {
    const value = keys.get(`ignore${part}`);
    return value === undefined ? [] : [ignoring({ [part.toLowerCase()]: value })];
  });
  return {
    ...before,
    template: keys.get('template') ?? before.template,
    id: keys.has('id') ? Number(keys.get('id')) : before.id,
    surplus: given('surplus', ['report', 'park']) ?? surplus,
    mode: given('mode', ['enforce', 'edits', 'report']) ?? mode,
    adopt: keys.has('adopt') ? keys.get('adopt') === 'true' : before.adopt,
    limits: {
      maxAdds: number('maxAdds'),
      maxChangePercent: number('maxChangePercent'),
      minRecords: number('minRecords'),
    },
    subdomains: keys.has('subdomains') ? [keys.get('subdomains')!] : before.subdomains,
    ignore: ignored.length > 0 ? ignored : before.ignore,
    records: lines.every(isKey) ? before.records : records.map((line, at) => desired(line, at + 1)),
  };
};

const fileKeys: ReadonlySet<string> = new Set(
  [
    'template id surplus mode adopt maxAdds maxChangePercent minRecords',
    'subdomains ignore ignoreType ignoreName ignoreContent',
  ].flatMap((words) => words.split(' ')),
);

export const actualTemplate = (records: readonly string[]): ActualTemplate => ({
  id: 17,
  name: 'web',
  publiclyAvailable: false,
  subdomains: 0,
  records: records.map(actual),
});

/** `recordKey` of a line. */
export const keyOf = (line: string): string => recordKey(entryOf(data(line)));

export const ignoring = (rule: Partial<IgnoreRule>): IgnoreRule => ({
  type: null,
  name: null,
  content: null,
  ...rule,
});

/** A record that file and service agreed on: `#5 www A 192.0.2.1`, with what the service made of it where that is not the same. */
export const known = (line: string, seen: string = line, more: Partial<KnownRecord> = {}): KnownRecord => ({
  key: recordKey(entryOf(data(line))),
  recordId: actual(line).id,
  wanted: data(line),
  seen: data(seen),
  keptName: canonicalName(data(seen).name),
  isOnlyCounted: false,
  isAdopted: false,
  lostAdds: 0,
  displaced: null,
  cause: null,
  ...more,
});

/** A record that is not there, of which something is remembered. */
export const missing = (line: string, more: Partial<KnownRecord> = {}): KnownRecord =>
  known(`#0 ${line}`, line, { recordId: null, seen: null, keptName: null, ...more });

export const memoryOf = (records: readonly KnownRecord[], more: Partial<PlanMemory> = {}): PlanMemory => ({
  ...noMemory,
  hasBeenRead: true,
  records: new Map(records.map((record) => [record.key, record])),
  byId: new Map(records.flatMap((record) => (record.recordId === null ? [] : [[record.recordId, record]]))),
  ...more,
});

/** All differences of a plan in the order of a report: writes, blocked, surplus. */
export const differencesOf = (plan: TemplatePlan): Difference[] => [
  ...plan.steps.map((step) => step.difference),
  ...plan.blocked,
  ...plan.surplus,
];

export const recordLine = ({ type, name, content, priority, ttl }: RecordData): string =>
  [name ?? '@', ttl, type, hasPriority(type.toUpperCase()) ? (priority ?? '-') : null, content]
    .filter((part) => part !== null)
    .join(' ');
