import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { parseFile } from '../../src/desired/parse-file.ts';
import { anyText } from '../any-text.ts';
import { loadFiles } from './load-files.ts';

const recordsOf = async (file: string | Uint8Array): Promise<readonly unknown[] | undefined> => {
  const state = await loadFiles({ 'a.yaml': file });
  expect(state.lines).toEqual([]);
  return state.templates[0]?.records.map(({ type, name, content, ttl }) => [type, name, content, ttl]);
};

const file = 'template: a\nttl: 1h\nrecords:\n  - type: TXT\n    name: no\n    content: |-\n      one\n';

test.for<[what: string, file: string | Uint8Array]>([
  ['with line feeds', file],
  ['with carriage returns and line feeds', file.replaceAll('\n', '\r\n')],
  ['with a byte order mark', `\uFEFF${file}`],
  ['with %YAML 1.2', `%YAML 1.2\n---\n${file}`],
  ['with a document end', `${file}...\n`],
  ['without a last line feed', file.trimEnd()],
  ['as JSON', '{"template":"a","ttl":"3600","records":[{"type":"TXT","name":"no","content":"one"}]}'],
  ['with core tags', file.replace('no', '!!str no').replace('1h', '!!int 3600')],
  ['with an alias', file.replace('a\n', '&a a\nvars: {x: &no no}\n').replace(': no', ': *no')],
  ['with a list from an alias', file.replace('|-\n      one', '&x [one]\nsubdomains: *x')],
  ['with a folded text', file.replaceAll('\n', '\r\n').replace('|-', '>-')],
])('a file has the same meaning %s', async ([, spelling]) => {
  expect(await recordsOf(spelling)).toEqual([['TXT', 'no', 'one', 3_600]]);
});

test('a text over several lines is one with CRLF too, and many aliases of one value are harmless', async () => {
  const folded = 'template: a\nrecords:\n  - type: TXT\n    content: >-\n      v=spf1\n      -all\n';
  expect(await recordsOf(folded.replaceAll('\n', '\r\n'))).toEqual([['TXT', null, 'v=spf1 -all', null]]);
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
  anyText({ maxLength: 40 }).filter((text) => !unprintable.test(text)),
  fc.string({ unit: fc.constantFrom(...special), maxLength: 40 }),
  fc.constantFrom(...'null ~ no on true 010 0x1f 1e3 1.10 .inf << 2026-11-20 = -'.split(' '), ''),
);

/** The content of a record of its own for each text, or its name. */
const records = fc.record({ text: texts, style: fc.constantFrom(...styles), isName: fc.boolean() });

const written = ({ text, style, isName }: typeof records extends fc.Arbitrary<infer One> ? One : never) => {
  // A literal `${` is written with one more `$`.
  const value = text.split('${').join('$${');
  const allow = 'control-character empty-content spf-open dmarc-place text-notation invisible-character';
  const record = isName
    ? { type: 'A', name: value, content: '192.0.2.1' }
    : { type: 'TXT', name: 'n', content: value, allow: allow.split(' ') };
  // The writer of block texts loses those that are nothing but blanks.
  const defaultStringType = value.trim() === '' ? 'QUOTE_DOUBLE' : style;
  return (template: string): string =>
    stringify({ template, records: [record] }, { defaultStringType, defaultKeyType: 'PLAIN', lineWidth: 0 });
};

test('any text is a content unchanged, however it is quoted; and a name, unless a check refuses it', async () => {
  // Many at once, since each load has a directory of its own.
  const many = fc.array(records, { minLength: 100, maxLength: 100 });
  await fc.assert(
    fc.asyncProperty(many, async (cases) => {
      const files = cases.map((one, at) => [`${at}.yaml`, written(one)(`t${at}`)] as const);
      const { problems, templates } = await loadFiles(Object.fromEntries(files));
      const refused = new Set(problems.map((one) => one.file));
      for (const [at, { text, isName }] of cases.entries()) {
        const record = templates.find(({ template }) => template === `t${at}`)?.records[0];
        const name = text === '' || text === '@' ? null : text;
        if (!isName) expect(record?.content).toBe(text);
        else expect(record?.name).toBe(refused.has(`templates/${at}.yaml`) ? undefined : name);
      }
    }),
    { numRuns: 10 },
  );
});
