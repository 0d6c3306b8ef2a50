import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  readRecord,
  readSubdomainRecord,
  readTemplate,
  readTemplates,
} from '../../src/hosting/dns-resources.ts';
import { wireTemplate } from './connected.ts';

const wireRecord = { id: 1, type: 'A', content: '203.0.113.10', name: 'www', priority: null, ttl: 300 };
const read = { id: 1, type: 'A', content: '203.0.113.10', name: 'www', priority: null, ttl: 300 };

/** As it arrives: what is undefined is not there. */
const sent = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const problem = async (reader: (value: unknown) => unknown, value: unknown): Promise<string> => {
  try {
    await reader(value);
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
  return 'none';
};

test('a template is converted to the model', () => {
  expect(readTemplate(wireTemplate)).toEqual({
    id: 17,
    name: 'standard-web',
    publiclyAvailable: false,
    subdomains: 3,
    records: [
      { id: 1, type: 'A', name: null, content: '203.0.113.10', priority: null, ttl: 3600 },
      { id: 2, type: 'MX', name: 'www', content: 'mx1.example.net', priority: 10, ttl: 300 },
    ],
  });
});

describe('a record is read for any form of', () => {
  test.each([
    ['numbers as text', { id: '1', ttl: '300', priority: '10', type: 'MX' }, { type: 'MX', priority: 10 }],
    ['no ttl', { ttl: null }, { ttl: null }],
    ['a missing ttl', { ttl: undefined }, { ttl: null }],
    ['an empty ttl', { ttl: '' }, { ttl: null }],
    ['a missing priority', { priority: undefined }, {}],
    ['a missing name', { name: undefined }, { name: null }],
    ['no name', { name: null }, { name: null }],
    ['an empty name', { name: '' }, { name: '' }],
    ['a number as name', { name: 10 }, { name: '10' }],
    ['a number as content', { content: 10 }, { content: '10' }],
    ['an empty content', { content: '' }, { content: '' }],
    ['a type that nobody knows', { type: 'WALLET' }, { type: 'WALLET' }],
    ['a type in small letters', { type: 'a' }, { type: 'a' }],
    ['keys that nobody knows', { comment: { deep: [] }, __proto__: { id: 2 } }, {}],
    ['a priority where there is none', { priority: 'high' }, {}],
    ['a list as priority where there is none', { priority: [] }, {}],
    ['a priority of a type without', { priority: 7 }, { priority: 7 }],
  ])('%s', (_, change, expected) => {
    expect(readRecord(sent({ ...wireRecord, ...change }))).toEqual({ ...read, ...expected });
  });
});

describe('a record breaks the contract with', () => {
  test.each([
    ['no id', { id: null }, 'id is not a whole number'],
    ['a missing id', { id: undefined }, 'id is not a whole number'],
    ['half an id', { id: 1.5 }, 'id is not a whole number'],
    ['an id in words', { id: 'one' }, 'id is not a whole number'],
    ['an id beyond exact numbers', { id: '9007199254740993' }, 'id'],
    ['no type', { type: null }, 'type is not text'],
    ['an empty type', { type: '' }, 'type is empty'],
    ['a list as name', { name: ['www'] }, 'name'],
  ])('%s', async (_, change, said) => {
    expect(await problem(readRecord, sent({ ...wireRecord, ...change }))).toContain(`answer.${said}`);
  });

  test.each([[null], ['text'], [[]], [7]])('%j instead of an object', async (value) => {
    expect(await problem(readRecord, value)).toBe('answer is not an object');
  });
});

test.each([
  ['no content', { content: null }, { content: '' }],
  ['a missing content', { content: undefined }, { content: '' }],
  ['a list as content', { content: ['203.0.113.10'] }, { content: '' }],
  ['a ttl in words', { ttl: '1h' }, { ttl: null }],
  ['a broken ttl', { ttl: 0.5 }, { ttl: null }],
  ['a priority in words where there is one', { type: 'mx', priority: 'high' }, { type: 'mx' }],
])('a record with %s is counted, and keeps no other from being read', (_, change, shown) => {
  expect(readRecord(sent({ ...wireRecord, ...change }))).toEqual({
    ...read,
    ...shown,
    isUnreadable: true,
  });
});

test('a record may hold anything: it is read, counted, or breaks the contract', () => {
  const whole = fc.oneof(
    fc.maxSafeInteger(),
    fc.maxSafeInteger().map(String),
    fc.double(),
    fc.constant(null),
  );
  const words = fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.constant('A'));
  const anything = fc.record(
    { id: whole, type: words, content: words, name: words, ttl: whole, priority: whole, more: fc.anything() },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(anything, (given) => {
      try {
        const { isUnreadable: _, ...record } = readRecord(given);
        expect(Number.isSafeInteger(record.id)).toBe(true);
        expect(Object.keys(record)).toEqual(['id', 'type', 'name', 'content', 'priority', 'ttl']);
        expect([record.name, record.content].every((text) => text === null || typeof text === 'string')).toBe(
          true,
        );
        for (const number of [record.ttl, record.priority])
          expect(number === null || Number.isSafeInteger(number)).toBe(true);
      } catch (error) {
        expect(String(error)).toMatch(/^Breach: answer(?:\.(?:id|type|name))? is /);
      }
    }),
    { numRuns: 2_000 },
  );
});

