import { escapeInJson } from '../lib/escape-control.ts';

/** Any value as JSON with two blanks of indent, and nothing in it that could steer a terminal or a CI runner, or hide text. */
export const asJson = (value: unknown): string => `${escapeInJson(JSON.stringify(value, null, 2))}\n`;
