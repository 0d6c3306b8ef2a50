import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { parseFile } from '../../src/desired/parse-file.ts';
import { loadFiles } from './load-files.ts';

const recordsOf = async (file: string | Uint8Array): Promise<readonly unknown[] | undefined> => {
  const state = await loadFiles({ 'a.yaml': file });
  expect(state.lines).toEqual([]);
  return state.templates[0]?.records.map(({ type, name, content, ttl }) => [type, name, content, ttl]);
};

const file = 'template: a\nttl: 1h\nrecords:\n  - type: TXT\n    name: no\n    content: |-\n      one\n';
const expected = [['TXT', 'no', 'one', 3_600]];

describe('a file has the same meaning', () => {
  const spellings: [what: string, file: string | Uint8Array][] = [
    ['with line feeds', file],
    ['with carriage returns and line feeds', file.replaceAll('\n', '\r\n')],
    ['with a byte order mark', `\uFEFF${file}`],
    ['with %YAML 1.2', `%YAML 1.2\n---\n${file}`],
    ['with a document end', `${file}...\n`],
    ['without a last line feed', file.trimEnd()],
    [
      'as JSON',
      JSON.stringify({ template: 'a', ttl: '3600', records: [{ type: 'TXT', name: 'no', content: 'one' }] }),
    ],
    ['with core tags', file.replace('no', '!!str no').replace('1h', '!!int 3600')],
    [
      'with an alias',
      'template: &a a\nttl: 1h\nvars: {x: &no no}\nrecords: [{type: TXT, name: *no, content: one}]\n',
    ],
    [
      'with a list from an alias',
      'template: a\nttl: 1h\nrecords: [{type: TXT, name: no, content: &x [one]}]\nsubdomains: *x\n',
    ],
  ];
  test.for(spellings)('%s', async ([, spelling]) => {
    expect(await recordsOf(spelling)).toEqual(expected);
  });

  test('with a block text over several lines, CRLF or not', async () => {
    const folded = 'template: a\nrecords:\n  - type: TXT\n    content: >-\n      v=spf1\n      -all\n';
    expect(await recordsOf(folded.replaceAll('\n', '\r\n'))).toEqual([['TXT', null, 'v=spf1 -all', null]]);
  });
});

test('many aliases of one value are harmless', async () => {
  const records = Array.from({ length: 500 }, (_, index) => `  - {type: A, name: n${index}, content: *a}\n`);
  const content = `template: a\nvars: {a: &a 192.0.2.1}\nrecords:\n${records.join('')}`;
  expect(await recordsOf(content)).toHaveLength(500);
});

test('endless nesting, repetition and size are refused early', () => {
  const hostile = [
    '['.repeat(200_000),
    '{t'.repeat(20_000),
    `@ ${'[{a: '.repeat(20_000)}`,
    '{a: '.repeat(100_000),
    '- '.repeat(100_000),
    '? '.repeat(100_000),
    '- - - - '.repeat(50_000),
    `a: ${'&x '.repeat(10_000)}`,
    `a: ${'!x '.repeat(10_000)}`,
    `"${'\\'.repeat(100_001)}`,
    `${'a:\n '.repeat(30)}${'b: '.repeat(5_000)}`,
    '[],'.repeat(600_000),
  ];
  for (const source of hostile)
    expect(parseFile(Buffer.from(source), false).problems.length).toBeGreaterThan(0);
});

const styles = ['PLAIN', 'QUOTE_DOUBLE', 'QUOTE_SINGLE', 'BLOCK_LITERAL', 'BLOCK_FOLDED'] as const;
const special = Array.from('${}a"\'\\:#,[]*&!|>%@`- \n\t~;=.0é😀');
/** What YAML does not allow as it is, and the writer does not escape (YAML 1.2 §5.1). */
const unprintable = /[\x7f-\x84\x86-\x9f\ufffe\uffff]/;
const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }).filter((text) => !unprintable.test(text)),
  fc.string({ unit: fc.constantFrom(...special), maxLength: 40 }),
  fc.constantFrom(
    'null',
    '~',
    'no',
    'on',
    'true',
    '010',
    '0x1f',
    '1e3',
    '1.10',
    '.inf',
    '<<',
    '2026-11-20',
    '=',
    '-',
    '',
  ),
);

/** A literal `${` is written with one more `$`. */
const escaped = (text: string): string => text.split('${').join('$${');

/** The writer of block texts loses those that are nothing but blanks. */
const written = (
  template: string,
  record: Record<string, string | string[]>,
  style: (typeof styles)[number],
): string => {
  const hasBlank = Object.values(record).some((value) => typeof value === 'string' && value.trim() === '');
  const defaultStringType = hasBlank ? 'QUOTE_DOUBLE' : style;
  return stringify(
    { template, records: [record] },
    { defaultStringType, defaultKeyType: 'PLAIN', lineWidth: 0 },
  );
};

/** Many at once, since each load has a directory of its own. */
const many = fc.array(fc.tuple(texts, fc.constantFrom(...styles)), { minLength: 50, maxLength: 50 });

/** What becomes of a file with each of these records: its problems, and its record. */
const loadEach = async (
  records: readonly (readonly [Record<string, string | string[]>, (typeof styles)[number]])[],
) => {
  const files = records.map(
    ([record, style], at) => [`${at}.yaml`, written(`t${at}`, record, style)] as const,
  );
  const { lines, templates } = await loadFiles(Object.fromEntries(files));
  return records.map((_, at) => ({
    lines: lines.filter((line) => line.startsWith(`templates/${at}.yaml:`)),
    record: templates.find(({ template }) => template === `t${at}`)?.records[0],
  }));
};

test('any text is the content of its record unchanged, however it is quoted', async () => {
  const allow = [
    'control-character',
    'empty-content',
    'spf-open',
    'dmarc-place',
    'text-notation',
    'invisible-character',
  ];
  await fc.assert(
    fc.asyncProperty(many, async (cases) => {
      const found = await loadEach(
        cases.map(([text, style]) => [{ type: 'TXT', name: 'n', content: escaped(text), allow }, style]),
      );
      for (const [at, { lines, record }] of found.entries())
        expect([lines, record?.content]).toEqual([[], cases[at]![0]]);
    }),
    { numRuns: 10 },
  );
});

test('any text is the name of its record unchanged, or refused by a check', async () => {
  await fc.assert(
    fc.asyncProperty(many, async (cases) => {
      const found = await loadEach(
        cases.map(([text, style]) => [{ type: 'A', name: escaped(text), content: '192.0.2.1' }, style]),
      );
      for (const [at, { lines, record }] of found.entries()) {
        const [text] = cases[at]!;
        expect(record?.name).toEqual(
          lines.length > 0 ? undefined : text === '' || text === '@' ? null : text,
        );
      }
    }),
    { numRuns: 10 },
  );
});
