import { escapeInJson, shortText } from '../lib/escape-control.ts';

/** One line of the log. */
export type Line = Readonly<Record<string, unknown>>;

/**
 * The line, which ends with a line feed, in at most 16 KiB: Docker cuts longer ones. Long texts keep their beginning and
 * say how much is missing; long lists keep their first elements, and `more` says how many are missing.
 */
export const fitted = (json: string): string => {
  const whole = escapeInJson(json);
  if (isFit(whole)) return whole;
  const line: Line = JSON.parse(json);
  for (let items = 512; items >= 1; items /= 2) {
    const text = linear(shortened(line, { items, text: items > 1 ? 1_024 : 64 }));
    if (isFit(text)) return text;
  }
  const { level, time, event, client, msg } = shortened(line, { items: 0, text: 64 });
  return linear({ level, time, event, client, more: 'all other fields', msg });
};

const isFit = (line: string): boolean => Buffer.byteLength(line) <= 16 * 1024;

const linear = (line: Line): string => `${escapeInJson(JSON.stringify(line))}\n`;

const shortened = (line: Line, limit: { readonly items: number; readonly text: number }): Line => {
  let more = 0;
  const visit = (part: unknown): unknown => {
    if (typeof part === 'string') return shortText(part, limit.text);
    if (typeof part !== 'object' || part === null) return part;
    if (!Array.isArray(part))
      return Object.fromEntries(Object.entries(part).map(([key, one]) => [key, visit(one)]));
    more += Math.max(part.length - limit.items, 0);
    return part.slice(0, limit.items).map(visit);
  };
  const { msg, ...fields } = Object.fromEntries(Object.entries(line).map(([key, one]) => [key, visit(one)]));
  return { ...fields, ...(more === 0 ? {} : { more }), msg };
};
