import { describe, expect, it } from 'vitest';
import { dataOf, type RecordData } from '../../../src/model/record.ts';
import { heldOf } from './held.ts';

const read = (...lines: readonly string[]) => heldOf(lines.join('\n'), 'example.net', 'a zone');

const recordsOf = (...lines: readonly string[]): RecordData[] => {
  const { records, leftOut } = read(...lines);
  expect(leftOut).toEqual([]);
  return records.map(dataOf);
};

const a = { type: 'A', name: null, content: '192.0.2.1', priority: null, ttl: null };

describe('a record', () => {
  const text = (content: string) => ({ ...a, type: 'TXT', content, ttl: 60 });
  it.each([
    ['example.net.				      3600 IN A		192.0.2.1', { ...a, ttl: 3_600 }],
    ['@ A 192.0.2.1', a],
    [
      'WWW.Example.NET. 0 in aaaa 2001:DB8::1 ; x',
      { ...a, type: 'AAAA', name: 'WWW', content: '2001:DB8::1', ttl: 0 },
    ],
    ['*.a CNAME Target.example.org.', { ...a, type: 'CNAME', name: '*.a', content: 'Target.example.org' }],
    ['a CNAME b', { ...a, type: 'CNAME', name: 'a', content: 'b.example.net' }],
    ['a CNAME @', { ...a, type: 'CNAME', name: 'a', content: 'example.net' }],
    ['@ 2147483647 MX 0 .', { ...a, type: 'MX', content: '.', priority: 0, ttl: 2_147_483_647 }],
    [
      '_s._tcp SRV 1  2\t5060 sip',
      { ...a, type: 'SRV', name: '_s._tcp', content: '2 5060 sip.example.net', priority: 1 },
    ],
    ['7.0/25 PTR host.example.org.', { ...a, type: 'PTR', name: '7.0/25', content: 'host.example.org' }],
    ['\\042.a A 192.0.2.1', { ...a, name: '*.a' }],
    ['@ 1w2d3h4m5s A 192.0.2.1', { ...a, ttl: 788_645 }],
    ['@ IN 1H A 192.0.2.1', { ...a, ttl: 3_600 }],
    ['@ [AGE:3712345] 600 A 192.0.2.1', { ...a, ttl: 600 }],
    ['@ 60 TXT "v=spf1 mx" " -all"\r', text('v=spf1 mx -all')],
    ['@ 60 TXT "a; (b) \\"c\\" \\\\ \\099 caf\\195\\169"', text('a; (b) "c" \\ c café')],
    ['@ 60 TXT google-site-verification=x', text('google-site-verification=x')],
    ['@ 60 TXT "a" b', text('ab')],
    [`@ 60 TXT "${'a'.repeat(300)}"`, text('a'.repeat(300))],
    // As texts without quotation marks they would be other texts.
    ['@ 60 TXT "\\"a\\""', text('"\\"a\\""')],
    ['@ 60 TXT "a\\010b" "c"', text('"a\\010b" "c"')],
    ['@ 60 TXT "\\200"', text('"\\200"')],
    ['@ 60 TXT ""', text('""')],
  ])('%s', (line, record) => {
    expect(recordsOf(line)).toEqual([record]);
  });
});

describe('what depends on lines before', () => {
  it.each<[string, string[], (string | null)[]]>([
    [
      'the name',
      ['www A 192.0.2.1', ' A 192.0.2.2', '\tTXT "x"', '@ A 192.0.2.3'],
      ['www', 'www', 'www', null],
    ],
    ['$ORIGIN', ['$ORIGIN lab', 'a A 192.0.2.1', '$origin example.net.', 'b A 192.0.2.1'], ['a.lab', 'b']],
    [
      '$ORIGIN of the root',
      ['$ORIGIN .', 'a.example.net A 192.0.2.1', 'example.net A 192.0.2.1'],
      ['a', null],
    ],
    ['parentheses', ['a (', ' 60', ' A', '192.0.2.1 ; x', ')', ' ( A ( 192.0.2.2 ) )'], ['a', 'a']],
  ])('%s', (_, lines, names) => {
    expect(recordsOf(...lines).map(({ name }) => name)).toEqual(names);
  });

  const soa = (ttl: string): string => `@ ${ttl} SOA ns h ( 1 2 3 4 300 )`;
  it.each<[string, string[], (number | null)[]]>([
    ['nothing says it', ['a A 192.0.2.1'], [null]],
    [
      '$TTL',
      ['a 60 A 192.0.2.1', '$TTL 1h', 'b A 192.0.2.1', 'c 5 A 192.0.2.1', '$TTL 2', 'd A 192.0.2.1'],
      [60, 3_600, 5, 2],
    ],
    ['the last one', ['a 60 A 192.0.2.1', 'b A 192.0.2.1'], [60, 60]],
    ['that of the SOA record', [soa('77'), 'a A 192.0.2.1'], [77]],
    ['its minimum', [soa(''), 'a A 192.0.2.1', 'b 60 A 192.0.2.1', 'c A 192.0.2.1'], [300, 60, 300]],
    ['$TTL, not its minimum', ['$TTL 9', soa(''), 'a A 192.0.2.1'], [9]],
  ])('the TTL: %s', (_, lines, ttls) => {
    expect(read(...lines).records.map(({ ttl }) => ttl)).toEqual(ttls);
  });

  it('a whole name without its final dot is one, and this is said', () => {
    const { records, notes } = read(
      'example.net MX 10 Mail.example.net',
      ' A 192.0.2.1',
      'myexample.net A 192.0.2.1',
    );
    expect(records.map(({ name, content }) => [name, content])).toEqual([
      [null, 'Mail.example.net'],
      [null, '192.0.2.1'],
      ['myexample.net', '192.0.2.1'],
    ]);
    expect(notes).toEqual([
      'line 1: `example.net` has no final dot, and is read as a whole name',
      'line 1: `Mail.example.net` has no final dot, and is read as a whole name',
    ]);
  });
});

