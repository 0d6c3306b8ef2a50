import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { scrubber } from '../src/secrets.ts';

const encodings: Record<string, (secret: string) => string> = {
  raw: (secret) => secret,
  'URL-encoded': encodeURIComponent,
  'URL-encoded in small letters': (secret) =>
    encodeURIComponent(secret).replace(/%../g, (octet) => octet.toLowerCase()),
  'encoded as a URL': encodeURI,
  'form-encoded': (secret) => new URLSearchParams({ '': secret }).toString().slice(1),
  'JSON-escaped': (secret) => JSON.stringify(secret).slice(1, -1),
  'JSON within JSON': (secret) => JSON.stringify(JSON.stringify(secret).slice(1, -1)).slice(1, -1),
  'JSON in ASCII': (secret) =>
    secret.replace(/[^\x20-\x7e]|["\\]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  'HTML-escaped': (secret) =>
    secret
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&#39;'),
  'HTML entities in hex': (secret) => secret.replaceAll("'", '&#x27;').replaceAll('/', '&#x2F;'),
};

const secret = fc.string({ minLength: 4, maxLength: 40, unit: 'grapheme' });

test.each(Object.entries(encodings))('a secret is replaced, %s', (_, encode) => {
  fc.assert(
    fc.property(secret, (value) => {
      expect(scrubber([value])(`<${encode(value)}>`)).toBe('<[secret]>');
    }),
  );
});

test('every occurrence of every secret is replaced, and nothing else', () => {
  const scrub = scrubber(['a.c$', 'token+1', 'token+1-longer']);
  expect(scrub('GET /x?user_token=token%2B1&client_token=token%2B1-longer a.c$ abc$ a.c')).toBe(
    'GET /x?user_token=[secret]&client_token=[secret] [secret] abc$ a.c',
  );
});

test('a text without secrets stays as it is', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(scrubber(['never-in-there'])(text)).toBe(text);
    }),
  );
});

test.each([[[]], [['']], [['abc']], [['', 'a', 'le']]])('%j: nothing to look for', (secrets) => {
  expect(scrubber(secrets)('a cable, abc')).toBe('a cable, abc');
});

test('the beginning of a secret is replaced where a message was cut off within it', () => {
  const clean = scrubber(['correct-horse-battery-staple']);
  expect(clean('not `correct-horse-batt...`')).toBe('not `[secret]...`');
  expect(clean('not `user correct-horse...` but correct...')).toBe('not `user [secret]...` but correct...');
  expect(clean('not `other-horse-batt...`, correct-horse')).toBe('not `other-horse-batt...`, correct-horse');
  expect(clean('correct-horse-battery…')).toBe('[secret]…');
});
