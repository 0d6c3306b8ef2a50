import { unseen } from '../lib/escape-control.ts';

/**
 * A text as a YAML scalar in one line. It is plain only if every reader, also of YAML 1.1, reads that text.
 * Invisible characters, terminal controls and direction marks are escaped.
 */
export const scalarOf = (text: string): string => {
  if (isPlain(text)) return text;
  if (unfit.test(text)) return `"${text.replaceAll(escaped, escapeOf)}"`;
  return text.includes("'") && !/["\\]/.test(text) ? `"${text}"` : `'${text.replaceAll("'", "''")}'`;
};

const isPlain = (text: string): boolean =>
  (/^[A-Za-z_][A-Za-z0-9_.-]*$/.test(text) && !word.test(text)) || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(text);

/** Booleans and nulls of YAML 1.1 and 1.2. */
const word = /^(?:y|n|yes|no|on|off|true|false|null)$/i;

/** Includes all that YAML forbids unescaped, and lone surrogates, which UTF-8 cannot encode. */
const unfit = new RegExp(String.raw`[\p{Co}\ufffe\uffff]|${unseen.source}`, 'u');

const escaped = new RegExp(String.raw`["\\]|${unfit.source}`, 'gu');

const short: Readonly<Record<string, string>> = {
  '"': String.raw`\"`,
  '\\': '\\\\',
  '\n': String.raw`\n`,
  '\r': String.raw`\r`,
  '\t': String.raw`\t`,
};

const escapeOf = (character: string): string => {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code > 0xffff) return String.raw`\U${hex.padStart(8, '0')}`;
  return (
    short[character] ??
    (code > 0xff ? String.raw`\u${hex.padStart(4, '0')}` : String.raw`\x${hex.padStart(2, '0')}`)
  );
};
