import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchesIgnore } from '../../src/plan/ignore.ts';
import type { IgnoreRule } from '../../src/model/template.ts';
import { data, ignoring } from './records.ts';

const isIgnored = (rule: Partial<IgnoreRule>, line: string): boolean =>
  matchesIgnore([ignoring(rule)], data(line));

test.each<[rule: Partial<IgnoreRule>, matching: string[], others: string[]]>([
  [{}, ['www A 192.0.2.1'], []],
  [{ type: 'TXT' }, ['www TXT hello', 'www txt hello'], ['www A 192.0.2.1']],
  [
    { type: 'TXT', name: 'www', content: 'hello' },
    ['www TXT hello'],
    ['www TXT bye', 'mail TXT hello', 'www A hello'],
  ],
])('all that a rule states has to agree: %j', (rule, matching, others) => {
  expect([...matching, ...others].filter((line) => isIgnored(rule, line))).toEqual(matching);
});

test('one of several rules is enough, and none matches nothing', () => {
  const rules = [ignoring({ name: 'a' }), ignoring({ name: 'b' })];
  expect(matchesIgnore(rules, data('b A 192.0.2.1'))).toBe(true);
  expect(matchesIgnore(rules, data('c A 192.0.2.1'))).toBe(false);
  expect(matchesIgnore([], data('c A 192.0.2.1'))).toBe(false);
});

/** Names are compared in canonical form, whatever their final dot; `*` is any text, none and dots too. */
test.each<[glob: string, matching: string, others: string]>([
  ['www', 'WWW www.', 'www.shop'],
  ['WWW', 'www', ''],
  ['bücher', 'xn--bcher-kva', ''],
  ['@', '@', 'www'],
  ['', '@', ''],
  ['BÜCHER.', 'xn--bcher-kva', ''],
  ['BÜCHER.*', 'xn--bcher-kva.shop', ''],
  ['*.bücher', 'www.xn--bcher-kva', ''],
  ['*.bücher.*', 'www.bücher.shop', ''],
  ['*.www.', 'a.www. a.www', ''],
  ['*.www', 'a.www. *.www', ''],
  ['www.*', 'www.', ''],
  ['*', '@ a.b', ''],
  ['_acme-challenge*', '_acme-challenge _acme-challenge.www', 'x._acme-challenge'],
  ['_ACME-challenge*', '_acme-Challenge.www', ''],
  ['*._domainkey', 'a.b._domainkey', '_domainkey'],
  [String.raw`\*`, '*', 'www'],
  [String.raw`\*.www`, '*.www', ''],
  [String.raw`\*.*`, '*.www', 'x.www'],
  [String.raw`\*.bücher`, '*.xn--bcher-kva', ''],
  [String.raw`a\b`, String.raw`a\b`, ''],
])('the name %j is that of %j, and not of %j', (name, matching, others) => {
  const found = `${matching} ${others}`
    .split(' ')
    .filter((one) => one !== '' && isIgnored({ name }, `${one} A 192.0.2.1`));
  expect(found.join(' ')).toBe(matching);
});

test('a name matches like a pattern made of its parts', () => {
  const letters = fc.constantFrom('a', 'b', '.', '-');
  const patterns = new Map([
    ['*', '.*'],
    [String.raw`\*`, String.raw`\*`],
    ['.', String.raw`\.`],
  ]);
  fc.assert(
    fc.property(
      fc.array(fc.oneof(letters, fc.constantFrom('*', String.raw`\*`)), { maxLength: 6 }),
      fc.string({ unit: fc.oneof(letters, fc.constant('*')), maxLength: 6 }),
      (parts, name) => {
        const undotted = parts.at(-1) === '.' && parts.at(-2) !== '.' ? parts.slice(0, -1) : parts;
        const source = (undotted.length > 0 ? undotted : parts)
          .map((part) => patterns.get(part) ?? part)
          .join('');
        const pattern = new RegExp(`^${source}$`);
        const record = { ...data('www A 192.0.2.1'), name };
        const matches = pattern.test(name) || pattern.test(name.replace(/([^.])\.$/, '$1'));
        expect(matchesIgnore([ignoring({ name: parts.join('') })], record)).toBe(matches);
      },
    ),
    { numRuns: 2_000 },
  );
});

/** In canonical form; hosts and addresses in any case, a whole label or group also beside a star. Texts as they are. */
test.each<[glob: string, line: string, matches?: boolean]>([
  ['MX1.example.net.', '@ MX 10 mx1.example.net'],
  ['2001:DB8:0::1', '@ AAAA 2001:db8::1'],
  ['5  5060 SIP.example.net', '_sip._tcp SRV 10 5 5060 sip.example.net'],
  ['token=a', '@ TXT "token=a"'],
  ['Token=a', '@ TXT token=a', false],
  ['MX*.example.net', '@ MX 10 mx1.EXAMPLE.net.'],
  ['2001:DB8:*', '@ AAAA 2001:db8::1'],
  ['* * SIP.example.net', '_sip._tcp SRV 10 5 5060 sip.example.net'],
  ['*.acm.example.', 'www CNAME x.acm.example'],
  ['*.ACM.example.', 'www CNAME x.acm.example.'],
  ['*.acm.example.', '@ MX 10 mx.acm.example'],
  ['*.acm.example.', '10 PTR x.acm.example'],
  ['5  5060 *.ACM.example.', '_sip._tcp SRV 10 5 5060 sip.acm.example'],
  ['*.acm.example.', '_sip._tcp SRV 10 5 5060 sip.acm.example'],
  ['*.acm.example.', '@ TXT x.acm.example', false],
  ['*.acm.example.', '@ TXT x.acm.example.'],
  ['*.bücher.example', 'www CNAME x.xn--bcher-kva.example.'],
  ['5 * Bücher.example.', '_sip._tcp SRV 10 5 5060 xn--bcher-kva.example'],
  ['2001:0DB8:*', '@ AAAA 2001:db8::1'],
  ['2001:db8:*:00A1', '@ AAAA 2001:db8::a1'],
  ['"token=*"', '@ TXT token=a'],
  ['Token=*', '@ TXT token=a', false],
  ['token=*', '@ TXT "token=a"'],
  ['192.0.2.*', '@ A 192.0.2.1'],
  ['192.0.2.*', '@ A 192.0.20.1', false],
  ['a*.b', '@ TXT a.c.b'],
  ['a.b', '@ TXT axb', false],
  ['*?', '@ TXT a', false],
])('the content %j, for %j', (content, line, matches = true) => {
  expect(isIgnored({ content }, line)).toBe(matches);
});
