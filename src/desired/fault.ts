import type { CheckId } from './check-id.ts';

/** Line and column count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Something wrong at a position of a file; which file, and how grave it is, is known further out. */
export interface Fault extends Position {
  readonly check: CheckId;
  readonly message: string;
}

export type Report = (check: CheckId, at: Position, message: string) => void;

export const faultAt = (check: CheckId, { line, column }: Position, message: string): Fault => ({
  check,
  message,
  line,
  column,
});

/** Without what would break a line or garble a terminal. */
export const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Cs}\u2028\u2029]/gu, escape);

/** A text as it stands in a message: in one line, and no longer than a line. */
export const quote = (text: string): string => {
  if (text === '') return '`""`';
  const line = oneLine(text);
  return line.length <= 60 ? `\`${line}\`` : `\`${line.slice(0, 57).replace(/[\ud800-\udbff]$/, '')}...\``;
};

const escape = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
