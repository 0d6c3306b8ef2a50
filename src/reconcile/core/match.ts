import type { CanonicalRecord } from '../../model/canonical.ts';
import type { PresentRecord, RecordData } from '../../model/record.ts';
import type { PresentTemplate } from '../../model/template.ts';
import { definitionOf } from '../../model/types/table.ts';
import { entryOf, recordKey } from '../../plan/entry.ts';
import type { Intent } from '../../state/memory.ts';
import type { UpdateTarget } from './remembering.ts';

/** From now on the record may be the wanted one, under whatever name the service gives it; null of adds and parks. */
export const targetOf = ({ action, key, after, recordId, before, cause }: Intent): UpdateTarget | null =>
  action === 'update' && recordId !== null && before !== null
    ? { key, wanted: after, recordId, before, cause }
    : null;

export type Match =
  | { readonly kind: 'matched'; readonly record: PresentRecord }
  /** Several records that it could be: more than one write has landed. */
  | { readonly kind: 'duplicate'; readonly records: readonly PresentRecord[] }
  /** New records of its type, and nobody can tell which of them it is. */
  | { readonly kind: 'unclear' }
  | { readonly kind: 'absent' };

/**
 * What makes a new record the one that an add made: that it is the wanted one; or that it alone of its type is like it,
 * as a service may spell it, where a nameless one can have been given any name that came with the add's own answer.
 * What is not like it is somebody else's, or cannot be explained.
 */
export type MatchRule = 'exact' | 'alike' | 'answer';

/** The record that an add made, by a reading after it. */
export const matchAdd = (
  after: RecordData,
  isOld: (id: number) => boolean,
  reading: PresentTemplate,
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
  // It may be what another one is that came under a name of its own.
  const hasRival = ofType.some((entry) => !candidates.includes(entry) && isSameContent(sent, entry));
  if (!first || !areCopies || hasRival) return { kind: 'unclear' };
  return candidates.length === 1
    ? { kind: 'matched', record: first.record }
    : { kind: 'duplicate', records: candidates.map(({ record }) => record) };
};

/** At its name, or at one that was made longer or shorter. One name holds independent texts: others are not like it. */
const isAlike = (
  sent: CanonicalRecord,
  stored: CanonicalRecord,
  isNamed: (sent: string, stored: string) => boolean,
): boolean => {
  const isAtName = sent.name === stored.name;
  if (isSameContent(sent, stored)) return isAtName || isNamed(sent.name, stored.name);
  return !definitionOf(sent.type)?.independent && isAtName;
};

const isSameContent = (sent: CanonicalRecord, stored: CanonicalRecord): boolean =>
  definitionOf(sent.type)?.independent?.isRespelled(sent.content, stored.content) ??
  sent.content === stored.content;

const isRenamed = (name: string, other: string): boolean => isBelow(name, other) || isBelow(other, name);

const isBelow = (name: string, longer: string): boolean => name !== '' && longer.startsWith(`${name}.`);
