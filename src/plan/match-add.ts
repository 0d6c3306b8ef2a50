import { isAddress } from '../model/address.ts';
import type { CanonicalRecord } from '../model/canonical.ts';
import type { ActualRecord, RecordData } from '../model/record.ts';
import type { ActualTemplate } from '../model/template.ts';
import { definitionOf } from '../model/types/table.ts';
import { entryOf, recordKey } from './entry.ts';
import { bareName } from './like.ts';

export type Match =
  | { readonly kind: 'matched'; readonly record: ActualRecord }
  /** Several records that it could be: more than one write has landed. */
  | { readonly kind: 'duplicate'; readonly records: readonly ActualRecord[] }
  /** New records of its type, none of which can be identified as it. */
  | { readonly kind: 'unclear' }
  | { readonly kind: 'absent' };

/**
 * Whether a new record comes from an add: it equals the desired one (`exact`); or it is the only similar one of
 * its type, in the service's spelling (`alike`); in the add's own answer (`answer`) a nameless one may have
 * any name. Other records are somebody else's or of unknown origin.
 */
export type MatchRule = 'exact' | 'alike' | 'answer';

/** The record that an add made, in a reading after it. */
export const matchAdd = (
  after: RecordData,
  isOld: (id: number) => boolean,
  reading: ActualTemplate,
  rule: MatchRule,
): Match => {
  const sent = entryOf(after);
  const fresh = reading.records.filter((record) => !isOld(record.id)).map(entryOf);
  const same = fresh.filter((entry) => recordKey(entry) === recordKey(sent)).map(({ record }) => record);
  if (same.length > 1) return { kind: 'duplicate', records: same };
  if (same[0]) return { kind: 'matched', record: same[0] };
  if (rule === 'exact') return { kind: 'absent' };
  const ofType = fresh.filter((entry) => entry.type === sent.type);
  if (ofType.length === 0) return { kind: 'absent' };
  const isNamed = rule === 'answer' && sent.name === '' ? () => true : isRenamed;
  const candidates = ofType.filter((entry) => isAlike(sent, entry, isNamed));
  const [first] = candidates;
  const areCopies = candidates.every((entry) => recordKey(entry) === recordKey(first!));
  // Another new record of this type may be the one, under another name.
  const hasRival = ofType.some((entry) => !candidates.includes(entry) && isSameContent(sent, entry));
  if (!first || !areCopies || hasRival) return { kind: 'unclear' };
  return candidates.length === 1
    ? { kind: 'matched', record: first.record }
    : { kind: 'duplicate', records: candidates.map(({ record }) => record) };
};

/** At its name or at a longer or shorter one. Independent texts at one name are not similar, nor are two addresses. */
const isAlike = (
  sent: CanonicalRecord,
  stored: CanonicalRecord,
  isNamed: (sent: string, stored: string) => boolean,
): boolean => {
  const isAtName = sent.name === stored.name;
  if (isSameContent(sent, stored)) return isAtName || isNamed(sent.name, stored.name);
  return isAtName && !definitionOf(sent.type)?.independent && !areAddresses(sent, stored);
};

/** One address is not stored as another one: somebody else's record is at the name. */
const areAddresses = (sent: CanonicalRecord, stored: CanonicalRecord): boolean =>
  isAddress(sent.content) && isAddress(stored.content);

const isSameContent = (sent: CanonicalRecord, stored: CanonicalRecord): boolean =>
  definitionOf(sent.type)?.independent?.isRespelled(sent.content, stored.content) ??
  sent.content === stored.content;

const isRenamed = (name: string, other: string): boolean =>
  isBelow(name, other) || isBelow(other, name) || name === bareName(other);

const isBelow = (name: string, longer: string): boolean => name !== '' && longer.startsWith(`${name}.`);
