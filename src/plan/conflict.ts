import type { CanonicalRecord } from '../model/canonical.ts';
import type { BlockReason } from './difference.ts';
import { isPark, isUpdate, type Step } from './step.ts';

export type ConflictReason = Extract<BlockReason, 'cname-conflict' | 'null-mx-conflict'>;

/** Records by what they suffer beside them at their name: a null MX (RFC 7505) is a kind of its own. */
export type Kind = 'CNAME' | 'null MX' | 'MX' | 'other';

export const kindOf = ({ type, content }: CanonicalRecord): Kind => {
  if (type === 'CNAME') return 'CNAME';
  if (type !== 'MX') return 'other';
  return content === '.' ? 'null MX' : 'MX';
};

/** The kinds that the result of a step excludes at a name, as far as it brings anything new there. */
export const excludedBy = (step: Step, result: CanonicalRecord, isThere: boolean): readonly Kind[] => {
  if (isPark(step)) return [];
  const kind = kindOf(result);
  if (!isUpdate(step) || !isThere) return excluded[kind];
  return isMx(kind) && step.difference.fields.includes('content') ? excluded[kind].filter(isMx) : [];
};

export const reasonOf = (kind: Kind, other: Kind): ConflictReason =>
  isMx(kind) && isMx(other) ? 'null-mx-conflict' : 'cname-conflict';

const isMx = (kind: Kind): boolean => kind === 'MX' || kind === 'null MX';

export const excludedKinds = (kind: Kind): readonly Kind[] => excluded[kind];

const excluded: Readonly<Record<Kind, readonly Kind[]>> = {
  CNAME: ['CNAME', 'null MX', 'MX', 'other'],
  'null MX': ['CNAME', 'MX'],
  MX: ['CNAME', 'null MX'],
  other: ['CNAME'],
};
