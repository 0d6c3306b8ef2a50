import type { RecordData, RecordType } from '../../src/model/record.ts';
import type { DesiredState, DesiredTemplate, IgnoreRule } from '../../src/model/template.ts';
import { canonicalName, canonicalRecord, textKind, type CanonicalRecord } from './canonical.ts';
import { keyOf, shown } from './records.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

/** A template file, as people write and edit it. */
export interface TemplateFile {
  readonly templateId: number;
  state: 'good' | 'broken' | 'gone';
  desired: DesiredTemplate;
  readonly earlier: DesiredTemplate[];
}

export const fileOf = (templateId: number, desired: DesiredTemplate): TemplateFile => ({
  templateId,
  state: 'good',
  desired,
  earlier: [],
});

export const drawFile = (random: Random, templateId: number, template: string): TemplateFile => {
  const surplus = random.chance(0.4) ? 'park' : 'report';
  const desired: DesiredTemplate = {
    template,
    id: random.chance(0.3) ? templateId : null,
    source: { file: `${template}.yaml`, line: 1, column: 1 },
    mode: random.chance(0.75) ? 'enforce' : random.pick(['edits', 'report'] as const),
    surplus,
    adopt: random.chance(0.3),
    limits: {
      maxAdds: random.chance(0.9) ? 100 : 2,
      maxChangePercent: random.pick([30, 50, 100]),
      minRecords: random.pick([10, 10, 3]),
    },
    subdomains: random.chance(0.15) ? [`${template}.example.net`] : [],
    ignore: random.chance(0.5) ? [...ignoreRules] : [],
    records: [],
  };
  let records: RecordData[] = [];
  for (let count = random.below(8); count > 0; count -= 1) records = withRecord(random, desired, records);
  return fileOf(templateId, withRecords(desired, records));
};

/** One edit by a person. */
export const editFile = (world: World, file: TemplateFile): void => {
  const { random } = world;
  const before = file.desired;
  if (random.chance(0.06)) {
    file.state = random.pick(['broken', 'gone', 'good'] as const);
    world.note(() => `~ ${before.template}.yaml is ${file.state}`);
    return;
  }
  file.state = 'good';
  edited(file, random.chance(0.12) ? withOtherPolicy(random, before) : withOtherRecords(random, file));
  world.note(() => `~ ${describeFile(file)}`);
};

/** An edit of its records alone. */
export const editRecords = (random: Random, file: TemplateFile): void =>
  edited(file, withOtherRecords(random, file));

const edited = (file: TemplateFile, desired: DesiredTemplate): void => {
  file.earlier.push(file.desired);
  file.desired = desired;
};

export const describeFile = ({ state, templateId, desired }: TemplateFile): string => {
  const { template, mode, surplus, adopt, limits, ignore, records } = desired;
  const policy = `${mode}, ${surplus}${adopt ? ', adopt' : ''}, at most ${limits.maxAdds} adds and ${limits.maxChangePercent} % from ${limits.minRecords}${ignore.length > 0 ? ', ignores' : ''}`;
  const listed = records.map((record) => `${record.source.line}: ${shown(record)}`).join(' | ');
  return `${template}.yaml (${templateId}${state === 'good' ? '' : `, ${state}`}; ${policy}): ${listed || 'nothing'}`;
};

/** What the files say, read as one snapshot. */
export const readFiles = (files: readonly TemplateFile[]): DesiredState => {
  const existing = files.filter(({ state }) => state !== 'gone');
  return {
    templates: existing.filter(({ state }) => state === 'good').map(({ desired }) => desired),
    unusable: existing
      .filter(({ state }) => state === 'broken')
      .map(({ desired }) => ({
        file: desired.source.file,
        template: desired.template,
        id: desired.id,
        message: 'has an error',
      })),
    problems: [],
    files: existing.length,
  };
};

