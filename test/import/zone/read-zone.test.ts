import { describe, expect, it } from 'vitest';
import { rowsOf } from '../../rows.ts';
import { formatRecord } from '../../scenarios/records.ts';
import { heldOf } from './held.ts';

const read = (...lines: readonly string[]) =>
  heldOf(lines.join('\n').replaceAll('<tab>', '\t'), 'example.net', 'a zone');

const shownOf = (...lines: readonly string[]): string[] => {
  const { records, leftOut } = read(...lines);
  expect(leftOut).toEqual([]);
  return records.map((record) => formatRecord(record));
};

/** A line, and the record as template files have it. The last ones would be other texts without quotation marks. */
const records = rowsOf(String.raw`
  example.net.<tab><tab>  3600 IN A<tab>192.0.2.1 | @ 3600 A 192.0.2.1
  @ A 192.0.2.1 | @ A 192.0.2.1
  WWW.Example.NET. 0 in aaaa 2001:DB8::1 ; x | WWW 0 AAAA 2001:DB8::1
  *.a CNAME Target.example.org. | *.a CNAME Target.example.org
  a CNAME b | a CNAME b.example.net
  a CNAME @ | a CNAME example.net
  @ 2147483647 MX 0 . | @ 2147483647 MX 0 .
  _s._tcp SRV 1  2<tab>5060 sip | _s._tcp SRV 1 2 5060 sip.example.net
  7.0/25 PTR host.example.org. | 7.0/25 PTR host.example.org
  \042.a A 192.0.2.1 | *.a A 192.0.2.1
  @ 1w2d3h4m5s A 192.0.2.1 | @ 788645 A 192.0.2.1
  @ IN 1H A 192.0.2.1 | @ 3600 A 192.0.2.1
  @ [AGE:3712345] 600 A 192.0.2.1 | @ 600 A 192.0.2.1
  @ 60 TXT "a; (b) \"c\" \\ \099 caf\195\169" | @ 60 TXT a; (b) "c" \ c café
  @ 60 TXT google-site-verification=x | @ 60 TXT google-site-verification=x
  @ 60 TXT "a" b | @ 60 TXT ab
  @ 60 TXT "${'a'.repeat(300)}" | @ 60 TXT ${'a'.repeat(300)}
  @ 60 TXT "\"a\"" | @ 60 TXT "\"a\""
  @ 60 TXT "a\010b" "c" | @ 60 TXT "a\010b" "c"
  @ 60 TXT "\200" | @ 60 TXT "\200"
  @ 60 TXT "" | @ 60 TXT ""`);

it.each([...records, ['@ 60 TXT "v=spf1 mx" " -all"\r', '@ 60 TXT v=spf1 mx -all']])(
  '%s is a record',
  (line = '', record = '') => {
    expect(shownOf(line)).toEqual([record]);
  },
);

/** Lines before others, and the names of the records, or their TTLs. */
it.each<[what: string, lines: string, names: string]>([
  ['the name', 'www A 192.0.2.1\n A 192.0.2.2\n\tTXT "x"\n@ A 192.0.2.3', 'www www www @'],
  ['$ORIGIN', '$ORIGIN lab\na A 192.0.2.1\n$origin example.net.\nb A 192.0.2.1', 'a.lab b'],
  ['$ORIGIN of the root', '$ORIGIN .\na.example.net A 192.0.2.1\nexample.net A 192.0.2.1', 'a @'],
  ['parentheses', 'a (\n 60\n A\n192.0.2.1 ; x\n)\n ( A ( 192.0.2.2 ) )', 'a a'],
])('%s may be in lines before', (_, lines, names) => {
  expect(
    shownOf(...lines.split('\n'))
      .map((record) => record.split(' ')[0])
      .join(' '),
  ).toBe(names);
});

/** `a`, `b`, … are records with the TTL that follows; `SOA` is that record, whose minimum is 300. */
it.each<[what: string, lines: string, ttls: (number | null)[]]>([
  ['nothing', 'a', [null]],
  ['$TTL', 'a 60; $TTL 1h; b; c 5; $TTL 2; d', [60, 3_600, 5, 2]],
  ['the last record', 'a 60; b', [60, 60]],
  ['the SOA record', 'SOA 77; a', [77]],
  ['its minimum', 'SOA; a; b 60; c', [300, 60, 300]],
  ['$TTL, not its minimum', '$TTL 9; SOA; a', [9]],
])('the TTL is that of %s', (_, text, ttls) => {
  const lines = text.split('; ').map((line) => {
    if (line.startsWith('$')) return line;
    const [name, ttl = ''] = line.split(' ');
    return name === 'SOA' ? `@ ${ttl} SOA ns h ( 1 2 3 4 300 )` : `${name} ${ttl} A 192.0.2.1`;
  });
  expect(read(...lines).records.map(({ ttl }) => ttl)).toEqual(ttls);
});

it('a whole name without its final dot is one, and this is said', () => {
  const lines = ['example.net MX 10 Mail.example.net', ' A 192.0.2.1', 'myexample.net A 192.0.2.1'];
  expect(shownOf(...lines)).toEqual([
    '@ MX 10 Mail.example.net',
    '@ A 192.0.2.1',
    'myexample.net A 192.0.2.1',
  ]);
  const note = (name: string): string => `line 1: \`${name}\` has no final dot, and is read as a whole name`;
  expect(read(...lines).notes).toEqual(['example.net', 'Mail.example.net'].map(note));
});

