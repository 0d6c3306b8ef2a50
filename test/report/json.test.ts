import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { renderJson } from '../../src/report-schema.ts';
import type { Report } from '../../src/result.ts';
import { everyKindReport } from './every-kind.ts';
import { commands, hostileTexts, reportWith, someHostileTexts } from './hostile.ts';

test('a report of every kind', async () => {
  const lines = linesOf(JSON.parse(renderJson(everyKindReport)));
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('every-kind.golden.json.txt');
});

/** A line for each element of a list, with all that is no list of others; lists stand below. */
const linesOf = (value: object, indent = ''): string[] => {
  const isLarge = (part: unknown): part is object => /\[\{/.test(JSON.stringify(part));
  const parts = Object.entries(value);
  const own = Object.fromEntries(parts.filter(([, part]) => !isLarge(part)));
  return [
    indent + JSON.stringify(own),
    ...parts.flatMap(([key, part]: [string, unknown]) =>
      isLarge(part)
        ? [`${indent}${key}:`, ...[part].flat().flatMap((one: object) => linesOf(one, `${indent}  `))]
        : [],
    ),
  ];
};

test('keys have a fixed order, for any input order', () => {
  const backwards = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(backwards);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .toReversed()
        .map(([key, part]) => [key, backwards(part)]),
    );
  };
  const shuffled: Report = JSON.parse(JSON.stringify(backwards(everyKindReport)));
  expect(renderJson(shuffled)).toBe(renderJson(everyKindReport));
});

test('hostile texts in every place are preserved', () => {
  fc.assert(
    fc.property(someHostileTexts, (texts) => {
      const report = reportWith(texts);
      const json = renderJson(report);
      expect(JSON.parse(json)).toEqual(report);
      expect(json).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      expect(json).not.toMatch(commands);
    }),
    { numRuns: 20, examples: [[hostileTexts]] },
  );
});
