import type { ActualRecord, RecordData } from '../../src/model/record.ts';
import { canonicalName, hasPriority } from './canonical.ts';
import { sameKey } from './records.ts';
import type { Random } from './random.ts';

/** How the service stores what it is sent, and how reliable it is; the same for a whole round. */
export interface Nature {
  /** Within the fault model: no write takes effect after `unknownPause`, and no two readings in a row are wrong alike. */
  readonly isKind: boolean;
  readonly leastTtl: number;
  readonly mostTtl: number;
  readonly oneTtlPerSet: boolean;
  readonly quotesTexts: boolean;
  /** The ending that it appends to names. */
  readonly ending: null | '.##DOMAIN##' | '.';
  /** Whether it gives a name to a record that is added without one. */
  readonly namesNameless: boolean;
  readonly respellsHosts: boolean;
  readonly ignores: 'name' | 'content' | 'priority' | 'ttl' | null;
  readonly rejectsDuplicates: boolean;
  readonly answersShort: boolean;
  readonly refusesType: string | null;
  readonly shuffles: boolean;
  readonly lowersTypes: boolean;
  /** How it shows that a record has no name. */
  readonly nameless: null | '' | '@';
  /** What it shows as the priority of a record without one. */
  readonly noPriority: number | null;
  readonly defaultTtl: number | null;
  /** New ids are in random order. */
  readonly scattersIds: boolean;
  /** How many records of a template a listing shows, though answers to writes show all; null: all. */
  readonly listed: number | null;
  /** How many calls all clients together may make in a minute; null: any. */
  readonly mostPerMinute: number | null;
  /** How far a listing may be behind, in ms: other people's changes, and our own writes. */
  readonly lag: number;
  readonly ownLag: number;
  /** How long after it was sent a write may take effect, in ms, if its answer was lost. */
  readonly delay: number;
}

export const drawNature = (
  random: Random,
  { settle, unknownPause }: { readonly settle: number; readonly unknownPause: number },
): Nature => {
  const isKind = random.chance(0.8);
  const isPlain = random.chance(0.4);
  const quirk = (): boolean => !isPlain && random.chance(0.2);
  const lag = random.chance(0.4) ? (isKind ? settle * random.next() * 0.9 : settle * 4) : 0;
  const drawn: Nature = {
    ...faithful,
    isKind,
    leastTtl: quirk() ? 300 : 0,
    mostTtl: quirk() ? 600 : 86_400,
    oneTtlPerSet: quirk(),
    quotesTexts: quirk(),
    ending: quirk() ? random.pick(['.##DOMAIN##', '.'] as const) : null,
    namesNameless: quirk(),
    respellsHosts: quirk(),
    ignores: quirk() ? random.pick(['name', 'content', 'priority', 'ttl'] as const) : null,
    rejectsDuplicates: quirk(),
    answersShort: quirk(),
    refusesType: quirk() ? random.pick(['A', 'CNAME', 'MX', 'SRV', 'TXT']) : null,
    shuffles: random.chance(0.5),
    lowersTypes: quirk(),
    nameless: quirk() ? random.pick(['', '@'] as const) : null,
    noPriority: quirk() ? 0 : null,
    defaultTtl: quirk() ? null : 3_600,
    scattersIds: random.chance(0.2),
    mostPerMinute: quirk() ? random.pick([4, 12]) : null,
    lag,
    ...(isKind
      ? {
          ownLag: random.chance(0.4)
            ? Math.max(lag, random.pick([1, 6, 57]) * Math.min(settle, 10_000))
            : lag,
          // It is sent some milliseconds after its intent is saved.
          delay: Math.max(0, unknownPause - 200),
        }
      : { ownLag: lag, delay: 30 * settle + 30_000 }),
  };
  // With four calls a minute no pass puts back what made way for a write that is always refused.
  return drawn.refusesType !== null && drawn.mostPerMinute === 4 ? { ...drawn, mostPerMinute: 12 } : drawn;
};

