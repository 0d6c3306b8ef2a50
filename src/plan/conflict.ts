import type { CanonicalRecord } from '../model/canonical.ts';
import type { ConflictKind } from '../model/types/definition.ts';
import { definitionOf } from '../model/types/table.ts';
import type { BlockReason } from './difference.ts';
import { isPark, isUpdate, type Step } from './step.ts';

export type ConflictReason = Extract<BlockReason, 'cname-conflict' | 'null-mx-conflict'>;

export const kindOf = ({ type, content }: CanonicalRecord): ConflictKind =>
  definitionOf(type)?.conflictKind(content) ?? 'other';

/** The kinds of records that the result of a step excludes at a name, if it is new there. */
export const excludedBy = (
  step: Step,
  result: CanonicalRecord,
  isThere: boolean,
): readonly ConflictKind[] => {
  if (isPark(step)) return [];
  const kind = kindOf(result);
  if (!isUpdate(step) || !isThere) return excluded[kind];
  return isMx(kind) && step.difference.fields.includes('content') ? excluded[kind].filter(isMx) : [];
};

export const reasonOf = (kind: ConflictKind, other: ConflictKind): ConflictReason =>
  isMx(kind) && isMx(other) ? 'null-mx-conflict' : 'cname-conflict';

const isMx = (kind: ConflictKind): boolean => kind === 'MX' || kind === 'null MX';

export const excludedKinds = (kind: ConflictKind): readonly ConflictKind[] => excluded[kind];

const excluded: Readonly<Record<ConflictKind, readonly ConflictKind[]>> = {
  CNAME: ['CNAME', 'null MX', 'MX', 'other'],
  'null MX': ['CNAME', 'MX'],
  MX: ['CNAME', 'null MX'],
  other: ['CNAME'],
};
