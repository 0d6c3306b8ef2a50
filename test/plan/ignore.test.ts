import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchesIgnore } from '../../src/plan/ignore.ts';
import { data, ignoring } from './records.ts';

describe('a rule', () => {
  test.for([
    [{}, 'www A 192.0.2.1', true, 'that states nothing matches everything'],
    [{ type: 'TXT' }, 'www TXT hello', true, 'by type'],
    [{ type: 'TXT' }, 'www txt hello', true, 'by type in any case'],
    [{ type: 'TXT' }, 'www A 192.0.2.1', false, 'of another type'],
    [{ type: 'TXT', name: 'www', content: 'hello' }, 'www TXT hello', true, 'all that it states agrees'],
    [{ type: 'TXT', name: 'www', content: 'hello' }, 'www TXT bye', false, 'content does not agree'],
    [{ type: 'TXT', name: 'www', content: 'hello' }, 'mail TXT hello', false, 'name does not agree'],
    [{ type: 'A', name: 'www', content: 'hello' }, 'www TXT hello', false, 'type does not agree'],
  ] as const)('%j, %j: %s (%s)', ([rule, line, matches]) => {
    expect(matchesIgnore([ignoring(rule)], data(line))).toBe(matches);
  });

  test('matches if one of several does', () => {
    const rules = [ignoring({ name: 'a' }), ignoring({ name: 'b' })];
    expect(matchesIgnore(rules, data('b A 192.0.2.1'))).toBe(true);
    expect(matchesIgnore(rules, data('c A 192.0.2.1'))).toBe(false);
    expect(matchesIgnore([], data('c A 192.0.2.1'))).toBe(false);
  });
});

describe('a name', () => {
  test.for<[glob: string, name: string | null, matches: boolean, why: string]>([
    ['www', 'WWW', true, 'in canonical form'],
    ['WWW', 'www', true, 'in canonical form'],
    ['bücher', 'xn--bcher-kva', true, 'in canonical form'],
    ['www', 'www.shop', false, 'the whole of it'],
    ['@', null, true, 'the subdomain itself'],
    ['@', '', true, 'the subdomain itself'],
    ['', '@', true, 'the subdomain itself'],
    ['@', 'www', false, 'the subdomain itself'],
    ['BÜCHER.*', 'xn--bcher-kva.shop', true, 'a whole label in canonical form beside a star'],
    ['*.bücher', 'www.xn--bcher-kva', true, 'a whole label in canonical form beside a star'],
    ['*.bücher.*', 'www.bücher.shop', true, 'a whole label in canonical form beside a star'],
    [String.raw`\*.bücher`, '*.xn--bcher-kva', true, 'a literal star and a label in canonical form'],
    ['BÜCHER.', 'xn--bcher-kva', true, 'whatever its final dot'],
    ['www', 'www.', true, 'whatever its final dot'],
    ['*.www.', 'a.www.', true, 'whatever its final dot'],
    ['*.www.', 'a.www', true, 'whatever its final dot'],
    ['*.www', 'a.www.', true, 'whatever its final dot'],
    ['www.*', 'www.', true, 'any text after a dot, none too'],
    ['*', null, true, 'any text, none too'],
    ['*', 'a.b', true, 'any text, dots too'],
    ['_acme-challenge*', '_acme-challenge', true, 'a beginning'],
    ['_acme-challenge*', '_acme-challenge.www', true, 'a beginning'],
    ['_ACME-challenge*', '_acme-Challenge.www', true, 'a beginning in any case'],
    ['_acme-challenge*', 'x._acme-challenge', false, 'a beginning'],
    ['*._domainkey', 'a.b._domainkey', true, 'an end'],
    ['*._domainkey', '_domainkey', false, 'an end with its dot'],
    [String.raw`\*`, '*', true, 'a literal star'],
    [String.raw`\*`, 'www', false, 'a literal star'],
    [String.raw`\*.www`, '*.www', true, 'a literal star and more'],
    [String.raw`\*.*`, '*.www', true, 'a literal star before any text'],
    [String.raw`\*.*`, 'x.www', false, 'a literal star before any text'],
    ['*.www', '*.www', true, 'any text, a star too'],
    [String.raw`a\b`, String.raw`a\b`, true, 'a backslash before anything else is one'],
  ])('%j, %j: %s (%s)', ([glob, name, matches]) => {
    const record = { ...data('www A 192.0.2.1'), name };
    expect(matchesIgnore([ignoring({ name: glob })], record)).toBe(matches);
  });
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

describe('a content', () => {
  test.for([
    ['MX1.example.net.', '@ MX 10 mx1.example.net', true, 'in canonical form'],
    ['2001:DB8:0::1', '@ AAAA 2001:db8::1', true, 'in canonical form'],
    ['5  5060 SIP.example.net', '_sip._tcp SRV 10 5 5060 sip.example.net', true, 'in canonical form'],
    ['token=a', '@ TXT "token=a"', true, 'in canonical form'],
    ['Token=a', '@ TXT token=a', false, 'case matters in a text'],
    ['MX*.example.net', '@ MX 10 mx1.EXAMPLE.net.', true, 'a host in any case'],
    ['2001:DB8:*', '@ AAAA 2001:db8::1', true, 'an address in any case'],
    ['* * SIP.example.net', '_sip._tcp SRV 10 5 5060 sip.example.net', true, 'a target in any case'],
    ['*.acm.example.', 'www CNAME x.acm.example', true, 'a final dot of a host is none'],
    ['*.ACM.example.', 'www CNAME x.acm.example.', true, 'a final dot of a host is none'],
    ['*.acm.example.', '@ MX 10 mx.acm.example', true, 'a final dot of a host is none'],
    ['*.acm.example.', '10 PTR x.acm.example', true, 'a final dot of a host is none'],
    ['5  5060 *.ACM.example.', '_sip._tcp SRV 10 5 5060 sip.acm.example', true, 'that of a target'],
    ['*.acm.example.', '_sip._tcp SRV 10 5 5060 sip.acm.example', true, 'that of a target'],
    ['*.acm.example.', '@ TXT x.acm.example', false, 'a final dot of a text is one'],
    ['*.acm.example.', '@ TXT x.acm.example.', true, 'a final dot of a text is one'],
    ['*.bücher.example', 'www CNAME x.xn--bcher-kva.example.', true, 'a whole label in canonical form'],
    [
      '5 * Bücher.example.',
      '_sip._tcp SRV 10 5 5060 xn--bcher-kva.example',
      true,
      'a whole label of a target',
    ],
    ['2001:0DB8:*', '@ AAAA 2001:db8::1', true, 'a group without its zeros'],
    ['2001:db8:*:00A1', '@ AAAA 2001:db8::a1', true, 'a group without its zeros'],
    ['"token=*"', '@ TXT token=a', true, 'the text itself, not the quotes of the pattern'],
    ['Token=*', '@ TXT token=a', false, 'case matters in a text'],
    ['token=*', '@ TXT "token=a"', true, 'the text itself, not its quotes'],
    ['192.0.2.*', '@ A 192.0.2.1', true, 'an address'],
    ['192.0.2.*', '@ A 192.0.20.1', false, 'an address'],
    ['a*.b', '@ TXT a.c.b', true, 'no pattern but the star'],
    ['a.b', '@ TXT axb', false, 'no pattern but the star'],
    ['*?', '@ TXT a', false, 'no pattern but the star'],
  ] as const)('%j, %j: %s (%s)', ([glob, line, matches]) => {
    expect(matchesIgnore([ignoring({ content: glob })], data(line))).toBe(matches);
  });
});
