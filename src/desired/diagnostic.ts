import { escapeControl } from '../lib/escape-control.ts';
import type { CheckId } from './check-id.ts';

/** Line and column count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** An error or warning at a position. The caller knows the file and the severity. */
export interface Diagnostic extends Position {
  readonly check: CheckId;
  readonly message: string;
}

export type ReportDiagnostic = (check: CheckId, at: Position, message: string) => void;

export const diagnosticAt = (check: CheckId, { line, column }: Position, message: string): Diagnostic => ({
  check,
  message,
  line,
  column,
});

/** A text for a message, shortened to one line. */
export const quote = (text: string): string => {
  if (text === '') return '`""`';
  const line = escapeControl(text);
  return line.length <= 60 ? `\`${line}\`` : `\`${line.slice(0, 57).replace(/[\ud800-\udbff]$/, '')}...\``;
};
