import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { redactTexts, redactor } from '../src/secrets.ts';

const inJson = (secret: string): string => JSON.stringify(secret).slice(1, -1);
const inHtml = (secret: string): string =>
  secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const encodings: Record<string, (secret: string) => string> = {
  raw: (secret) => secret,
  'in small letters': (secret) => secret.toLowerCase(),
  'URL-encoded': encodeURIComponent,
  'encoded as a URL': encodeURI,
  'form-encoded': (secret) => new URLSearchParams({ '': secret }).toString().slice(1),
  'JSON-escaped': inJson,
  'JSON-escaped with slashes': (secret) => inJson(secret).replaceAll('/', '\\/'),
  'HTML-escaped': (secret) => inHtml(secret).replaceAll('"', '&quot;').replaceAll("'", '&#39;'),
  'HTML-escaped as text': inHtml,
};

const secret = fc.string({ minLength: 4, maxLength: 40, unit: 'grapheme' });

test.each(Object.entries(encodings))('a secret is replaced, %s', (_, encode) => {
  fc.assert(
    fc.property(secret, (value) => {
      expect(redactor([value])(`<${encode(value)}>`)).toBe('<[secret]>');
    }),
    { examples: [['-{\u00a0 ']] },
  );
});

test('a secret is found inside a longer base64 text', () => {
  const beside = fc.constantFrom('', 'a', 'ab', 'abc', 'user:');
  const long = fc.string({ minLength: 6, maxLength: 40, unit: 'grapheme' });
  fc.assert(
    fc.property(long, beside, beside, (value, before, after) => {
      for (const form of ['base64', 'base64url'] as const) {
        const scrubbed = redactor([value])(`<${Buffer.from(before + value + after).toString(form)}>`);
        expect(scrubbed).toContain('[secret]');
        expect(Buffer.from(scrubbed.replace('[secret]', ''), form).toString()).not.toContain(value);
      }
    }),
  );
});

test('each of thousands is found as one of a few would be', () => {
  const letters = (minLength: number, maxLength: number) =>
    fc.string({ unit: fc.constantFrom('a', 'b'), minLength, maxLength });
  const others = Array.from({ length: 1_000 }, (_, at) => `c${at}cccc`);
  fc.assert(
    fc.property(fc.array(letters(4, 14), { minLength: 1, maxLength: 50 }), letters(0, 40), (own, text) => {
      const longestFirst = own.toSorted((a, b) => b.length - a.length).join('|');
      const expected = text.replaceAll(new RegExp(longestFirst, 'g'), '[secret]');
      expect(redactor([...own, ...others])(text)).toBe(expected);
    }),
    { numRuns: 20 },
  );
});

test('every occurrence of every secret is replaced, and nothing else', () => {
  const redact = redactor(['a.c$', 'token+1', 'token+1-longer']);
  expect(redact('GET /x?user_token=token%2B1&client_token=token%2B1-longer a.c$ abc$ a.c')).toBe(
    'GET /x?user_token=[secret]&client_token=[secret] [secret] abc$ a.c',
  );
});

test.each([[[]], [['']], [['abc']], [['', 'a', 'le']]])('%j: nothing to look for', (secrets) => {
  expect(redactor(secrets)('a cable, abc')).toBe('a cable, abc');
});

test('the start of a secret is replaced if the message is cut off inside it', () => {
  const clean = redactor(['correct-horse-battery-staple']);
  expect(clean('not `correct-horse-batt...`')).toBe('not `[secret]...`');
  expect(clean('not `user correct-horse...` but correct...')).toBe('not `user [secret]...` but correct...');
  expect(clean('not `other-horse-batt...`, correct-horse')).toBe('not `other-horse-batt...`, correct-horse');
  expect(clean('correct-horse-battery…')).toBe('[secret]…');
});

const tokens = ['drifted', 'status', 'update', '2026', 'pass.started'];

test('our own words stay for any tokens; foreign text is redacted', () => {
  const report = {
    status: 'drifted',
    startedAt: '2026-11-20T20:00:00.000Z',
    differences: [{ action: 'update', fields: ['status', 'content'], content: 'update', name: 'status' }],
    message: 'drifted in 2026',
    reason: 'the service answered 500: status 2026',
  };
  expect(redactTexts(report, redactor(tokens))).toEqual({
    ...report,
    differences: [{ action: 'update', fields: ['status', 'content'], content: '[secret]', name: '[secret]' }],
    message: '[secret] in [secret]',
    reason: 'the service answered 500: [secret] [secret]',
  });
});

test.each([
  ['schema', 'dns-template-sync/report/v1', 'template-sync'],
  ['type', 'CNAME', 'CNAME'],
  ['asOf', '2026-11-20T20:00:00.000Z', '2026'],
])('%s is one of our words: %s', (key, word, token) => {
  const { content, ...own } = redactTexts({ [key]: word, content: word }, redactor([token]));
  expect(own).toEqual({ [key]: word });
  expect(content).toContain('[secret]');
});
