import { shortText } from '../lib/escape-control.ts';
import type { Line } from './redact.ts';

/**
 * The line as JSON of at most `maxLength` characters. A longer one is cut: texts keep their beginning and say
 * how much is missing; lists keep their first elements, and `cut` says how many are missing.
 */
export const fitted = (line: Line, maxLength: number): string => {
  for (const limits of steps) {
    const text = JSON.stringify(shortened(line, limits));
    if (text.length <= maxLength) return text;
  }
  const { level, time, event, client, msg } = shortened(line, smallest);
  return JSON.stringify({ level, time, event, client, cut: 'everything else', msg });
};

interface FitLimits {
  readonly text: number;
  readonly items: number;
}

/** Long lines are mostly long lists, of which the first hundred are enough. */
const smallest: FitLimits = { text: 64, items: 5 };
const steps: readonly FitLimits[] = [
  { text: 8_192, items: 500 },
  { text: 1_024, items: 100 },
  { text: 256, items: 20 },
  smallest,
];

const shortened = (line: Line, limits: FitLimits): Line => {
  const cut: Record<string, number> = {};
  const visit = (part: unknown, place: string): unknown => {
    if (typeof part === 'string') return shortText(part, limits.text);
    if (Array.isArray(part)) {
      const left = part.length - limits.items;
      if (left > 0) cut[place] = (cut[place] ?? 0) + left;
      return part.slice(0, limits.items).map((one) => visit(one, place));
    }
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(
      Object.entries(part).map(([key, one]) => [key, visit(one, place === '' ? key : `${place}.${key}`)]),
    );
  };
  const { msg, ...fields } = Object.fromEntries(
    Object.entries(line).map(([key, one]) => [key, visit(one, key)]),
  );
  return { ...fields, ...(Object.keys(cut).length === 0 ? {} : { cut }), msg };
};
