import { escapeInJson } from '../lib/escape-control.ts';

/** Any value as JSON with an indent of two, without terminal controls, CI commands or invisible text. */
export const asJson = (value: unknown): string => `${escapeInJson(JSON.stringify(value, null, 2))}\n`;
