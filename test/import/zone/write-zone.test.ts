import { describe, expect, it } from 'vitest';
import { writeZone } from '../../../src/import/zone/write-zone.ts';
import { templateOf, type Stated } from '../written.ts';

const linesFor = (record: Stated): string[] =>
  writeZone(templateOf(record).records, 'example.net').split('\n').slice(1, -1);

describe('a record as a line of a zone file', () => {
  it.each<[Stated, string]>([
    [{ type: 'A', content: '192.0.2.1' }, 'example.net. 3600 IN A 192.0.2.1'],
    [
      { type: 'AAAA', name: 'WWW', content: '2001:DB8:0::1', ttl: 0 },
      'www.example.net. 0 IN AAAA 2001:db8::1',
    ],
    [{ type: 'CNAME', name: '*', content: 'Example.ORG.' }, '*.example.net. 3600 IN CNAME example.org.'],
    [
      { type: 'CNAME', name: 'bücher', content: 'ü.example' },
      'xn--bcher-kva.example.net. 3600 IN CNAME xn--tda.example.',
    ],
    [{ type: 'MX', name: '@', content: '.', priority: 0 }, 'example.net. 3600 IN MX 0 .'],
    [
      { type: 'SRV', name: '_sip._tcp', content: '05 5060  sip.example.org', priority: 1 },
      '_sip._tcp.example.net. 3600 IN SRV 1 5 5060 sip.example.org.',
    ],
    [
      { type: 'TXT', content: 'a "b" \\ ü\x7f;' },
      'example.net. 3600 IN TXT "a \\"b\\" \\\\ \\195\\188\\127;"',
    ],
    [{ type: 'TXT', content: '"a" "b\\"c"' }, 'example.net. 3600 IN TXT "ab\\"c"'],
    [{ type: 'TXT', content: '"\\"a\\""' }, 'example.net. 3600 IN TXT "\\"a\\""'],
    [{ type: 'TXT', content: '"open' }, 'example.net. 3600 IN TXT "\\"open"'],
    [{ type: 'TXT', content: '"\\200" "a"' }, 'example.net. 3600 IN TXT "\\200" "a"'],
    [{ type: 'TXT', content: '""' }, 'example.net. 3600 IN TXT ""'],
    [{ type: 'TXT', content: 'exists:%{i}._s' }, 'example.net. 3600 IN TXT "exists:%{i}._s"'],
    [
      { type: 'TXT', content: `${'x'.repeat(255)}${'y'.repeat(255)}z` },
      `example.net. 3600 IN TXT "${'x'.repeat(255)}" "${'y'.repeat(255)}" "z"`,
    ],
  ])('%j', (record, line) => {
    expect(linesFor(record).map((one) => one.replaceAll('\t', ' '))).toEqual([line]);
  });

  it.each<[Stated, RegExp]>([
    [{ type: 'A', name: 'www.example.net', content: '192.0.2.1' }, /has a name that may be a whole one/],
    [{ type: 'A', name: 'example.net', content: '192.0.2.1' }, /has a name that may be a whole one/],
    [{ type: 'A', name: 'www.', content: '192.0.2.1' }, /has a name that may be a whole one/],
    [{ type: 'A', name: 'a\\.b', content: '192.0.2.1' }, /has a name that a template cannot state/],
    [{ type: 'A', content: '192.0.2.1', ttl: null }, /has no TTL/],
    [{ type: 'A', content: '192.0.2.1', ttl: -1 }, /has no TTL/],
    [{ type: 'A', content: '192.0.2' }, /is not an IPv4 address/],
    [{ type: 'MX', content: 'mail.example.net' }, /record of type MX/],
    [{ type: 'MX', content: 'mail example net', priority: 1 }, /record of type MX/],
    [{ type: 'CNAME', name: 'a', content: 'a..' }, /`a\.\.` is not the name of a host/],
    [{ type: 'TXT', content: '\ud800' }, /would be another record/],
    [{ type: 'TXT', content: 'x'.repeat(70_000) }, /does not fit into a DNS message/],
    [{ type: 'A', name: 'www.##DOMAIN##', content: '192.0.2.1' }, /has a placeholder/],
    [{ type: 'CNAME', name: 'a', content: 'mx.{domain}' }, /has a placeholder/],
    [{ type: 'TXT', content: 'v=spf1 include:##DOMAIN## -all' }, /has a placeholder/],
    [{ type: 'CNAME', content: 'www.example.org' }, /cannot stand beside SOA/],
    [{ type: 'CAA', content: '0 issue ";"' }, /has a type/],
    [{ type: 'A', name: '_parked-1', content: '0.0.0.0' }, /is parked/],
  ])('%j is a comment', (record, why) => {
    const [title, ...comments] = linesFor(record);
    expect(title).toBe('; Not in this file:');
    expect(comments).toEqual([expect.stringMatching(/^; - record 1 /)]);
    expect(comments[0]).toMatch(why);
  });
});
