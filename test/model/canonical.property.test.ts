import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalRecord, type CanonicalRecord } from '../../src/model/canonical.ts';
import { recordTypes, type RecordData } from '../../src/model/record.ts';

/** Texts made of the pieces that mean something in names and contents, so that most of them collide. */
const pieces = (...more: string[]): fc.Arbitrary<string> =>
  fc
    .array(fc.constantFrom('a', 'A', 'b', '.', '@', '*', 'ü', 'Ü', '。', '\u00ad', '##DOMAIN##', ...more), {
      maxLength: 6,
    })
    .map((parts) => parts.join(''));

const labels = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'B', 'ü', '1', '-', '_', '*') }),
  fc.string({ unit: fc.constantFrom('a', 'B', '#', '{', '}') }),
);
const hosts = fc.array(labels).map((parts) => parts.join('.'));

const contents = fc.oneof(
  pieces(' ', '\t', '"', '\\', '\\059', ';', '🙂'),
  pieces('0', '5', ' ', '05 ', '5060 '),
  fc.ipV4(),
  fc.ipV6(),
  fc.ipV6().map((address) => address.toUpperCase()),
  fc.string({ unit: 'binary' }),
);

const records: fc.Arbitrary<RecordData> = fc.record({
  type: fc.constantFrom(...recordTypes, 'a', 'mx', 'NS', 'CAA'),
  name: fc.option(fc.oneof(pieces(), fc.string({ unit: 'binary', maxLength: 8 }))),
  content: contents,
  priority: fc.constantFrom(null, 0, 10),
  ttl: fc.constantFrom(null, 300),
});

const again = ({ type, name, content, priority }: CanonicalRecord): CanonicalRecord =>
  canonicalRecord({ type, name, content, priority, ttl: null });

describe('the canonical form', () => {
  test('of a canonical form is itself (except quotes of a text)', () => {
    fc.assert(
      fc.property(records, (record) => {
        const canonical = canonicalRecord(record);
        expect(again(canonical)).toEqual(
          canonical.type === 'TXT' ? { ...canonical, content: again(canonical).content } : canonical,
        );
      }),
      { numRuns: 2_000 },
    );
  });

  test('does not depend on case where the DNS ignores case', () => {
    fc.assert(
      fc.property(hosts, fc.constantFrom('CNAME', 'MX', 'PTR'), (text, type) => {
        const form = (name: string): CanonicalRecord =>
          canonicalRecord({ type, name, content: name, priority: null, ttl: null });
        expect(form(text.toLowerCase())).toEqual(form(text.toUpperCase()));
      }),
    );
  });

  test('of a text is the text, for any quoting and splitting', () => {
    const quote = (text: string, escapes: readonly boolean[]): string =>
      [...Buffer.from(text, 'utf8')]
        .map((octet, at) => {
          const sign = String.fromCharCode(octet);
          if (octet > 126 || escapes[at % escapes.length]) return `\\${String(octet).padStart(3, '0')}`;
          return sign === '"' || sign === '\\' ? `\\${sign}` : sign;
        })
        .join('');
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 4 }),
        fc.array(fc.boolean(), { minLength: 1, maxLength: 7 }),
        (parts, escapes) => {
          const content = parts.map((part) => `"${quote(part, escapes)}"`).join(' ');
          expect(
            canonicalRecord({ type: 'TXT', name: null, content, priority: null, ttl: null }).content,
          ).toBe(parts.join(''));
        },
      ),
    );
  });

  test('of an address is the same for all spellings, and still that address', () => {
    const groups = fc.array(fc.constantFrom(0, 0, 0, 1, 0xffff, 0xdb8), { minLength: 8, maxLength: 8 });
    const form = (content: string): string =>
      canonicalRecord({ type: 'AAAA', name: null, content, priority: null, ttl: null }).content;
    fc.assert(
      fc.property(groups, (numbers) => {
        const full = numbers.map((number) => number.toString(16).padStart(4, '0')).join(':');
        const short = numbers.map((number) => number.toString(16).toUpperCase()).join(':');
        const canonical = form(full);
        expect(form(short)).toBe(canonical);
        expect(expand(canonical)).toEqual(numbers);
      }),
    );
  });
});

/** The eight numbers of an address, read without the code under test. */
const expand = (address: string): number[] => {
  const plain = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) =>
    [Number(a) * 256 + Number(b), Number(c) * 256 + Number(d)].map((group) => group.toString(16)).join(':'),
  );
  const [head = '', tail] = plain.split('::');
  const numbers = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  if (tail === undefined) return numbers(head);
  const [before, after] = [numbers(head), numbers(tail)];
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
};
