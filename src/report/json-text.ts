/**
 * Any value as JSON with two blanks of indent. What could steer a terminal or a CI runner, or hide text, stands as
 * `\uXXXX`, which every reader of JSON turns back: the values are untouched.
 */
export const asJson = (value: unknown): string =>
  `${JSON.stringify(value, null, 2).replaceAll(unseen, escaped)}\n`;

/**
 * Line feeds are the indent's own: within strings JSON has escaped them already. `##[` and `##vso[` begin a command
 * wherever they are.
 */
const unseen = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|#(?=#(?:vso)?\[)/giu;

const escaped = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
