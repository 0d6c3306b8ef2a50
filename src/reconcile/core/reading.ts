import { createHash } from 'node:crypto';
import { sameData } from '../../model/canonical.ts';
import type { ActualRecord } from '../../model/record.ts';
import type { ActualTemplate } from '../../model/template.ts';
import type { CorrectedView } from './basis.ts';

/** The purpose of a reading of a template. */
export type ReadingPurpose =
  /** The answer to a write. */
  | 'answer'
  /** After a rejected answer. */
  | 'after-doubt'
  | 'after-refusal'
  /** The second one of a pass, before it writes. */
  | 'confirming'
  /** To resolve an add of unknown outcome. */
  | 'settling';

type Verdict =
  /** It is trusted as the state of the template. */
  | 'take'
  /** It is trusted if it shows the written record as it was sent. */
  | 'take-if-as-desired'
  /** One more reading decides. */
  | 'read-once'
  /** The write has an unknown outcome. */
  | 'unknown'
  /** The previous reading stays in use. */
  | 'keep'
  /** Nothing more is written in this pass. */
  | 'hold';

/**
 * The trust table: whether a reading is trusted, compared with the previous one. `lacks`: not every id of that
 * one is there; `more`: more new ids than were written; `same`: neither, for any values.
 */
const trust: Readonly<Record<ReadingPurpose, Readonly<Record<'lacks' | 'more' | 'same', Verdict>>>> = {
  answer: { lacks: 'read-once', more: 'unknown', same: 'take' },
  'after-doubt': { lacks: 'unknown', more: 'unknown', same: 'take-if-as-desired' },
  'after-refusal': { lacks: 'keep', more: 'hold', same: 'take-if-as-desired' },
  confirming: { lacks: 'hold', more: 'take', same: 'take' },
  settling: { lacks: 'keep', more: 'take', same: 'take' },
};

export interface Comparison {
  /** How many records of the previous one are missing. */
  readonly lacks: number;
  readonly verdict: Verdict;
}

/** `expected`: how many new records a write may have made. */
export const compare = (
  before: CorrectedView,
  reading: ActualTemplate,
  purpose: ReadingPurpose,
  expected = 0,
): Comparison => {
  const lacks = countMissing(before, reading, ({ id }) => !before.unshown?.get(id)?.isAdd);
  const more = Math.max(0, countMissing(reading, before) - expected);
  const { [purpose]: row } = trust;
  if (reading.id !== before.id) return { lacks, verdict: row.lacks };
  if (more > 0 && row.more !== 'take') return { lacks, verdict: row.more };
  return { lacks, verdict: lacks > 0 ? row.lacks : row.same };
};

/** How many records of one reading another one lacks. */
const countMissing = (
  one: ActualTemplate,
  other: ActualTemplate,
  isCounted: (record: ActualRecord) => boolean = () => true,
): number => {
  if (one === other) return 0;
  const ids = new Set(other.records.map(({ id }) => id));
  return one.records.filter((record) => !ids.has(record.id) && isCounted(record)).length;
};

/** Whether two readings with the same ids have the same values. */
export const showsTheSame = (one: ActualTemplate, other: ActualTemplate): boolean => {
  const records = new Map(one.records.map((record) => [record.id, record]));
  return other.records.every((record) => {
    const before = records.get(record.id);
    return before !== undefined && sameData(before, record);
  });
};

/** Adds the records that only another reading shows. */
export const unionOf = (other: ActualTemplate | undefined, reading: ActualTemplate): ActualTemplate => {
  if (other === undefined || other === reading) return reading;
  const ids = new Set(reading.records.map(({ id }) => id));
  const more = other.records.filter(({ id }) => !ids.has(id));
  return more.length === 0 ? reading : { ...reading, records: [...reading.records, ...more] };
};

/** The same text for the same ids and values, in any order. */
export const digestOf = (reading: ActualTemplate): string => {
  const known = digests.get(reading);
  if (known !== undefined) return known;
  const rows = reading.records
    .map(({ id, type, name, content, ttl, priority }) => [id, type, name, content, ttl, priority] as const)
    .sort(([one], [other]) => one - other);
  const digest = createHash('sha256').update(JSON.stringify(rows)).digest('base64');
  digests.set(reading, digest);
  return digest;
};

/** An unchanged answer is the same object. */
const digests = new WeakMap<ActualTemplate, string>();
