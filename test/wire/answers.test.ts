import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
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
  const own = { id: 17, name: 'standard-web', publiclyAvailable: false, subdomains: 3 };
  expect(await listed([wireTemplate])).toEqual([{ ...own, records: [record, other] }]);
});

const counted = { isUnreadable: true };

type Fields = Readonly<Record<string, unknown>>;

/** What changes in the second record, and what is read of it. */
const records: readonly (readonly [change: Fields, expected: Fields])[] = [
  [
    { id: '1', ttl: '300', priority: '10', type: 'MX' },
    { type: 'MX', priority: 10, ttl: 300 },
  ],
  ...[null, undefined, ''].map((ttl) => [{ ttl }, { ttl: null }] as const),
  [{ priority: undefined, name: undefined }, {}],
  [{ name: '' }, { name: '' }],
  [
    { name: 10, content: 10 },
    { name: '10', content: '10' },
  ],
  [{ content: '' }, { content: '' }],
  ...['WALLET', 'a'].map((type) => [{ type }, { type }] as const),
  [{ comment: { deep: [] } }, {}],
  // Only MX and SRV have a priority.
  ...['high', []].map((priority) => [{ priority }, {}] as const),
  [{ priority: 7 }, { priority: 7 }],
  // It is counted, and keeps no other from being read.
  ...[null, undefined, ['203.0.113.10']].map(
    (content) => [{ content }, { content: '', ...counted }] as const,
  ),
  ...['1h', 0.5].map((ttl) => [{ ttl }, { ttl: null, ...counted }] as const),
  [
    { type: 'mx', priority: 'high' },
    { type: 'mx', ...counted },
  ],
];

test.each(records)('of a record with %o is read %o', async (change, expected) => {
  expect(await listed(ofRecords(other, { ...wireRecord, ...change }))).toMatchObject([
    { records: [other, { ...record, ...expected }] },
  ]);
});

/** What the service says about whose a template is, and whether it counts as public: only an explicit no does not. */
const owners: readonly (readonly [said: readonly unknown[], isPublic: boolean])[] = [
  [[false, 'false', 0, '0'], false],
  [[true, 'true', 1, '1', null, undefined, '', 'no', [], {}], true],
];

