/**
 * Makes foreign text safe to show. Terminal controls, direction marks and invisible characters become escapes
 * (`\x1b`, `\u202e`, `\n`); so do blanks at the ends and in runs, and the first character of a CI runner's
 * command. A long text is shortened first, since a service may state records of megabytes.
 */
export const escapeControl = (text: string): string =>
  escapeCommands(shortText(text, maxShown).replaceAll(unseen, escapeOf).replaceAll(lostBlank, '\\x20'));

/** For a line of several texts, which may make a command together. */
export const escapeCommands = (line: string): string => line.replaceAll(command, escapeOf);

/** Characters of one text for people; JSON has the rest. */
export const maxShown = 1_500;

/** The same for JSON, line by line: as `\uXXXX`, which JSON parsers decode, so values do not change. */
export const escapeInJson = (json: string): string =>
  unusual.test(json) ? json.replaceAll(unfitForJson, escapeUnits) : json;

/** Most lines have none of these, which takes a quarter of the time to see: all but printable ASCII, and `#`. */
const unusual = /[^\n -"$-~]/;

/** Controls, format characters, lone surrogates, every separator but the plain blank, and blank letters. */
export const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]|(?! )\p{Zs}/gu;

/** JSON has already escaped line feeds within strings. */
const unfitForJson = new RegExp(String.raw`(?!\n)(?:${unseen.source})|#(?=#(?:vso)?\[)`, 'giu');

const lostBlank = /^ | $|(?<= ) | (?= )/g;

/**
 * `##[add-mask]` and `##vso[task.complete]` anywhere, and `::add-mask::` anywhere, since line breaks are
 * decided later. IPv6 addresses do not match, since the word needs a letter that is not a hexadecimal digit.
 * A word is read in one way only, so that the time grows with the length of the text.
 */
const command = /#(?=#(?:vso)?\[)|:(?=:[a-f]*[g-z-][a-z-]*(?: [^\n]*?)?::)/gi;

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

/** The beginning of a text of more than `max` characters, and how many are missing. */
export const shortText = (text: string, max: number): string =>
  text.length > max
    ? `${text.slice(0, max).replace(/[\ud800-\udbff]$/, '')}… (${text.length - max} characters more)`
    : text;

/** Any value as JSON with an indent of two, without terminal controls, CI commands or invisible text. */
export const asJson = (value: unknown): string => `${escapeInJson(JSON.stringify(value, null, 2))}\n`;
