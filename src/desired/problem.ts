import { escapeControl } from '../lib/escape-control.ts';
import type { Place } from '../model/record.ts';
import type { Problem } from '../model/template.ts';
import { groupBy } from '../model/group.ts';
import { isWarning, type CheckId } from './check-id.ts';

/** An error or warning at a place of a file. Line and column count from 1. */
export interface Diagnostic {
  readonly check: CheckId;
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

/** With its file; in a fragment, also with the place of the include that led there. */
export interface FileDiagnostic extends Diagnostic {
  readonly file: string;
  readonly via: Place | null;
}

/** Reports something about the value at an offset of the file that is read. */
export type Report = (check: CheckId, at: number, message: string) => void;

export const inFile = (
  file: string,
  diagnostics: readonly Diagnostic[],
  via: Place | null = null,
): FileDiagnostic[] =>
  diagnostics.map(({ check, message, line, column }) => ({ check, message, line, column, file, via }));

export const isError = ({ check }: Diagnostic, strict: boolean): boolean => strict || !isWarning(check);

/** A text for a message, shortened to one line. */
export const quote = (text: string): string => {
  if (text === '') return '`""`';
  const line = escapeControl(text);
  return line.length <= 60 ? `\`${line}\`` : `\`${line.slice(0, 57).replace(/[\ud800-\udbff]$/, '')}...\``;
};

export const endsInColon = (address: string): string =>
  `unquoted, a colon at the end makes a key: quote the address, "${address}"`;

/** `FILE:LINE:COLUMN: error|warning: message [check-id]` */
export const formatProblem = ({ file, line, column, severity, message, check }: Problem): string => {
  const place = [file, line, column].filter((part) => part !== null).map((part) => `${part}:`);
  return escapeControl(`${place.join('')}${place.length > 0 ? ' ' : ''}${severity}: ${message} [${check}]`);
};

/** A diagnostic of a fragment that several templates include is one problem, which names the includes. */
export const problemsOf = (diagnostics: readonly FileDiagnostic[], strict: boolean): Problem[] => {
  const groups = groupBy(diagnostics, ({ file, line, column, check, message }) =>
    JSON.stringify([file, line, column, check, message]),
  );
  return [...groups.values()].map((group) => {
    const { check, message, file, line, column } = group[0]!;
    const severity = isError(group[0]!, strict) ? 'error' : 'warning';
    return { severity, check, message: message + includedBy(group), file, line, column };
  });
};

const includedBy = (group: readonly FileDiagnostic[]): string => {
  const places = new Set(group.flatMap(({ via }) => (via ? `${via.file}:${via.line}:${via.column}` : [])));
  const [first, ...others] = [...places].sort(compare);
  if (first === undefined) return '';
  return ` (included by ${first}${others.length > 0 ? ` and ${others.length} more` : ''})`;
};

/** By file, line and column. */
export const byPlace = (one: Problem, other: Problem): number =>
  compare(one.file ?? '', other.file ?? '') ||
  (one.line ?? 0) - (other.line ?? 0) ||
  (one.column ?? 0) - (other.column ?? 0) ||
  compare(one.check, other.check) ||
  compare(one.message, other.message);

const compare = (one: string, other: string): number => (one < other ? -1 : Number(one > other));
