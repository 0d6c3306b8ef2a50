import { describe, expect, test } from 'vitest';
import { canonicalRecord } from '../../src/model/canonical.ts';
import type { RecordData } from '../../src/model/record.ts';

const record = (type: string, more: Partial<RecordData> = {}): RecordData => ({
  type,
  name: 'www',
  content: '',
  priority: null,
  ttl: null,
  ...more,
});

const contentOf = (type: string, content: string): string =>
  canonicalRecord(record(type, { content })).content;

describe('type', () => {
  test.for([
    ['a', 'A'],
    ['Cname', 'CNAME'],
    ['naptr', 'NAPTR'],
  ] as const)('%s is %s', ([type, canonical]) => {
    expect(canonicalRecord(record(type)).type).toBe(canonical);
  });
});

describe('name', () => {
  test.for<[string | null, string, string]>([
    [null, '', 'not stated: the subdomain itself'],
    ['', '', 'empty: the subdomain itself'],
    ['@', '', 'the zone file sign for the subdomain itself'],
    ['WWW.Shop', 'www.shop', 'lower case'],
    ['*.Shop', '*.shop', 'a wildcard'],
    ['_DMARC', '_dmarc', 'an underscore'],
    ['www.', 'www.', 'a trailing dot is kept: nobody here knows the zone'],
    ['www.example.net', 'www.example.net', 'nothing is taken off an absolute name'],
    ['##DOMAIN##', '##domain##', 'a placeholder is no more than text'],
    ['{domain}.WWW', '{domain}.www', 'a placeholder beside a label'],
    ['Bücher', 'xn--bcher-kva', 'an A-label'],
    ['XN--BCHER-KVA', 'xn--bcher-kva', 'an A-label in capitals'],
    ['bu\u0308cher', 'xn--bcher-kva', 'a decomposed letter'],
    ['www.Straße', 'www.xn--strae-oqa', 'non-transitional: ß is not ss'],
    ['a。b', 'a.b', 'another script’s full stop'],
    ['１２７', '127', 'digits of another script are no address'],
    ['bücher.{domain}', 'xn--bcher-kva.{domain}', 'label by label'],
    ['{Bü}', '{Bü}', 'what has no A-label stays'],
    ['a\u00a0ü', 'a\u00a0ü', 'what has no A-label stays'],
    ['\u00ad', '\u00ad', 'what has an empty A-label stays: it is not the subdomain itself'],
  ])('%j is %j (%s)', ([name, canonical]) => {
    expect(canonicalRecord(record('A', { name })).name).toBe(canonical);
  });
});

