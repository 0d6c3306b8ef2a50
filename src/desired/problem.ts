import { escapeControl } from '../lib/escape-control.ts';
import type { Place } from '../model/record.ts';
import type { Problem } from '../model/template.ts';
import { isWarning, type CheckId } from './check-id.ts';

/** An error or warning at a place of a file. */
export interface Diagnostic extends Place {
  readonly check: CheckId;
  readonly message: string;
  /** In a fragment: the place of the include that led there. */
  readonly via: string | null;
}

/** Reports something about the value at an offset of the file that is read. */
export type ReportProblem = (check: CheckId, at: number, message: string) => void;

export const isError = ({ check }: Diagnostic, strict: boolean): boolean => strict || !isWarning(check);

/** A place in a message. */
export const shownPlace = ({ file, line, column }: Place): string => `${file}:${line}:${column}`;

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

const control = /[\x00-\x1f\x7f-\x9f]|\p{Cs}/u;

export const hasControlCharacter = (text: string): boolean => control.test(text);
