import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ActualTemplate } from '../../src/model/template.ts';
import { json, scriptedServer, status } from './scripted-server.ts';
import { connected, failureOf, outcomeOf, read, wireTemplate, write } from './connected.ts';

/* What is read: any form of a value that means the same, and nothing that could be another one. */

const templates = (...ids: number[]) => ids.map((id) => ({ ...wireTemplate, id }));
const [wireRecord, other] = wireTemplate.dns_template_records;
const record = { id: 1, type: 'A', content: '203.0.113.10', name: null, priority: null, ttl: 3_600 };

/** What is read of a listing, or what is wrong with it. */
const listed = async (value: unknown): Promise<readonly ActualTemplate[] | string> => {
  const server = await scriptedServer(json(value));
  const listing = read(connected(server.url));
  if ((await outcomeOf(listing)) === 'done') return listing;
  const { kind, message } = await failureOf(listing);
  expect(kind).toBe('bad-answer');
  return message.replace('list dns templates: the answer breaks the contract: ', '');
};

const ofRecords = (...records: readonly unknown[]) => [{ ...wireTemplate, dns_template_records: records }];

test('a template is converted to the model', async () => {
  expect(await listed([wireTemplate])).toEqual([
    {
      id: 17,
      name: 'standard-web',
      publiclyAvailable: false,
      subdomains: 3,
      records: [record, { ...other, content: 'mx1.example.net' }],
    },
  ]);
});

const counted = { isUnreadable: true };

test.each<[what: string, change: object, read: object | string]>([
  [
    'numbers as text',
    { id: '1', ttl: '300', priority: '10', type: 'MX' },
    { type: 'MX', priority: 10, ttl: 300 },
  ],
  ['no ttl', { ttl: null }, { ttl: null }],
  ['a missing ttl', { ttl: undefined }, { ttl: null }],
  ['an empty ttl', { ttl: '' }, { ttl: null }],
  ['a missing priority', { priority: undefined }, {}],
  ['a missing name', { name: undefined }, {}],
  ['an empty name', { name: '' }, { name: '' }],
  ['a number as name', { name: 10 }, { name: '10' }],
  ['a number as content', { content: 10 }, { content: '10' }],
  ['an empty content', { content: '' }, { content: '' }],
  ['a type that nobody knows', { type: 'WALLET' }, { type: 'WALLET' }],
  ['a type in small letters', { type: 'a' }, { type: 'a' }],
  ['keys that nobody knows', { comment: { deep: [] } }, {}],
  ['a priority where there is none', { priority: 'high' }, {}],
  ['a list as priority where there is none', { priority: [] }, {}],
  ['a priority of a type without', { priority: 7 }, { priority: 7 }],
  // It is counted, and keeps no other from being read.
  ['no content', { content: null }, { content: '', ...counted }],
  ['a missing content', { content: undefined }, { content: '', ...counted }],
  ['a list as content', { content: ['203.0.113.10'] }, { content: '', ...counted }],
  ['a ttl in words', { ttl: '1h' }, { ttl: null, ...counted }],
  ['a broken ttl', { ttl: 0.5 }, { ttl: null, ...counted }],
  ['a priority in words where there is one', { type: 'mx', priority: 'high' }, { type: 'mx', ...counted }],
  ['no id', { id: null }, '.id is not a whole number'],
  ['a missing id', { id: undefined }, '.id is not a whole number'],
  ['half an id', { id: 1.5 }, '.id is not a whole number'],
  ['an id in words', { id: 'one' }, '.id is not a whole number'],
  ['an id beyond exact numbers', { id: '9007199254740993' }, '.id'],
  ['the id of another', { id: 2 }, '.id 2 occurs twice'],
  ['no type', { type: null }, '.type is not text, or empty'],
  ['an empty type', { type: '' }, '.type is not text, or empty'],
  ['a list as name', { name: ['www'] }, '.name is not text'],
])('a record with %s', async (_, change, expected) => {
  const found = await listed(ofRecords(other, { ...wireRecord, ...change }));
  if (typeof expected === 'string') expect(found).toContain(`answer[0].dns_template_records[1]${expected}`);
  else expect(found).toMatchObject([{ records: [other, { ...record, ...expected }] }]);
});

test.each<[what: string, change: object, read: object]>([
  ['an id as text', { id: '17' }, { id: 17 }],
  ['a missing name', { name: undefined }, { name: '' }],
  ['a number as name', { name: 42 }, { name: '42' }],
  ['no count of subdomains', { subdomains: null }, { subdomains: null }],
  ['a missing count of subdomains', { subdomains: undefined }, { subdomains: null }],
  ['a count of subdomains as text', { subdomains: '3' }, { subdomains: 3 }],
  ['a list of subdomains', { subdomains: ['shop.example.net'] }, { subdomains: null }],
  ['no records', { dns_template_records: [] }, { records: [] }],
  ...[false, 'false', 0, '0'].map((value): [string, object, object] => [
    `publicly_available ${JSON.stringify(value)}`,
    { publicly_available: value },
    { publiclyAvailable: false },
  ]),
  ...[true, 'true', 1, '1', null, undefined, '', 'no', [], {}].map((value): [string, object, object] => [
    `publicly_available ${JSON.stringify(value)}`,
    { publicly_available: value },
    { publiclyAvailable: true },
  ]),
])('a template with %s', async (_, change, expected) => {
  expect(await listed([{ ...wireTemplate, ...change }])).toMatchObject([expected]);
});

