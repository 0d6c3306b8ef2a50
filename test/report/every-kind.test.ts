import { expect, test } from 'vitest';
import { z } from 'zod';
import { reportSchema } from '../../src/report-schema.ts';
import { everyKindReport } from './every-kind.ts';

type Schema = z.core.JSONSchema.JSONSchema;

const schema = z.toJSONSchema(reportSchema, { reused: 'inline' });

/** Each place of the report that takes one of several words, with these words: `.templates[].status`. */
const wordsIn = (part: Schema, place: string, found: Map<string, Set<unknown>>): typeof found => {
  const words = part.enum ?? ('const' in part ? [part.const] : []);
  if (words.length > 0) found.set(place, new Set([...(found.get(place) ?? []), ...words]));
  const referred = part.$ref === undefined ? undefined : schema.$defs?.[part.$ref.replace('#/$defs/', '')];
  if (referred) wordsIn(referred, place, found);
  for (const [key, inner] of Object.entries(part.properties ?? {}))
    if (typeof inner === 'object') wordsIn(inner, `${place}.${key}`, found);
  if (typeof part.items === 'object' && !Array.isArray(part.items)) wordsIn(part.items, `${place}[]`, found);
  for (const one of [...(part.anyOf ?? []), ...(part.oneOf ?? [])])
    if (typeof one === 'object') wordsIn(one, place, found);
  return found;
};

/** What stands in each place of a value. */
const textsIn = (value: unknown, place: string, found: Map<string, Set<unknown>>): typeof found => {
  if (Array.isArray(value)) for (const one of value) textsIn(one, `${place}[]`, found);
  else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) textsIn(inner, `${place}.${key}`, found);
  else found.set(place, new Set([...(found.get(place) ?? []), value]));
  return found;
};

test('the report of every kind has every word of a report, except two that occur once', () => {
  const words = wordsIn(schema, '', new Map());
  const texts = textsIn(everyKindReport, '', new Map());
  const missing = [...words].flatMap(([place, all]) =>
    [...all].filter((word) => !texts.get(place)?.has(word)).map((word) => `${place} ${String(word)}`),
  );
  expect(missing.filter((one) => !/^\.(status|trigger) /.test(one))).toEqual([]);
  expect([...words.keys()].sort()).toEqual([
    '.problems[].severity',
    '.schema',
    '.status',
    '.templates[].differences[].action',
    '.templates[].differences[].cause',
    '.templates[].differences[].fields[]',
    '.templates[].differences[].outcome',
    '.templates[].differences[].reason',
    '.templates[].differences[].skippedBy',
    '.templates[].status',
    '.templates[].subdomains[].answers.differences[].kind',
    '.templates[].subdomains[].answers.servers[].status',
    '.templates[].subdomains[].answers.status',
    '.templates[].subdomains[].differences[].fields[]',
    '.templates[].subdomains[].differences[].kind',
    '.templates[].subdomains[].status',
    '.trigger',
  ]);
});
