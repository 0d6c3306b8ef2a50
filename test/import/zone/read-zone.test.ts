import { describe, expect, it } from 'vitest';
import { readZone } from '../../../src/import/zone/read-zone.ts';
import { dataOf } from '../../../src/model/record.ts';

const read = (...lines: readonly string[]) => readZone(lines.join('\n'), 'example.net', 'a zone');

const recordOf = (line: string) => {
  const { records, leftOut } = read(line);
  expect(leftOut).toEqual([]);
  return records.map(dataOf)[0];
};

describe('a line of a zone file', () => {
  const text = (content: string) => ({ type: 'TXT', name: null, content, priority: null, ttl: 60 });
  it.each([
    [
      'example.net.				      3600 IN A		192.0.2.1',
      { type: 'A', name: null, content: '192.0.2.1', priority: null, ttl: 3_600 },
    ],
    [
      'WWW.Example.NET. 0 in aaaa 2001:DB8::1 ; from elsewhere',
      { type: 'AAAA', name: 'WWW', content: '2001:DB8::1', priority: null, ttl: 0 },
    ],
    [
      '*.a.example.net. 60 IN CNAME Target.example.org.',
      { type: 'CNAME', name: '*.a', content: 'Target.example.org', priority: null, ttl: 60 },
    ],
    [
      'example.net. 2147483647 IN MX 0 .',
      { type: 'MX', name: null, content: '.', priority: 0, ttl: 2_147_483_647 },
    ],
    [
      '_sip._tcp.example.net. 60 IN SRV 1  2\t5060 sip.example.net.',
      { type: 'SRV', name: '_sip._tcp', content: '2 5060 sip.example.net', priority: 1, ttl: 60 },
    ],
    [
      '7.0/25.example.net. 60 IN PTR host.example.net.',
      { type: 'PTR', name: '7.0/25', content: 'host.example.net', priority: null, ttl: 60 },
    ],
    ['example.net. 60 IN TXT "v=spf1 mx" " -all"\r\n', text('v=spf1 mx -all')],
    ['example.net. 60 IN TXT "a; (b) \\"c\\" \\\\ \\099 caf\\195\\169"', text('a; (b) "c" \\ c café')],
    // As text of their own they would be read as another text.
    ['example.net. 60 IN TXT "\\"a\\""', text('"\\"a\\""')],
    ['example.net. 60 IN TXT "a\\010b" "c"', text('"a\\010b" "c"')],
    ['example.net. 60 IN TXT "\\200"', text('"\\200"')],
    ['example.net. 60 IN TXT ""', text('""')],
  ])('%s', (line, record) => {
    expect(recordOf(line)).toEqual(record);
  });

  it.each([
    [
      '$ORIGIN example.net.',
      /^a zone:1: `\$ORIGIN` is a directive\. .*named-compilezone .* example\.net 'a zone'$/,
    ],
    ['$GENERATE 1-9 a$ A 192.0.2.$', /`\$GENERATE` is a directive.*named-compilezone/],
    ['\t60 IN A 192.0.2.1', /begins with a blank.*named-compilezone/],
    ['www 60 IN A 192.0.2.1', /the name `www` is not a whole one.*named-compilezone/],
    ['www.example.net\\. 60 IN A 192.0.2.1', /not a whole one.*named-compilezone/],
    ['a..example.net. 60 IN A 192.0.2.1', /not a whole one/],
    [`${'a'.repeat(64)}.example.net. 60 IN A 192.0.2.1`, /not a whole one/],
    [`${'a.'.repeat(122)}example.net. 60 IN A 192.0.2.1`, /not a whole one/],
    ['@ 60 IN A 192.0.2.1', /the name `@` is not a whole one/],
    ['example.net. IN A 192.0.2.1', /`IN` is not a TTL in seconds.*named-compilezone/],
    ['example.net. 1h IN A 192.0.2.1', /`1h` is not a TTL/],
    ['example.net. 2147483648 IN A 192.0.2.1', /`2147483648` is not a TTL/],
    ['example.net. 60 A 192.0.2.1', /`A` is not the class IN.*named-compilezone/],
    ['example.net. 60 CH TXT "a"', /`CH` is not the class IN/],
    ['example.net. 60 IN SOA ns1 hostmaster (', /a parenthesis.*named-compilezone/],
    ['example.net. 60 IN CAA 0 issue "open', /quotation mark that nothing closes.*named-compilezone/],
    ['example.net. 60 IN MX 10 mail', /the host `mail` is not a whole name.*named-compilezone/],
    [
      'www.example.org. 60 IN A 192.0.2.1',
      /^a zone:1: the name `www\.example\.org\.` is not below example\.net$/,
    ],
    ['notexample.net. 60 IN CAA 0 issue "a"', /not below example\.net$/],
    ['example.net. 60 IN A host', /`host` is not an IPv4 address/],
    ['example.net. 60 IN AAAA 192.0.2.1', /is not an IPv6 address/],
    ['example.net. 60 IN A 192.0.2.1 192.0.2.2', /is not what a record of type A has$/],
    ['example.net. 60 IN A', /`""` is not an IPv4 address/],
    ['example.net. 60 IN A \\# 4 C0000201', /is not what a record of type A has$/],
    ['example.net. 60 IN MX mail.example.net.', /is not what a record of type MX has$/],
    ['example.net. 60 IN MX 65536 mail.example.net.', /`65536` is not a priority$/],
    ['_a._tcp.example.net. 60 IN SRV 1 70000 1 a.example.net.', /numbers from 0 to 65535$/],
    ['example.net. 60 IN TXT v=spf1', /is not what a record of type TXT has$/],
    ['example.net. 60 IN TXT "a" b', /is not what a record of type TXT has$/],
    ['example.net. 60 IN TXT "\\256"', /is not what a record of type TXT has$/],
    [`example.net. 60 IN TXT "${'a'.repeat(256)}"`, /256 octets; 255 are allowed/],
  ])('that is refused: %s', (line, message) => {
    expect(() => read(line)).toThrow(message);
  });

  it('is found by its number', () => {
    expect(() => read('; a comment', '', 'example.net. 60 IN A 192.0.2.1', 'www A 192.0.2.1')).toThrow(
      /^a zone:4: /,
    );
  });
});