const withOtherPolicy = (random: Random, desired: DesiredTemplate): DesiredTemplate => {
  switch (random.below(5)) {
    case 0:
      return { ...desired, surplus: desired.surplus === 'park' ? 'report' : 'park' };
    case 1:
      return { ...desired, adopt: !desired.adopt };
    case 2:
      return { ...desired, mode: random.pick(['enforce', 'enforce', 'edits', 'report'] as const) };
    case 3:
      return { ...desired, limits: { ...desired.limits, maxChangePercent: random.pick([30, 100]) } };
    default: {
      const ignore = desired.ignore.length > 0 ? [] : [...ignoreRules];
      const other = { ...desired, ignore };
      return withRecords(
        other,
        desired.records.filter((record) => !isIgnored(other, record)),
      );
    }
  }
};

const withOtherRecords = (random: Random, { desired, earlier }: TemplateFile): DesiredTemplate => {
  const { records } = desired;
  const kind = random.below(7);
  if (kind === 6) return withRecords(desired, swapped(random, desired));
  if (kind === 0 && earlier.length > 0) {
    const old = random.pick(earlier).records.filter((record) => !isIgnored(desired, record));
    return withRecords(desired, old);
  }
  if (kind <= 2 || records.length === 0) return withRecords(desired, withRecord(random, desired, records));
  const victim = random.pick(records);
  const others = records.filter((record) => record !== victim);
  if (kind === 3) return withRecords(desired, others);
  return withRecords(desired, changed(random, desired, others, victim));
};

const changed = (
  random: Random,
  desired: DesiredTemplate,
  others: readonly RecordData[],
  victim: RecordData,
): readonly RecordData[] => {
  for (let tries = 0; tries < 8; tries += 1) {
    const other = drawRecord(random, victim.type as RecordType);
    const field = random.pick(['content', 'content', 'ttl', 'name', 'priority'] as const);
    const candidate = { ...victim, [field]: other[field] };
    if (isValid(desired, [...others, candidate])) return [...others, candidate];
  }
  return [...others, victim];
};

/** A CNAME in place of other records, or the reverse: the old ones must be parked first. */
const swapped = (random: Random, desired: DesiredTemplate): readonly RecordData[] => {
  const { records } = desired;
  const named = records.filter(({ type, name }) => name !== null && ['A', 'AAAA', 'CNAME'].includes(type));
  if (named.length === 0) return records;
  const victim = random.pick(named);
  const others = records.filter(({ name }) => canonicalName(name) !== canonicalName(victim.name));
  const type = victim.type === 'CNAME' ? random.pick(['A', 'AAAA'] as const) : 'CNAME';
  const candidate = { ...drawRecord(random, type), name: victim.name };
  return isValid(desired, [...others, candidate]) ? [...others, candidate] : records;
};

const withRecord = (
  random: Random,
  desired: DesiredTemplate,
  records: readonly RecordData[],
): RecordData[] => {
  for (let tries = 0; tries < 8; tries += 1) {
    const candidate = drawRecord(random, random.pick(types));
    if (isValid(desired, [...records, candidate])) return [...records, candidate];
  }
  return [...records];
};

const withRecords = (desired: DesiredTemplate, records: readonly RecordData[]): DesiredTemplate => ({
  ...desired,
  records: records.map(({ type, name, content, priority, ttl }, index) => ({
    type: type as RecordType,
    name,
    content,
    priority,
    ttl,
    source: { file: desired.source.file, line: index + 2, column: 3 },
  })),
});

/** What passes the checks of template files. */
const isValid = (desired: DesiredTemplate, records: readonly RecordData[]): boolean => {
  const last = records.at(-1)!;
  if (records.slice(0, -1).some((record) => keyOf(record) === keyOf(last))) return false;
  if (isIgnored(desired, last)) return false;
  const beside = records
    .slice(0, -1)
    .filter((record) => canonicalName(record.name) === canonicalName(last.name));
  if (beside.some(({ type }) => type === 'CNAME' || last.type === 'CNAME')) return false;
  if (last.type === 'MX') {
    const isNull = (record: RecordData): boolean => canonicalRecord(record).content === '.';
    if (beside.some((record) => record.type === 'MX' && (isNull(record) || isNull(last)))) return false;
  }
  const kindOf = (record: RecordData): string | null =>
    record.type === 'TXT' ? textKind(canonicalName(record.name), canonicalRecord(record).content) : null;
  const kind = kindOf(last);
  return kind === null || beside.every((record) => kindOf(record) !== kind);
};

