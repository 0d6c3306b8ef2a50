import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dnsTemplates, readTemplate } from '../../src/hosting/dns-resources.ts';
import { listingReader } from '../../src/hosting/listing.ts';

const record = (id: number, content = `192.0.2.${id % 256}`) => ({
  id,
  type: 'A',
  content,
  name: null,
  priority: null,
  ttl: 3600,
});
const template = (id: number, content?: string) => ({
  id,
  name: `template "${id}" [ä] \\`,
  publicly_available: false,
  subdomains: null,
  dns_template_records: [record(10 * id, content), record(10 * id + 1)],
});

const max = { depth: 32, values: 1_000_000 };

const read = (listing: ReturnType<typeof listingReader>, value: unknown) =>
  listing.read(Buffer.from(JSON.stringify(value)));

describe('a repeated listing', () => {
  const before = [1, 2, 3, 4].map((id) => template(id));

  test('gives the same templates for the same bytes', async () => {
    const listing = listingReader(readTemplate, max);
    const first = await read(listing, before);
    const second = await read(listing, before);
    expect(second?.map((one, index) => one === first?.[index])).toEqual([true, true, true, true]);
  });

  test.each<[string, unknown[], (number | null)[]]>([
    ['one changed', [before[0], template(2, '203.0.113.1'), before[2], before[3]], [0, null, 2, 3]],
    [
      'two changed, with one between them',
      [before[0], template(2, '203.0.113.1'), before[2], template(4, '203.0.113.1')],
      [0, null, 2, null],
    ],
    ['one gone', [before[0], before[2], before[3]], [0, 2, 3]],
    ['one more at the start', [template(5), ...before], [null, 0, 1, 2, 3]],
    ['one more at the end', [...before, template(5)], [0, 1, 2, 3, null]],
    ['the first two gone, and one changed', [before[2], template(4, '203.0.113.1')], [2, null]],
    ['two that have changed places', [before[0], before[2], before[1], before[3]], [0, 2, 1, 3]],
    ['none left', [], []],
    ['the first and the last one left', [before[0], before[3]], [0, 3]],
  ])('gives the same objects for the same text: %s', async (_, after, same) => {
    const listing = listingReader(readTemplate, max);
    const first = (await read(listing, before))!;
    const second = (await read(listing, after))!;
    expect(second).toEqual(dnsTemplates.parse(after));
    expect(second.map((one) => (first.includes(one) ? first.indexOf(one) : null))).toEqual(same);
  });
});

/** What a service may send beside a plain template: other spellings of it, and what is none. */
const element = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 6 }).map((id) => template(id)) },
  fc.integer({ min: 1, max: 6 }).map((id) => template(id, '203.0.113.1')),
  fc.constantFrom<unknown>(
    { ...template(7), id: '7' },
    { ...template(8), publicly_available: 'true', extra: ['}', '{', '"'] },
    { ...template(9), dns_template_records: [] },
    { ...template(9), dns_template_records: [record(1), record(1)] },
    { ...template(9), dns_template_records: null },
    null,
    7,
    [],
    'text',
  ),
);
const spaced = fc.constantFrom('', ' ', '\n\t ');
const body = fc
  .record({
    elements: fc.array(element, { maxLength: 6 }),
    indent: fc.constantFrom(0, 2),
    around: fc.tuple(spaced, spaced),
    damage: fc.option(fc.tuple(fc.nat(), fc.constantFrom('', ',', '[', ']', '{', '}', '"', '\\', 'null')), {
      freq: 4,
    }),
  })
  .map(({ elements, indent, around: [start, end], damage }) => {
    const text = `${start}${JSON.stringify(elements, null, indent)}${end}`;
    if (damage === null) return text;
    const at = damage[0] % (text.length + 1);
    return text.slice(0, at) + damage[1] + text.slice(at + 1);
  });

const bySchema = (text: string): unknown => {
  try {
    return dnsTemplates.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
};

test('after any listing, it reads the same as the schema, or nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(body, { minLength: 1, maxLength: 6 }), async (bodies) => {
      const listing = listingReader(readTemplate, max);
      for (const text of bodies) {
        const templates = await listing.read(Buffer.from(text));
        const expected = bySchema(text);
        if (templates !== null || expected === null) expect(templates).toEqual(expected);
      }
    }),
    { numRuns: 500 },
  );
});

test('plain listings are read without the schema', async () => {
  const listing = listingReader(readTemplate, max);
  for (const indent of [0, 2]) {
    const text = ` ${JSON.stringify([template(1), template(2)], null, indent)}\n`;
    expect(await listing.read(Buffer.from(text))).toEqual(bySchema(text));
  }
});