describe('what a template cannot hold', () => {
  it('is named with its lines', () => {
    const soa = 'example.net. 60 IN SOA ns1.example.net. hostmaster.example.net. 1 7200 900 1209600 60';
    const { records, leftOut } = read(
      soa,
      'example.net. 60 IN NS ns1.example.net.',
      'a.example.net. 60 IN NS ns1.example.net.',
      'example.net. 60 IN TYPE65534 \\# 4 0A000001',
      'a\\.b.example.net. 60 IN A 192.0.2.1',
      '\\@.example.net. 60 IN A 192.0.2.1',
      'a.example.net. 60 IN CNAME sp\\032ace.example.net.',
      '_Parked-7.example.net. 60 IN TXT "parked"',
      'www.example.net. 60 IN A 192.0.2.1',
      'WWW.example.net. 300 IN A 192.0.2.1',
      soa,
    );
    expect(records).toEqual([
      { id: 9, type: 'A', name: 'www', content: '192.0.2.1', priority: null, ttl: 60 },
    ]);
    expect(leftOut).toEqual([
      '2 records of type SOA: lines 1, 11',
      '2 records of type NS: lines 2, 3',
      '1 record of type TYPE65534: line 4',
      '2 records with a name that a template cannot state: lines 5, 6',
      '1 record with a host that a template cannot state: line 7',
      '1 record with the name of a parked one: line 8',
      '1 record that an earlier line has: line 10',
    ]);
  });

  it('is counted where it has many lines', () => {
    const lines = Array.from({ length: 25 }, (_, index) => `a${index}.example.net. 60 IN NS ns.example.org.`);
    expect(read(...lines).leftOut).toEqual([
      `25 records of type NS: lines ${Array.from({ length: 20 }, (_, index) => index + 1).join(', ')} and 5 more`,
    ]);
  });
});

it.each([
  ['nothing', ['; <<>> DiG 9.18 <<>> axfr example.net', ''], /^a zone: there is no record in it$/],
  [
    'a transfer that failed',
    ['example.net. 60 IN A 192.0.2.1', '; Transfer failed.'],
    /^a zone:2: the transfer failed, so records are missing$/,
  ],
])('%s is no zone', (_, lines, message) => {
  expect(() => read(...lines)).toThrow(message);
});
