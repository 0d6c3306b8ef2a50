import { type Report, reportSchema } from './report.ts';

/**
 * The report as JSON with two blanks of indent and one order of keys. What could steer a terminal or hide
 * text stands as `\uXXXX`, which every reader of JSON turns back: the values are untouched.
 */
export const renderJson = (report: Report): string =>
  `${JSON.stringify(reportSchema.parse(report), null, 2).replaceAll(unseen, escaped)}\n`;

/** Line feeds are the indent's own: within strings JSON has escaped them already. */
const unseen = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const escaped = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
