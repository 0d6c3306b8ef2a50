import { expect, test } from 'vitest';
import type { SubdomainRecord } from '../../src/model/template.ts';
import { compareSubdomain } from '../../src/plan/subdomains.ts';
import { actual, actualTemplate } from './records.ts';

/** A DNS record as a line: `#ID from TEMPLATE-RECORD: RECORD`, without `from` when it derives from none. */
const derived = (line: string): SubdomainRecord => {
  const [, id, from, record] = /^(#\d+)(?: from (\d+))?: (.*)$/s.exec(line)!;
  return { ...actual(`${id} ${record}`), templateRecordId: from === undefined ? null : Number(from) };
};

/** `missing #TEMPLATE-RECORD`, `stale #RECORD of #TEMPLATE-RECORD: FIELDS`, `foreign #RECORD`. */
const compare = (
  template: readonly string[],
  records: readonly string[],
  subdomain = 'shop.example.net',
): string[] =>
  compareSubdomain(subdomain, actualTemplate(template), records.map(derived)).map(
    ({ kind, templateRecord, record, fields }) => {
      if (kind === 'missing') return `missing #${templateRecord!.id}`;
      if (kind === 'foreign') return `foreign #${record!.id}`;
      return `stale #${record!.id} of #${templateRecord!.id}: ${fields.join()}`;
    },
  );

interface Case {
  readonly name: string;
  readonly template: readonly string[];
  readonly records: readonly string[];
  readonly differences: readonly string[];
}

const cases: readonly Case[] = [
  {
    name: 'each derived record equals its template record',
    template: ['#1 www 300 A 192.0.2.1', '#2 @ 300 MX 10 mx1.example.net'],
    records: ['#11 from 1: www 300 A 192.0.2.1', '#12 from 2: @ 300 MX 10 mx1.example.net'],
    differences: [],
  },
  {
    name: 'in canonical form',
    template: ['#1 WWW 300 A 192.0.2.1', '#2 @ 300 mx 10 MX1.example.net.', '#3 @ 300 TXT v=spf1 mx -all'],
    records: [
      '#11 from 1: www 300 a 192.0.2.1',
      '#12 from 2: @ 300 MX 10 mx1.example.net',
      '#13 from 3: @ 300 TXT "v=spf1 " "mx -all"',
    ],
    differences: [],
  },
  {
    name: 'a record from which nothing derives',
    template: ['#1 www 300 A 192.0.2.1', '#2 mail 300 A 192.0.2.1'],
    records: ['#11 from 1: www 300 A 192.0.2.1', '#12: mail 300 A 192.0.2.1'],
    differences: ['missing #2'],
  },
  {
    name: 'every part that may differ',
    template: [
      '#1 a 300 A 192.0.2.1',
      '#2 b 300 A 192.0.2.2',
      '#3 c 300 MX 10 mx1.example.net',
      '#4 d 300 A 192.0.2.4',
      '#5 e 300 A 192.0.2.5',
    ],
    records: [
      '#11 from 1: a 300 TXT 192.0.2.1',
      '#12 from 2: b 300 A 198.51.100.2',
      '#13 from 3: c 300 MX 20 mx1.example.net',
      '#14 from 4: d 60 A 192.0.2.4',
      '#15 from 5: x 60 A 198.51.100.5',
    ],
    differences: [
      'stale #11 of #1: type',
      'stale #12 of #2: content',
      'stale #13 of #3: priority',
      'stale #14 of #4: ttl',
      'stale #15 of #5: name,content,ttl',
    ],
  },
  {
    name: 'each of several derived from one',
    template: ['#1 www 300 A 192.0.2.1'],
    records: ['#11 from 1: www 300 A 192.0.2.1', '#12 from 1: www 60 A 192.0.2.1'],
    differences: ['stale #12 of #1: ttl'],
  },
  {
    name: 'derived from a record that is not in this template',
    template: ['#1 www 300 A 192.0.2.1'],
    records: ['#11 from 1: www 300 A 192.0.2.1', '#12 from 9: mail 300 A 192.0.2.1'],
    differences: ['foreign #12'],
  },
  {
    name: 'a record that derives from nothing is no difference',
    template: [],
    records: [
      '#11: @ 300 NS ns1.example.net',
      '#12: @ 300 SOA ns1.example.net. hostmaster.example.net. 1 2 3 4 5',
      '#13: www 300 A 192.0.2.1',
    ],
    differences: [],
  },
  {
    name: 'parked records derive like any other',
    template: ['#1 _parked-1 300 A 0.0.0.0'],
    records: [],
    differences: ['missing #1'],
  },
  {
    name: 'the value of a placeholder is not compared',
    template: [
      '#1 www.##DOMAIN## 300 A 192.0.2.1',
      '#2 a 300 CNAME www.{domain}',
      '#3 b 300 TXT host=<name>',
      '#4 c 300 CNAME %domain%',
    ],
    records: [
      '#11 from 1: www.shop.example.net. 300 A 192.0.2.1',
      '#12 from 2: a 300 CNAME www.shop.example.net',
      '#13 from 3: b 300 TXT host=shop',
      '#14 from 4: c 300 CNAME shop.example.net',
    ],
    differences: [],
  },
  {
    name: 'the other fields of a record with a placeholder are compared',
    template: ['#1 www.##DOMAIN## 300 A 192.0.2.1'],
    records: ['#11 from 1: www 60 A 198.51.100.1'],
    differences: ['stale #11 of #1: content,ttl'],
  },
];

test.for(cases)('$name', ({ template, records, differences }) => {
  expect(compare(template, records)).toEqual(differences);
});

test.for([
  ['@', '@', true],
  ['@', 'shop.example.net', true],
  ['@', 'SHOP.example.net.', true],
  ['www', 'www', true],
  ['www', 'www.shop.example.net', true],
  ['www', 'WWW.shop.example.net.', true],
  ['www', 'www.example.net', false],
  ['www', 'wwwshop.example.net', false],
  ['www', 'mail', false],
  ['@', 'www', false],
  ['www.shop.example.net', 'www', true],
  ['*', '*.shop.example.net', true],
] as const)(
  'a template record named %s and a derived one named %s agree: %s',
  ([expected, derivedName, agree]) => {
    expect(
      compare([`#1 ${expected} 300 A 192.0.2.1`], [`#11 from 1: ${derivedName} 300 A 192.0.2.1`]),
    ).toEqual(agree ? [] : ['stale #11 of #1: name']);
  },
);

test('the subdomain may be spelled in capitals, with a trailing dot or in letters beyond ASCII', () => {
  const template = ['#1 www 300 A 192.0.2.1'];
  expect(
    compare(template, ['#11 from 1: www.shop.example.net 300 A 192.0.2.1'], 'Shop.Example.net.'),
  ).toEqual([]);
  expect(
    compare(template, ['#11 from 1: www.xn--bcher-kva.example 300 A 192.0.2.1'], 'Bücher.example'),
  ).toEqual([]);
});

test('a priority on a type without one is no difference', () => {
  const template = actualTemplate(['#1 www 300 A 192.0.2.1']);
  const record = { ...derived('#11 from 1: www 300 A 192.0.2.1'), priority: 0 };
  expect(compareSubdomain('shop.example.net', template, [record])).toEqual([]);
});

test('a difference shows both sides', () => {
  const template = actualTemplate(['#1 www 300 A 192.0.2.1']);
  expect(compareSubdomain('shop.example.net', template, [derived('#11 from 1: www 60 A 192.0.2.1')])).toEqual(
    [
      {
        kind: 'stale',
        templateRecord: { id: 1, type: 'A', name: 'www', content: '192.0.2.1', priority: null, ttl: 300 },
        record: {
          id: 11,
          templateRecordId: 1,
          type: 'A',
          name: 'www',
          content: '192.0.2.1',
          priority: null,
          ttl: 60,
        },
        fields: ['ttl'],
      },
    ],
  );
});
