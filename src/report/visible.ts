/**
 * Text from anywhere, made fit for the eye: what steers a terminal, changes the reading direction or cannot be
 * seen stands as an escape (`\x1b`, `\u202e`, `\n`), and so do blanks that would be lost at an end or in a run, and
 * the first sign of what a CI runner takes for a command to itself.
 */
export const visible = (text: string): string =>
  text.replaceAll(unseen, escapeOf).replaceAll(lostBlank, '\\x20').replaceAll(command, escapeOf);

/** Controls, format characters, lone surrogates, every separator but the plain blank, and blank letters. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]|(?! )\p{Zs}/gu;

const lostBlank = /^ | $|(?<= ) | (?= )/g;

/**
 * `##[add-mask]` and `##vso[task.complete]` anywhere, and `::add-mask::`, which counts at the beginning of a line: where
 * lines begin is decided later. No address holds it, since its word has a letter that is no hexadecimal digit.
 */
const command = /#(?=#(?:vso)?\[)|:(?=:[a-z-]*[g-z-][a-z-]*(?: [^\n]*?)?::)/gi;

const short: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const escapeOf = (character: string): string => {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code > 0xffff) return `\\u{${hex}}`;
  return short[character] ?? (code > 0xff ? `\\u${hex.padStart(4, '0')}` : `\\x${hex.padStart(2, '0')}`);
};