describe('it is refused', () => {
  it.each([
    [
      '$INCLUDE other.zone',
      /^a zone:1: `\$INCLUDE` cannot be followed here: named-compilezone .* example\.net FILE/,
    ],
    ['$GENERATE 1-9 a$ A 192.0.2.$', /`\$GENERATE` cannot be followed here/],
    ['$ORIGIN', /`\$ORIGIN` cannot be followed here/],
    ['$TTL soon', /`soon` is not a TTL/],
    ['\t60 IN A 192.0.2.1', /begins with a blank, and no name comes before it/],
    ['a..example.net. 60 IN A 192.0.2.1', /`a\.\.example\.net\.` is not a name/],
    [`${'a'.repeat(64)} 60 IN A 192.0.2.1`, /is not a name/],
    [`${'a.'.repeat(122)}a 60 IN A 192.0.2.1`, /is not a name/],
    ['example.net. 2147483648 IN A 192.0.2.1', /`2147483648` is not a TTL/],
    ['www 192.0.2.1', /`192\.0\.2\.1` is not the type of a record/],
    ['www 60 IN', /^a zone:1: it has no type$/],
    ['@ SOA ns1 hostmaster (', /^a zone:1: nothing closes its parenthesis/],
    ['@ A 192.0.2.1 )', /closes a parenthesis that nothing opens/],
    ['@ CAA 0 issue "open', /a quotation mark that nothing closes/],
    ['@ MX 10 mail..', /`mail\.\.` is not the name of a host/],
    ['@ A host', /`host` is not an IPv4 address/],
    ['@ AAAA 192.0.2.1', /is not an IPv6 address/],
    ['@ A 192.0.2.1 192.0.2.2', /is not what a record of type A has$/],
    ['@ A', /no data follows the type A/],
    ['@ MX mail.example.net.', /is not what a record of type MX has$/],
    ['@ MX 65536 mail.example.net.', /`65536` is not a priority$/],
    ['_a._tcp SRV 1 70000 1 a.example.net.', /numbers from 0 to 65535$/],
    ['@ TXT v=spf1 mx -all', /`v=spf1`: a text with blanks or a `;` has to be in quotation marks/],
    ['@ TXT v=DKIM1; k=rsa', /`v=DKIM1`: a text with blanks or a `;` has to be in quotation marks/],
    ['@ TXT "\\256"', /is not what a record of type TXT has$/],
    ['example.org. SOA ns h 1 2 3 4 5', /^a zone:1: this is the zone example\.org, not example\.net$/],
    [
      'www.example.org. A 192.0.2.1',
      /^a zone: no record in it can be in a template: line 1 is not below example\.net$/,
    ],
    ['; nothing', /^a zone: there is no record in it$/],
    ['@ NS ns', /^a zone: no record in it can be in a template$/],
    [`@ ${'1'.repeat(60)}! A 192.0.2.1`, /is not the type of a record/],
  ])('%s', (line, message) => {
    expect(() => read(line)).toThrow(message);
  });

  it('with the number of its line', () => {
    expect(() => read('; a comment', '', 'a (', '60 A 192.0.2.1)', 'www A host')).toThrow(/^a zone:5: /);
  });
});

