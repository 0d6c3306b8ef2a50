import type { CanonicalRecord } from '../model/canonical.ts';
import type { ConflictKind } from '../model/types/definition.ts';
import { definitionOf } from '../model/types/table.ts';
import type { BlockReason } from './difference.ts';
import { isPark, isRestore, isUpdate, type Step } from './step.ts';

export type ConflictReason = Extract<BlockReason, 'cname-conflict' | 'null-mx-conflict'>;

export const kindOf = ({ type, content }: CanonicalRecord): ConflictKind =>
  definitionOf(type)?.conflictKind(content) ?? 'other';

/** The kinds of records that the result of a step excludes at its name. `isThere`: it has that name already. */
export const excludedBy = (
  step: Step,
  result: CanonicalRecord,
  isThere: boolean,
): readonly ConflictKind[] => {
  if (isPark(step) && !isRestore(step)) return [];
  const kind = kindOf(result);
  if (!isThere) return excluded[kind];
  const changesContent = isUpdate(step) && step.difference.fields.includes('content');
  return isMx(kind) && changesContent ? excluded[kind].filter(isMx) : [];
};

export const reasonOf = (kind: ConflictKind, other: ConflictKind): ConflictReason =>
  isMx(kind) && isMx(other) ? 'null-mx-conflict' : 'cname-conflict';

const isMx = (kind: ConflictKind): boolean => kind === 'MX' || kind === 'null MX';

/** Whether two records exclude each other at a name. */
export const exclude = (one: CanonicalRecord, other: CanonicalRecord): boolean =>
  excludes(kindOf(one), kindOf(other));

export const excludes = (one: ConflictKind, other: ConflictKind): boolean => excluded[one].includes(other);

export const excludedKinds = (kind: ConflictKind): readonly ConflictKind[] => excluded[kind];

const excluded: Readonly<Record<ConflictKind, readonly ConflictKind[]>> = {
  CNAME: ['CNAME', 'null MX', 'MX', 'other'],
  'null MX': ['CNAME', 'MX'],
  MX: ['CNAME', 'null MX'],
  other: ['CNAME'],
};
