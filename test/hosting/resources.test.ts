import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { account, databases } from '../../src/hosting/account-resources.ts';
import { dnsRecords, dnsTemplate, dnsTemplates, templateRecord } from '../../src/hosting/dns-resources.ts';
import { wireTemplate } from './connected.ts';

const wireRecord = { id: 1, type: 'A', content: '203.0.113.10', name: 'www', priority: null, ttl: 300 };
const read = { id: 1, type: 'A', content: '203.0.113.10', name: 'www', priority: null, ttl: 300 };

/** As it arrives: what is undefined is not there. */
const sent = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const problems = (schema: z.ZodType, value: unknown): string[] =>
  (schema.safeParse(value).error?.issues ?? []).map(({ path, message }) => `${path.join('.')} ${message}`);

test('a template is converted to the model', () => {
  expect(dnsTemplate.parse(wireTemplate)).toEqual({
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
    expect(templateRecord.parse(sent({ ...wireRecord, ...change }))).toEqual({ ...read, ...expected });
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
  ])('%s', (_, change, problem) => {
    expect(problems(templateRecord, sent({ ...wireRecord, ...change }))).toEqual([
      expect.stringContaining(problem),
    ]);
  });

  test.each([[null], ['text'], [[]], [7]])('%j instead of an object', (value) => {
    expect(problems(templateRecord, value)).not.toEqual([]);
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
  expect(templateRecord.parse(sent({ ...wireRecord, ...change }))).toEqual({
    ...read,
    ...shown,
    isUnreadable: true,
  });
});

test('a record that is accepted as it is equals the result of the schema', () => {
  const whole = fc.oneof(
    fc.maxSafeInteger(),
    fc.maxSafeInteger().map(String),
    fc.double(),
    fc.constant(null),
  );
  const words = fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.constant(''));
  const anything = fc.record(
    { id: whole, type: words, content: words, name: words, ttl: whole, priority: whole, more: fc.anything() },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(anything, (record) => {
      const alone = templateRecord.safeParse(record);
      const [listed] = dnsRecords.safeParse([record]).data ?? [];
      const { templateRecordId: _, ...careful } = listed ?? { templateRecordId: null };
      expect(alone.success ? alone.data : {}).toEqual(careful);
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
    expect(dnsTemplate.parse(sent({ ...wireTemplate, ...change }))).toMatchObject(expected);
  });

  test.each([false, 'false', 0, '0'])('publicly_available %j: the client’s own', (value) => {
    expect(dnsTemplate.parse(sent({ ...wireTemplate, publicly_available: value })).publiclyAvailable).toBe(
      false,
    );
  });

  test.each([true, 'true', 1, '1', null, undefined, '', 'no', [], {}])(
    'publicly_available %j: not known to be the client’s own',
    (value) => {
      expect(dnsTemplate.parse(sent({ ...wireTemplate, publicly_available: value })).publiclyAvailable).toBe(
        true,
      );
    },
  );
});

describe('a listing breaks the contract with', () => {
  const [one] = wireTemplate.dns_template_records;
  test.each([
    ['no array', {}, ' is not an array'],
    ['no object', [7], '0 is not an object'],
    ['a template without id', [{ ...wireTemplate, id: undefined }], '0.id is not a whole number'],
    [
      'a template without records',
      [{ ...wireTemplate, dns_template_records: null }],
      '0.dns_template_records is not an array',
    ],
    ['a template with missing records', [{ id: 1 }], '0.dns_template_records is not an array'],
    [
      'a broken record',
      [{ ...wireTemplate, dns_template_records: [one, {}] }],
      '0.dns_template_records.1.id is not a whole number',
    ],
    [
      'two records of one id',
      [{ ...wireTemplate, dns_template_records: [one, one] }],
      '0.dns_template_records.1.id 1 occurs twice',
    ],
    ['two templates of one id', [wireTemplate, { ...wireTemplate, id: '17' }], '1.id 17 occurs twice'],
  ])('%s', (_, value, problem) => {
    expect(problems(dnsTemplates, sent(value))[0]).toBe(problem);
  });
});

test('the records of a subdomain have the template record that they derive from', () => {
  const soa = { ...wireRecord, type: 'SOA', name: null, content: 'ns1.example.net admin.example.net 1 2 3' };
  const listing = [
    { ...soa, dns_template_record_id: null },
    { ...wireRecord, dns_template_record_id: '5' },
    soa,
  ];
  expect(dnsRecords.parse(listing)).toEqual([
    { ...read, type: 'SOA', name: null, content: soa.content, templateRecordId: null },
    { ...read, templateRecordId: 5 },
    { ...read, type: 'SOA', name: null, content: soa.content, templateRecordId: null },
  ]);
});

test('an account is read with all its parts', () => {
  const createdAt = '2026-11-20 20:00:00 +0100';
  expect(
    account.parse({
      id: '5',
      name: 'acme',
      created_at: createdAt,
      virtual_server_id: 3,
      applications: [{ id: 1, account_id: 5, name: 'shop', created_at: createdAt, aliases: ['a', { b: 1 }] }],
      databases: [
        {
          id: 2,
          account_id: 5,
          name: 'db',
          hosts: ['h'],
          database_grants: [{ login: 'l', access_level: 'read' }],
        },
      ],
      ftp_users: [{ id: 4, account_id: 5, user: 'u', host: 'h', directory: '' }],
      ssh_keys: [null, 'ssh-ed25519 …', { key: 1 }],
      more: true,
    }),
  ).toEqual({
    id: 5,
    name: 'acme',
    createdAt,
    virtualServerId: 3,
    applications: [{ id: 1, accountId: 5, name: 'shop', createdAt, aliases: ['a', { b: 1 }] }],
    databases: [
      {
        id: 2,
        accountId: 5,
        name: 'db',
        hosts: ['h'],
        databaseGrants: [{ id: null, login: 'l', accessLevel: 'read' }],
      },
    ],
    ftpUsers: [{ id: 4, accountId: 5, user: 'u', host: 'h', directory: '' }],
    sshKeys: [null, 'ssh-ed25519 …', { key: 1 }],
  });
});

test('missing parts of an account or a database are null or empty', () => {
  expect(account.parse({ id: 5 })).toEqual({
    id: 5,
    name: null,
    createdAt: null,
    virtualServerId: null,
    applications: [],
    databases: [],
    ftpUsers: [],
    sshKeys: [],
  });
  expect(databases.parse([{ id: 2, database_grants: [{ id: 9, login: 'l' }] }])).toEqual([
    {
      id: 2,
      accountId: null,
      name: null,
      hosts: [],
      databaseGrants: [{ id: 9, login: 'l', accessLevel: null }],
    },
  ]);
});