describe('a template is read for any form of', () => {
  test.each([
    ['an id as text', { id: '17' }, { id: 17 }],
    ['a missing name', { name: undefined }, { name: '' }],
    ['a number as name', { name: 42 }, { name: '42' }],
    ['no count of subdomains', { subdomains: null }, { subdomains: null }],
    ['a missing count of subdomains', { subdomains: undefined }, { subdomains: null }],
    ['a count of subdomains as text', { subdomains: '3' }, { subdomains: 3 }],
    ['a list of subdomains', { subdomains: ['shop.example.net'] }, { subdomains: null }],
    ['no records', { dns_template_records: [] }, { records: [] }],
  ])('%s', (_, change, expected) => {
    expect(readTemplate(sent({ ...wireTemplate, ...change }))).toMatchObject(expected);
  });

  test.each([false, 'false', 0, '0'])('publicly_available %j: the client’s own', (value) => {
    expect(readTemplate(sent({ ...wireTemplate, publicly_available: value })).publiclyAvailable).toBe(false);
  });

  test.each([true, 'true', 1, '1', null, undefined, '', 'no', [], {}])(
    'publicly_available %j: not known to be the client’s own',
    (value) => {
      expect(readTemplate(sent({ ...wireTemplate, publicly_available: value })).publiclyAvailable).toBe(true);
    },
  );
});

describe('a listing breaks the contract with', () => {
  const [one] = wireTemplate.dns_template_records;
  test.each([
    ['no array', {}, ' is not an array'],
    ['no object', [7], '[0] is not an object'],
    ['a template without id', [{ ...wireTemplate, id: undefined }], '[0].id is not a whole number'],
    [
      'a template without records',
      [{ ...wireTemplate, dns_template_records: null }],
      '[0].dns_template_records is not an array',
    ],
    ['a template with missing records', [{ id: 1 }], '[0].dns_template_records is not an array'],
    [
      'a broken record',
      [{ ...wireTemplate, dns_template_records: [one, {}] }],
      '[0].dns_template_records[1].id is not a whole number',
    ],
    [
      'two records of one id',
      [{ ...wireTemplate, dns_template_records: [one, one] }],
      '[0].dns_template_records[1].id 1 occurs twice',
    ],
    ['two templates of one id', [wireTemplate, { ...wireTemplate, id: '17' }], '[1].id 17 occurs twice'],
  ])('%s', async (_, value, said) => {
    expect(await problem((listing) => readTemplates(listing, []), sent(value))).toBe(`answer${said}`);
  });
});

test('the records of a subdomain have the template record that they derive from', () => {
  const soa = { ...wireRecord, type: 'SOA', name: null, content: 'ns1.example.net admin.example.net 1 2 3' };
  const listing = [
    { ...soa, dns_template_record_id: null },
    { ...wireRecord, dns_template_record_id: '5' },
    soa,
  ];
  expect(listing.map(readSubdomainRecord)).toEqual([
    { ...read, type: 'SOA', name: null, content: soa.content, templateRecordId: null },
    { ...read, templateRecordId: 5 },
    { ...read, type: 'SOA', name: null, content: soa.content, templateRecordId: null },
  ]);
});