const types = ['A', 'A', 'A', 'AAAA', 'CNAME', 'MX', 'MX', 'PTR', 'SRV', 'TXT', 'TXT'] as const;

/** Few names and contents, so that records often conflict. A name of its own is one where its type does not take any. */
const contents: Readonly<
  Record<
    RecordType,
    {
      readonly names?: readonly (string | null)[];
      readonly contents: readonly string[];
      readonly priorities?: readonly number[];
    }
  >
> = {
  A: { contents: ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'] },
  AAAA: { contents: ['2001:db8::1', '2001:DB8:0::2'] },
  CNAME: { contents: ['Web.example.org', 'cdn.example.org.'] },
  MX: {
    names: [null, null, 'mail'],
    contents: ['mx1.example.net', 'MX2.example.net', 'mx3.example.net.', '.'],
    priorities: [0, 10, 20],
  },
  PTR: { names: ['10', '11'], contents: ['Web.example.org', 'a.example.org'] },
  SRV: {
    names: ['_sip._tcp', '_xmpp._tcp'],
    contents: ['5 5060 Sip.example.net', '0 5060 sip2.example.net.'],
    priorities: [10, 20],
  },
  TXT: {
    names: [null, null, 'www', '_acme-challenge'],
    contents: ['v=spf1 -all', 'v=spf1 mx -all', 'token=one', 'say "hello"', 'Free text'],
  },
};

export const drawRecord = (random: Random, type: RecordType): RecordData => {
  const ttl = random.pick([null, null, 60, 300, 3_600]);
  const anyName = random.pick([null, 'www', 'www', 'mail', 'Ftp', '*']);
  const { names, contents: own, priorities } = contents[type];
  return {
    type,
    name: names ? random.pick(names) : type === 'CNAME' ? (anyName ?? 'cn') : anyName,
    content: random.pick(own),
    priority: priorities ? random.pick(priorities) : null,
    ttl,
  };
};

/** What other people add at the service, also things that files cannot describe. */
export const drawForeign = (random: Random): RecordData => {
  if (random.chance(0.12)) {
    return {
      type: random.pick(['NS', 'CAA']),
      name: random.pick([null, 'www']),
      content: 'ns.example.org',
      priority: null,
      ttl: 300,
    };
  }
  if (random.chance(0.05)) {
    return { type: 'A', name: `_parked-${random.below(20)}`, content: '0.0.0.0', priority: null, ttl: 300 };
  }
  const record = drawRecord(random, random.pick(types));
  return { ...record, ttl: record.ttl ?? 3_600 };
};

/** As people spell patterns, with what they mean by them. */
const ignored: readonly {
  readonly rule: IgnoreRule;
  readonly isMeant: (record: CanonicalRecord) => boolean;
}[] = [
  {
    rule: { type: 'TXT', name: '_ACME-challenge*.', content: null },
    isMeant: ({ type, name }) => type === 'TXT' && name.startsWith('_acme-challenge'),
  },
  {
    rule: { type: 'A', name: null, content: '192.0.2.4' },
    isMeant: ({ type, content }) => type === 'A' && content === '192.0.2.4',
  },
  {
    rule: { type: 'SRV', name: null, content: '0  * SIP2.*.net.' },
    isMeant: ({ type, content }) => type === 'SRV' && content === '0 5060 sip2.example.net',
  },
];

export const ignoreRules: readonly IgnoreRule[] = ignored.map(({ rule }) => rule);

export const isIgnored = ({ ignore }: DesiredTemplate, record: RecordData): boolean =>
  ignored.some(({ rule, isMeant }) => ignore.includes(rule) && isMeant(canonicalRecord(record)));