test.each<[change: Fields, expected: Fields]>([
  [{ id: '17' }, { id: 17 }],
  [{ name: undefined }, { name: '' }],
  [{ name: 42 }, { name: '42' }],
  ...[null, undefined, ['shop.example.net']].map((subdomains): [Fields, Fields] => [
    { subdomains },
    { subdomains: null },
  ]),
  [{ subdomains: '3' }, { subdomains: 3 }],
  [{ dns_template_records: [] }, { records: [] }],
  ...owners.flatMap(([said, publiclyAvailable]) =>
    said.map((value): [Fields, Fields] => [{ publicly_available: value }, { publiclyAvailable }]),
  ),
])('of a template with %o is read %o', async (change, expected) => {
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
  ...[null, undefined, 1.5, 'one', '9007199254740993'].map((id): [unknown, string] => [
    ofRecords(other, { ...wireRecord, id }),
    'answer[0].dns_template_records[1].id is not a whole number',
  ]),
  [ofRecords(other, { ...wireRecord, id: 2 }), 'answer[0].dns_template_records[1].id 2 occurs twice'],
  ...[null, ''].map((type): [unknown, string] => [
    ofRecords({ ...wireRecord, type }),
    'answer[0].dns_template_records[0].type is not text, or empty',
  ]),
  [ofRecords({ ...wireRecord, name: ['www'] }), 'answer[0].dns_template_records[0].name is not text'],
])('a listing %j breaks the contract', async (listing, problem) => {
  expect(await listed(listing)).toContain(problem);
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

const body = JSON.stringify(templates(1, 2));
const link = (address: string) => ({ link: `<x>; rel="last", <${address}>; rel="next"` });

test.each<[sign: string, headers: Record<string, string>, code?: number]>([
  ['a link to the next page', link('?page=2')],
  ['a link with several relations', { link: '<?page=2>; title="x"; rel="section next"' }],
  ['a range', { 'content-range': 'items 0-1/9' }],
  ...['total', 'total-count', 'x-total', 'x-total-count', 'x-next-page'].map(
    (name): [string, Record<string, string>] => [name, { [name]: '3' }],
  ),
  ['a part', {}, 206],
])(
  'a list of which more is named than came is refused, also if it is as before: %s',
  async (_, headers, code = 200) => {
    const server = await scriptedServer(status(200, body), status(code, body, headers));
    const service = connected(server.url);
    expect(await read(service)).toHaveLength(2);
    for (const call of [read(service), read(connected(server.url))]) {
      const { kind, message } = await failureOf(call);
      expect(kind).toBe('bad-answer');
      expect(message).toContain('the listing is not whole');
    }
    expect(server.seen).toHaveLength(3);
  },
);

test('a list is whole with a total of what came, and other links', async () => {
  const ends = { 'x-next-page': '', 'content-range': 'items 0-1/2' };
  const headers = { ...ends, 'x-total-count': '2', link: '<x>; rel="prev", <next>; rel="canonical"' };
  const server = await scriptedServer(status(200, body, headers));
  expect(await read(connected(server.url))).toHaveLength(2);
});

test('a list that is the same again is known by its bytes, and a template that is the same by its values', async () => {
  const three = templates(1, 2, 3);
  const changed = three.with(1, { ...wireTemplate, id: 2, name: 'x' });
  const own = [{ ...wireRecord!, content: '203.0.113.99' }, other!];
  const edited = changed.with(2, { ...wireTemplate, id: 3, dns_template_records: own });
  const server = await scriptedServer(
    ...[three, three, changed, changed.toReversed(), edited].map((one) => json(one)),
    // A beginning of what came before is not the same.
    status(200, JSON.stringify(edited).slice(0, -1)),
  );
  const service = connected(server.url);
  const listing = await read(service);
  expect(await read(service)).toBe(listing);
  const next = await read(service);
  expect(next.map((one, index) => one === listing[index])).toEqual([true, false, true]);
  expect(next[1]).toMatchObject({ id: 2, name: 'x' });
  const reversed = await read(service);
  expect(reversed.map((one) => next.indexOf(one))).toEqual([2, 1, 0]);
  const last = await read(service);
  expect(last.map((one) => next.indexOf(one))).toEqual([0, 1, -1]);
  expect(last[2]?.records[0]).toMatchObject({ content: '203.0.113.99' });
  expect((await failureOf(read(service))).kind).toBe('bad-answer');
});

test('a compressed answer is asked for by nobody, and is refused', async () => {
  const zipped = gzipSync(JSON.stringify(templates(1)));
  const server = await scriptedServer(status(200, zipped, { 'content-encoding': 'gzip' }));
  const service = connected(server.url);
  const { kind, message } = await failureOf(read(service));
  expect(kind).toBe('bad-answer');
  expect(message).toContain('the answer is compressed, which was not asked for: gzip');
  expect(await outcomeOf(write(service))).toBe('unknown');
  expect(server.seen.map(({ headers }) => headers['accept-encoding'])).toEqual(['identity', 'identity']);
});

test('an answer may begin with a byte order mark', async () => {
  const server = await scriptedServer(status(200, `\ufeff${body}`));
  expect(await read(connected(server.url))).toHaveLength(2);
});

test.each([201, 202, 203, 299])('%i is a success', async (code) => {
  const server = await scriptedServer(json([wireTemplate], code), json(wireTemplate, code));
  const service = connected(server.url);
  expect(await read(service)).toMatchObject([{ id: 17 }]);
  expect(await write(service)).toMatchObject({ id: 17 });
});
