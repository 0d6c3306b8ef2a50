/**
 * Text from anywhere, made fit for the eye: what steers a terminal, changes the reading direction or cannot be
 * seen stands as an escape (`\x1b`, `\u202e`, `\n`), and so do blanks that would be lost at an end or in a run, and
 * the first sign of what a CI runner takes for a command to itself.
 */
export const escapeControl = (text: string): string =>
  text.replaceAll(unseen, escapeOf).replaceAll(lostBlank, '\\x20').replaceAll(command, escapeOf);

/** The same for JSON, line by line: as `\uXXXX`, which every reader of it turns back, so the values are untouched. */
export const escapeInJson = (json: string): string => json.replaceAll(unfitForJson, escapeUnits);

/** Controls, format characters, lone surrogates, every separator but the plain blank, and blank letters. */
export const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]|(?! )\p{Zs}/gu;

/** Within strings JSON has escaped line feeds already. */
const unfitForJson = new RegExp(String.raw`(?!\n)(?:${unseen.source})|#(?=#(?:vso)?\[)`, 'giu');

const lostBlank = /^ | $|(?<= ) | (?= )/g;

/**
 * `##[add-mask]` and `##vso[task.complete]` anywhere, and `::add-mask::`, which counts at the beginning of a line: where
 * lines begin is decided later. No address holds it, since its word has a letter that is no hexadecimal digit.
 */
const command = /#(?=#(?:vso)?\[)|:(?=:[a-z-]*[g-z-][a-z-]*(?: [^\n]*?)?::)/gi;

const escapeOf = (character: string): string => {
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  if (hex.length > 4) return `\\u{${hex}}`;
  return short[character] ?? (hex.length > 2 ? escapeUnits(character) : `\\x${hex.padStart(2, '0')}`);
};

const short: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const escapeUnits = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