describe('content', () => {
  test.for([
    ['A', '192.0.2.1', '192.0.2.1', 'a dotted quad'],
    ['A', '192.0.2.01', '192.0.2.01', 'leading zeros are nobody knows what'],
    ['A', '##IP##', '##IP##', 'no address'],

    ['AAAA', '2001:DB8:0:0:0:0:0:1', '2001:db8::1', 'lower case, zeros left out'],
    ['AAAA', '::FFFF:192.0.2.1', '::ffff:192.0.2.1', 'a mapped address in dotted decimal'],
    ['AAAA', 'fe80::1%ETH0', 'fe80::1%ETH0', 'a zone index: no address'],
    ['AAAA', '192.0.2.1', '192.0.2.1', 'no address of this kind'],

    ['CNAME', 'Web.Example.NET.', 'web.example.net', 'lower case, the trailing dot dropped'],
    ['CNAME', 'web.example.net..', 'web.example.net..', 'two dots are no host'],
    ['CNAME', 'Bücher.example.', 'xn--bcher-kva.example', 'an A-label'],
    ['CNAME', '##DOMAIN##.', '##domain##', 'a placeholder'],
    ['PTR', 'Host.Example.NET.', 'host.example.net', 'as CNAME'],
    ['MX', 'MX1.example.net.', 'mx1.example.net', 'as CNAME'],
    ['MX', '.', '.', 'the null MX'],

    ['SRV', '5 5060 SIP.example.net.', '5 5060 sip.example.net', 'the target as CNAME'],
    ['SRV', ' 5\t 5060  sip.example.net ', '5 5060 sip.example.net', 'any white space between'],
    ['SRV', '05 05060 sip.example.net', '5 5060 sip.example.net', 'numbers are numbers'],
    ['SRV', '0 0 .', '0 0 .', 'no such service (RFC 2782)'],
    ['SRV', '5 SIP.example.net', '5 SIP.example.net', 'two parts'],
    ['SRV', '5 5060 SIP.example.net x', '5 5060 SIP.example.net x', 'four parts'],
    ['SRV', '5 x SIP.example.net', '5 x SIP.example.net', 'a port that is no number'],

    ['TXT', 'Hello  World ', 'Hello  World ', 'verbatim'],
    ['TXT', '"Hello  World "', 'Hello  World ', 'quoted'],
    ['TXT', '"v=DKIM1; p=" "AB" \t"CD"', 'v=DKIM1; p=ABCD', 'adjacent strings joined'],
    ['TXT', '"a""b"', 'ab', 'adjacent without a blank'],
    ['TXT', '"a" ', 'a', 'a blank behind'],
    ['TXT', '""', '', 'empty'],
    ['TXT', String.raw`"say \"hi\""`, 'say "hi"', 'an escaped quote'],
    ['TXT', String.raw`"a\\b"`, String.raw`a\b`, 'an escaped backslash'],
    ['TXT', String.raw`"a\;b\"`, String.raw`"a\;b\"`, 'the closing quote is escaped'],
    ['TXT', String.raw`"a\;b"`, 'a;b', 'an escape that was not needed'],
    ['TXT', String.raw`"a\059b"`, 'a;b', 'an octet by number'],
    ['TXT', String.raw`"\195\188"`, 'ü', 'octets of UTF-8'],
    ['TXT', String.raw`"\195" "\188"`, 'ü', 'octets of one letter in two strings'],
    ['TXT', String.raw`"\ü"`, 'ü', 'an escaped letter of two octets'],
    ['TXT', String.raw`"\239\187\191a"`, '\ufeffa', 'a byte order mark is text'],
    ['TXT', String.raw`"\255"`, String.raw`"\255"`, 'octets that are not UTF-8'],
    ['TXT', String.raw`"\256"`, String.raw`"\256"`, 'not an octet'],
    ['TXT', String.raw`"\12"`, String.raw`"\12"`, 'two digits'],
    ['TXT', '"a', '"a', 'not closed'],
    ['TXT', '"a" b', '"a" b', 'text behind'],
    ['TXT', '"a" "b', '"a" "b', 'the second not closed'],
    ['TXT', 'a "b"', 'a "b"', 'quotes inside do not make it quoted'],
    ['TXT', ' "a"', ' "a"', 'a blank before'],
    ['TXT', String.raw`a\059b`, String.raw`a\059b`, 'no escapes without quotes'],
    ['TXT', '"ünï 🙂"', 'ünï 🙂', 'letters and signs'],

    ['NS', 'NS1.Example.NET.', 'NS1.Example.NET.', 'a type nobody here knows'],
  ] as const)('%s %j is %j (%s)', ([type, content, canonical]) => {
    expect(contentOf(type, content)).toBe(canonical);
    expect(contentOf(type.toLowerCase(), content)).toBe(canonical);
  });

  test('a quoted text of the maximum length is read at once', () => {
    const long = 'x'.repeat(2_000_000);
    expect(contentOf('TXT', `"${long}" "${long}"`)).toBe(long + long);
    expect(contentOf('TXT', `"${long}" "${long}`)).toBe(`"${long}" "${long}`);
    expect(contentOf('TXT', `"${' '.repeat(2_000_000)}`)).toHaveLength(2_000_001);
    expect(contentOf('TXT', `"x"${' '.repeat(100_000)}x`)).toHaveLength(100_004);
  });
});

describe('priority', () => {
  test.for([
    ['MX', 10, 10],
    ['SRV', 0, 0],
    ['mx', 10, 10],
    ['MX', null, null],
    ['A', 10, null],
    ['TXT', 0, null],
    ['NAPTR', 10, null],
  ] as const)('%s %j is %j', ([type, priority, canonical]) => {
    expect(canonicalRecord(record(type, { priority })).priority).toBe(canonical);
  });
});

test('the TTL is not part of the canonical form: it is compared only if a file states one', () => {
  expect(canonicalRecord(record('A', { ttl: 300 }))).toEqual(canonicalRecord(record('A', { ttl: null })));
});