/** Lines, and what is wrong, with ' for a backquote. */
const refused = rowsOf(String.raw`
  $INCLUDE other.zone | a zone:1: '$INCLUDE' cannot be followed here: named-compilezone -k ignore -s full -o FLAT example.net FILE
  $GENERATE 1-9 a$ A 192.0.2.$ | '$GENERATE' cannot be followed here
  $ORIGIN | '$ORIGIN' cannot be followed here
  $TTL soon | 'soon' is not a TTL
  <tab>60 IN A 192.0.2.1 | begins with a blank, and no name comes before it
  a..example.net. 60 IN A 192.0.2.1 | 'a..example.net.' is not a name
  ${'a'.repeat(64)} 60 IN A 192.0.2.1 | is not a name
  ${'a.'.repeat(122)}a 60 IN A 192.0.2.1 | is not a name
  example.net. 2147483648 IN A 192.0.2.1 | '2147483648' is not a TTL
  www 192.0.2.1 | '192.0.2.1' is not the type of a record
  @ ${'1'.repeat(60)}! A 192.0.2.1 | is not the type of a record
  www 60 IN | a zone:1: it has no type
  @ SOA ns1 hostmaster ( | a zone:1: nothing closes its parenthesis
  @ A 192.0.2.1 ) | closes a parenthesis that nothing opens
  @ CAA 0 issue "open | a quotation mark that nothing closes
  @ MX 10 mail.. | 'mail..' is not the name of a host
  @ A host | 'host' is not an IPv4 address
  @ AAAA 192.0.2.1 | is not an IPv6 address
  @ A 192.0.2.1 192.0.2.2 | is not what a record of type A has
  @ A | no data follows the type A
  @ MX mail.example.net. | is not what a record of type MX has
  @ MX 65536 mail.example.net. | '65536' is not a priority
  _a._tcp SRV 1 70000 1 a.example.net. | numbers from 0 to 65535
  @ TXT v=spf1 mx -all | 'v=spf1': a text with blanks or a ';' has to be in quotation marks
  @ TXT v=DKIM1; k=rsa | 'v=DKIM1': a text with blanks or a ';' has to be in quotation marks
  @ TXT "\256" | is not what a record of type TXT has
  example.org. SOA ns h 1 2 3 4 5 | a zone:1: this is the zone example.org, not example.net
  www.example.org. A 192.0.2.1 | a zone: no record in it can be in a template: line 1 is not below example.net
  ; nothing | a zone: there is no record in it
  @ NS ns | a zone: no record in it can be in a template`);

it.each(refused)('%s is refused: %s', (line = '', message = '') => {
  expect(() => read(line)).toThrow(message.replaceAll("'", '`'));
});

it('what is refused has the number of its line', () => {
  expect(() => read('; a comment', '', 'a (', '60 A 192.0.2.1)', 'www A host')).toThrow(/^a zone:5: /);
});

describe('what dig prints of a transfer', () => {
  const parts: Readonly<Record<string, string>> = {
    head: '; <<>> DiG 9.18.28 <<>> @ns1.example.org axfr example.net',
    kdig: ';; AXFR for example.net.',
    soa: 'example.net. 60 IN SOA ns1.example.org. h.example.org. 1 2 3 4 5',
    record: 'www.example.net. 60 IN A 192.0.2.1',
    end: ';; XFR size: 3 records',
    refusal: '; Transfer failed.',
    reset: ';; communications error to 192.0.2.53#53: connection reset',
    timeout: ';; connection timed out; no servers could be reached',
    nobody: ';; Connection to 192.0.2.53#53(192.0.2.53) for example.net failed: connection refused.',
    servfail: ';; ->>HEADER<<- opcode: QUERY, status: SERVFAIL, id: 4',
  };
  const printed = (words: string) => read(...words.split(' ').map((word) => parts[word]!));

  it('is whole if the SOA record comes again', () => {
    expect(printed('head soa record soa end').records).toHaveLength(1);
  });

  it.each([
    ['head', 'there is no record in it'],
    ['head soa record', 'a zone:3: the transfer does not end with the SOA record'],
    ['head soa', 'no record in it can be in a template'],
    ['head record soa', 'does not end with the SOA record'],
    ['head soa record soa record', 'does not end with the SOA record'],
    ['kdig soa record', 'does not end with the SOA record'],
    ['record refusal', 'a zone:2: the transfer failed, so records are missing'],
    ['soa record soa reset', 'zone:4: the transfer failed'],
    ['timeout record', 'zone:1: the transfer failed'],
    ['nobody', 'zone:1: the transfer failed'],
    ['servfail record', 'zone:1: the transfer failed'],
  ])('is refused if it is not: %s', (words, message) => {
    expect(() => printed(words)).toThrow(message);
  });
});

it('what a template cannot hold is named with its line, name, type, value and reason', () => {
  const soa = 'example.net. 60 IN SOA ns1.example.net. hostmaster.example.net. 1 7200 900 1209600 60';
  const { records: held, leftOut } = read(
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
  expect(held.map((record) => `${record.id} ${formatRecord(record)}`)).toEqual(['8 www 60 A 192.0.2.1']);
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
