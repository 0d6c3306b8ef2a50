import { escapeControl } from '../lib/escape-control.ts';
import type { Problem } from '../model/template.ts';
import { groupBy } from '../plan/group.ts';
import { isWarning } from './check-id.ts';
import type { Diagnostic } from './diagnostic.ts';
import type { Place } from '../model/record.ts';

/** A diagnostic with its file; in a fragment, also with the position of the include that led there. */
export interface FileDiagnostic extends Diagnostic {
  readonly file: string;
  readonly via: Place | null;
}

export const inFile = (
  file: string,
  diagnostics: readonly Diagnostic[],
  via: Place | null = null,
): FileDiagnostic[] =>
  diagnostics.map(({ check, message, line, column }) => ({ check, message, line, column, file, via }));

/** `FILE:LINE:COLUMN: error|warning: message [check-id]` */
export const formatProblem = ({ file, line, column, severity, message, check }: Problem): string => {
  const place = [file, line, column].filter((part) => part !== null).map((part) => `${part}:`);
  return escapeControl(`${place.join('')}${place.length > 0 ? ' ' : ''}${severity}: ${message} [${check}]`);
};

/**
 * Problems, sorted by position. A diagnostic of a fragment that several templates include is one problem,
 * which names the includes.
 */
export const problemsOf = (diagnostics: readonly FileDiagnostic[], strict: boolean): Problem[] => {
  const groups = groupBy(diagnostics, ({ file, line, column, check, message }) =>
    JSON.stringify([file, line, column, check, message]),
  );
  return [...groups.values()].map((group) => problemOf(group, strict)).sort(byPlace);
};

export const isError = (diagnostic: Diagnostic, strict: boolean): boolean =>
  strict || !isWarning(diagnostic.check);

/** By file, line and column. */
export const byPlace = (one: Problem, other: Problem): number =>
  compare(one.file ?? '', other.file ?? '') ||
  (one.line ?? 0) - (other.line ?? 0) ||
  (one.column ?? 0) - (other.column ?? 0) ||
  compare(one.check, other.check) ||
  compare(one.message, other.message);

const problemOf = (group: readonly FileDiagnostic[], strict: boolean): Problem => {
  const first = group[0]!;
  return {
    severity: isError(first, strict) ? 'error' : 'warning',
    check: first.check,
    message: first.message + includedBy(group),
    file: first.file,
    line: first.line,
    column: first.column,
  };
};

const includedBy = (group: readonly FileDiagnostic[]): string => {
  const places = new Set(group.flatMap(({ via }) => (via ? `${via.file}:${via.line}:${via.column}` : [])));
  const [first, ...others] = [...places].sort(compare);
  if (first === undefined) return '';
  return ` (included by ${first}${others.length > 0 ? ` and ${others.length} more` : ''})`;
};

const compare = (one: string, other: string): number => (one < other ? -1 : Number(one > other));