test.each<[listing: unknown, problem: string]>([
  [{ data: templates(1) }, 'answer is not an array: {"data":[{"id":1,'],
  [{ error: 'expired', data: [] }, 'answer is not an array: {"error":"expired","data":[]}'],
  [null, 'answer is not an array: null'],
  ['soon', 'answer is not an array: "soon"'],
  [[7], 'answer[0] is not an object: [7]'],
  [[{ ...wireTemplate, id: undefined }], 'answer[0].id is not a whole number'],
  [[{ id: 1 }], 'answer[0].dns_template_records is not an array'],
  [ofRecords(7), 'answer[0].dns_template_records[0] is not an object'],
  [[wireTemplate, { ...wireTemplate, id: '17' }], 'answer[1].id 17 occurs twice'],
])('a listing %j breaks the contract', async (listing, problem) => {
  expect(await listed(listing)).toContain(problem);
});

test('a record may hold anything: it is read, counted, or breaks the contract', async () => {
  const whole = fc.oneof(
    fc.maxSafeInteger(),
    fc.maxSafeInteger().map(String),
    fc.double(),
    fc.constant(null),
  );
  const words = fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.constant('A'));
  const anything = fc.record(
    {
      id: whole,
      type: words,
      content: words,
      name: words,
      ttl: whole,
      priority: whole,
      more: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  let given: unknown;
  const server = await scriptedServer((response, request) => json(ofRecords(given))(response, request));
  const service = connected(server.url);
  await fc.assert(
    fc.asyncProperty(anything, async (value) => {
      given = value;
      const outcome = await outcomeOf(read(service));
      if (outcome === 'bad-answer') return;
      const found = (await read(service))[0]?.records[0];
      expect(found).toMatchObject({
        id: expect.any(Number),
        type: expect.any(String),
        content: expect.any(String),
      });
      for (const number of [found?.ttl, found?.priority])
        expect(number === null || Number.isSafeInteger(number)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test('the records of a subdomain have the template record that they derive from', async () => {
  const soa = { ...record, type: 'SOA', content: 'ns1.example.net admin.example.net 1 2 3' };
  const server = await scriptedServer(
    json([
      { ...soa, dns_template_record_id: null },
      { ...record, id: 2, dns_template_record_id: '5' },
      { ...soa, id: 3 },
    ]),
  );
  expect(await connected(server.url).listDnsRecords('a.example')).toEqual([
    { ...soa, templateRecordId: null },
    { ...record, id: 2, templateRecordId: 5 },
    { ...soa, id: 3, templateRecordId: null },
  ]);
});

describe('a list', () => {
  const link = (address: string) => ({ link: `<x>; rel="last", <${address}>; rel="next"` });
  const body = JSON.stringify(templates(1, 2));

  test.each<[sign: string, headers: Record<string, string>, code?: number]>([
    ['a link to the next page', link('?page=2')],
    ['a link with several relations', { link: '<?page=2>; title="x"; rel="section next"' }],
    ['a total', { total: '3' }],
    ['a total of its own', { 'x-total': '3' }],
    ['a number of entries', { 'x-total-count': '3' }],
    ['a part', {}, 206],
  ])('that names more than came is refused, also if it is as before: %s', async (_, headers, code = 200) => {
    const server = await scriptedServer(status(200, body), status(code, body, headers));
    const service = connected(server.url);
    expect(await read(service)).toHaveLength(2);
    for (const call of [read(service), read(connected(server.url))]) {
      const { kind, message } = await failureOf(call);
      expect(kind).toBe('bad-answer');
      expect(message).toContain('the listing is not whole');
    }
    expect(server.seen).toHaveLength(3);
  });

  test.each<[sign: string, headers: Record<string, string>]>([
    ['a total of what came', { 'x-total-count': '2' }],
    ['other links', { link: '<x>; rel="prev", <next>; rel="canonical"' }],
  ])('is whole with %s', async (_, headers) => {
    const server = await scriptedServer(status(200, body, headers));
    expect(await read(connected(server.url))).toHaveLength(2);
  });

  test('that is the same again is known by its bytes, and a template that is the same by its values', async () => {
    const [three, changed] = [
      templates(1, 2, 3),
      templates(1, 2, 3).with(1, { ...wireTemplate, id: 2, name: 'x' }),
    ];
    const server = await scriptedServer(json(three), json(three), json(changed), json(changed.toReversed()));
    const service = connected(server.url);
    const listing = await read(service);
    expect(await read(service)).toBe(listing);
    const next = await read(service);
    expect(next.map((one, index) => one === listing[index])).toEqual([true, false, true]);
    expect(next[1]).toMatchObject({ id: 2, name: 'x' });
    const reversed = await read(service);
    expect(reversed.map(({ id }) => id)).toEqual([3, 2, 1]);
    expect(reversed.every((one) => next.includes(one))).toBe(true);
  });
});

test('a compressed answer is asked for by nobody, and is refused', async () => {
  const body = gzipSync(JSON.stringify(templates(1)));
  const server = await scriptedServer(status(200, body, { 'content-encoding': 'gzip' }));
  const service = connected(server.url);
  const { kind, message } = await failureOf(read(service));
  expect(kind).toBe('bad-answer');
  expect(message).toContain('the answer is compressed, which was not asked for: gzip');
  expect(await outcomeOf(write(service))).toBe('unknown');
  expect(server.seen.map(({ headers }) => headers['accept-encoding'])).toEqual(['identity', 'identity']);
});

test.each([201, 202, 203, 299])('%i is a success', async (code) => {
  const server = await scriptedServer(json([wireTemplate], code), json(wireTemplate, code));
  const service = connected(server.url);
  expect(await read(service)).toMatchObject([{ id: 17 }]);
  expect(await write(service)).toMatchObject({ id: 17 });
});
