import type { Line } from './line.ts';

/**
 * The line as JSON of at most `longest` characters. Of one that is longer the beginnings are kept: of its texts, which
 * then end with how much they lack, and of its lists, whose places stand under `cut` with how many are left out.
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

/** Of what lines hold, long lists are the usual, and of those the first hundred tell enough. */
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

const shortText = (text: string, max: number): string =>
  text.length > max ? `${text.slice(0, max)}… (${text.length - max} characters more)` : text;