describe('what dig prints of a transfer', () => {
  const head = '; <<>> DiG 9.18.28 <<>> @ns1.example.org axfr example.net';
  const soa = 'example.net. 60 IN SOA ns1.example.org. h.example.org. 1 2 3 4 5';
  const record = 'www.example.net. 60 IN A 192.0.2.1';

  it('is whole if the SOA record comes again', () => {
    expect(read(head, soa, record, soa, ';; XFR size: 3 records').records).toHaveLength(1);
  });

  it.each([
    ['no record', [head], /there is no record in it/],
    ['the beginning', [head, soa, record], /^a zone:3: the transfer does not end with the SOA record/],
    ['the SOA record alone', [head, soa], /no record in it can be in a template/],
    ['the end', [head, record, soa], /does not end with the SOA record/],
    ['more than a transfer', [head, soa, record, soa, record], /does not end with the SOA record/],
    ['the beginning, of kdig', [';; AXFR for example.net.', soa, record], /does not end with the SOA record/],
    ['a refusal', [record, '; Transfer failed.'], /^a zone:2: the transfer failed, so records are missing/],
    [
      'a reset',
      [soa, record, soa, ';; communications error to 192.0.2.53#53: connection reset'],
      /zone:4: the transfer failed/,
    ],
    [
      'a timeout',
      [';; connection timed out; no servers could be reached', record],
      /zone:1: the transfer failed/,
    ],
    [
      'nobody there',
      [';; Connection to 192.0.2.53#53(192.0.2.53) for example.net failed: connection refused.'],
      /zone:1: the transfer failed/,
    ],
    [
      'another status',
      [';; ->>HEADER<<- opcode: QUERY, status: SERVFAIL, id: 4', record],
      /zone:1: the transfer failed/,
    ],
  ])('is refused if it is cut: %s', (_, lines, message) => {
    expect(() => read(...lines)).toThrow(message);
  });
});

it('what a template cannot hold is named with its line, name, type, value and reason', () => {
  const soa = 'example.net. 60 IN SOA ns1.example.net. hostmaster.example.net. 1 7200 900 1209600 60';
  const { records, leftOut } = read(
    soa,
    'intern 60 IN NS ns1.intern',
    'a.example.net. 60 IN TYPE65534 \\# 4 0A000001',
    'a\\.b.example.net. 60 IN A 192.0.2.1',
    '_sip._tls.@ SRV 100 1 443 sip.example.org.',
    'a.example.net. 60 IN CNAME sp\\032ace.example.net.',
    '_Parked-7.example.net. 60 IN TXT "parked"',
    'www.example.net. 60 IN A 192.0.2.1',
    'WWW.example.net. 300 IN A 192.0.2.1',
    '@ CNAME shop.example.org.',
    '@ ALIAS shop.example.org.',
    '@ PTR host',
    'b A \\# 4 C0000201',
    'c CH TXT "x"',
    'ns.example.org. A 192.0.2.53',
    '@ RRSIG A 13 2 60 0 0 1 example.net. AAAA',
    soa,
  );
  expect(records).toEqual([{ ...a, id: 8, name: 'www', ttl: 60 }]);
  expect(leftOut).toEqual([
    'line 1 has a type that a file cannot describe: { type: SOA, content: ns1.example.net. hostmaster.example.net. 1 7200 900 1209600 60, ttl: 60 }',
    'line 2 has a type that a file cannot describe: { type: NS, name: intern, content: ns1.intern, ttl: 60 }',
    "line 3 has a type that a file cannot describe: { type: TYPE65534, name: a, content: '\\# 4 0A000001', ttl: 60 }",
    'line 4 has a name that a template cannot state: { type: A, name: a\\.b, content: 192.0.2.1, ttl: 60 }',
    "line 5 has a name that a template cannot state: { type: SRV, name: _sip._tls.@, content: '100 1 443 sip.example.org.', ttl: 60 }",
    'line 6 has a host that a template cannot state: { type: CNAME, name: a, content: sp\\032ace.example.net., ttl: 60 }',
    'line 7 is parked: { type: TXT, name: _Parked-7, content: parked, ttl: 60 }',
    'line 9 is a copy of line 8: { type: A, name: WWW, content: 192.0.2.1, ttl: 300 }',
    'line 10 cannot stand beside SOA and NS records: { type: CNAME, content: shop.example.org., ttl: 300 }',
    'line 11 has a type that a file cannot describe: { type: ALIAS, content: shop.example.org., ttl: 300 }',
    'line 12 has no name, which it needs at the service: { type: PTR, content: host, ttl: 300 }',
    "line 13 is in the notation of unknown types: { type: A, name: b, content: '\\# 4 C0000201', ttl: 300 }",
    'line 14 has a type that a file cannot describe: { type: CH, name: c, content: TXT "x", ttl: 300 }',
    'line 15 is not below example.net: { type: A, name: ns.example.org., content: 192.0.2.53, ttl: 300 }',
  ]);
});