/** Everything is stored and shown as it was sent, at once. */
export const faithful: Nature = {
  isKind: true,
  leastTtl: 0,
  mostTtl: 86_400,
  oneTtlPerSet: false,
  quotesTexts: false,
  ending: null,
  namesNameless: false,
  respellsHosts: false,
  ignores: null,
  rejectsDuplicates: false,
  answersShort: false,
  refusesType: null,
  shuffles: false,
  lowersTypes: false,
  nameless: null,
  noPriority: null,
  defaultTtl: 3_600,
  scattersIds: false,
  listed: null,
  mostPerMinute: null,
  lag: 0,
  ownLag: 0,
  delay: 0,
};

/** Whether the service stores everything exactly as sent. */
export const isFaithful = (nature: Nature): boolean =>
  (
    [
      'leastTtl',
      'mostTtl',
      'oneTtlPerSet',
      'ending',
      'namesNameless',
      'ignores',
      'refusesType',
      'listed',
    ] as const
  ).every((quirk) => nature[quirk] === faithful[quirk]);

/** The record that an add makes. */
export const storedAddition = (nature: Nature, id: number, sent: RecordData): ActualRecord =>
  spelled(nature, {
    id,
    type: sent.type,
    name: sent.name ?? (nature.namesNameless ? '##DOMAIN##' : null),
    content: sent.content,
    priority: hasPriority(sent.type) ? (nature.ignores === 'priority' ? 0 : sent.priority) : null,
    ttl: nature.ignores === 'ttl' ? nature.defaultTtl : (sent.ttl ?? nature.defaultTtl),
  });

/** The record after an update. Only sent fields change. */
export const storedChange = (
  nature: Nature,
  before: ActualRecord,
  change: { [Field in 'name' | 'content' | 'priority' | 'ttl']: RecordData[Field] | null },
): ActualRecord => {
  const taken = <Field extends 'name' | 'content' | 'priority' | 'ttl'>(field: Field): ActualRecord[Field] =>
    nature.ignores === field ? before[field] : ((change[field] ?? before[field]) as ActualRecord[Field]);
  return spelled(nature, {
    ...before,
    name: taken('name'),
    content: taken('content'),
    priority: hasPriority(before.type) ? taken('priority') : before.priority,
    ttl: taken('ttl'),
  });
};

/** What a write changes in other records. */
export const alignTtls = (
  nature: Nature,
  records: readonly ActualRecord[],
  written: ActualRecord,
): ActualRecord[] =>
  records.map((record) =>
    nature.oneTtlPerSet &&
    record.type === written.type &&
    canonicalName(record.name) === canonicalName(written.name)
      ? { ...record, ttl: written.ttl }
      : record,
  );

export const isExactCopy = (records: readonly ActualRecord[], sent: RecordData): boolean =>
  records.some((record) => sameKey(record, sent));

/** How the service shows its records. */
export const represented = (nature: Nature, record: ActualRecord): ActualRecord => ({
  ...record,
  type: nature.lowersTypes ? record.type.toLowerCase() : record.type,
  name: record.name ?? nature.nameless,
  priority: hasPriority(record.type) ? record.priority : nature.noPriority,
});

const spelled = (nature: Nature, record: ActualRecord): ActualRecord => ({
  ...record,
  name: spelledName(nature, record.name),
  content: spelledContent(nature, record),
  ttl: record.ttl === null ? null : Math.min(nature.mostTtl, Math.max(nature.leastTtl, record.ttl)),
});

const spelledName = ({ ending }: Nature, name: string | null): string | null =>
  ending === null || name === null || name.endsWith(ending) || name.endsWith('##') ? name : name + ending;

const spelledContent = (nature: Nature, { type, content }: ActualRecord): string => {
  if (type === 'TXT') {
    const isQuoted = content.startsWith('"');
    return nature.quotesTexts && !isQuoted ? `"${content.replaceAll(/["\\]/g, '\\$&')}"` : content;
  }
  const isHost = type === 'CNAME' || type === 'MX' || type === 'PTR' || type === 'SRV';
  if (!nature.respellsHosts || !isHost) return content;
  const lower = content.toLowerCase();
  return lower.endsWith('.') ? lower : `${lower}.`;
};
