import type { Line } from './line.ts';

/**
 * The line as JSON of at most `longest` characters. Of one that is longer the beginnings are kept: of its texts, which
 * then end with how much they lack, and of its lists, whose places stand under `cut` with how many are left out.
 */
export const fitted = (line: Line, longest: number): string => {
  for (const most of steps) {
    const text = JSON.stringify(shortened(line, most));
    if (text.length <= longest) return text;
  }
  const { level, time, event, client, msg } = shortened(line, smallest);
  return JSON.stringify({ level, time, event, client, cut: 'everything else', msg });
};

interface Most {
  readonly text: number;
  readonly items: number;
}

/** Of what lines hold, long lists are the usual, and of those the first hundred tell enough. */
const smallest: Most = { text: 64, items: 5 };
const steps: readonly Most[] = [
  { text: 8_192, items: 500 },
  { text: 1_024, items: 100 },
  { text: 256, items: 20 },
  smallest,
];

const shortened = (line: Line, most: Most): Line => {
  const cut: Record<string, number> = {};
  const visit = (part: unknown, place: string): unknown => {
    if (typeof part === 'string') return shortText(part, most.text);
    if (Array.isArray(part)) {
      const left = part.length - most.items;
      if (left > 0) cut[place] = (cut[place] ?? 0) + left;
      return part.slice(0, most.items).map((one) => visit(one, place));
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

const shortText = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most)}… (${text.length - most} characters more)` : text;
