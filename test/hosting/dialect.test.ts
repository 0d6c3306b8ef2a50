import { once } from 'node:events';
import { createServer as createSecureServer } from 'node:tls';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connected, failureOf, wireTemplate } from './connected.ts';
import { json, reset, scriptedServer, silence, status, type Answer } from './scripted-server.ts';

const add = { type: 'A', content: '203.0.113.10' };
const templates = (...ids: number[]) => ids.map((id) => ({ ...wireTemplate, id }));
const headed =
  (headers: Record<string, string>, value: unknown): Answer =>
  (response) =>
    response.writeHead(200, headers).end(JSON.stringify(value));

describe('an error that is answered with 200', () => {
  test.each<[answer: unknown, words: string]>([
    [{ error: 'the content is wrong' }, 'the content is wrong'],
    [{ success: false, message: 'no such type' }, 'no such type'],
    [{ errors: ['one', 'two', 'one'] }, 'one; two'],
    [{ errors: { content: ['is invalid'], ttl: { min: 60 } } }, 'content is invalid; ttl min 60'],
    [{ error: { code: 17, message: 'sorry' } }, 'code 17; message sorry'],
    [{ status: 'error', id: null, message: 'sorry' }, 'sorry'],
    [{ error: 'us3r+token/=&"x y' }, '[secret]'],
    [{ error: 'x'.repeat(1_000) }, `${'x'.repeat(200)}…`],
  ])('refuses a write: %j', async (answer, words) => {
    const server = await scriptedServer(json(answer));
    const { kind, message } = await failureOf(connected(server.url).addDnsTemplateRecord(17, add));
    expect(kind).toBe('refused');
    expect(message).toBe(`add dns template record: the service answered 200 with an error: ${words}`);
  });

  test.each<[answer: unknown, words: RegExp]>([
    [{ id: 17, error: 'the content is wrong' }, /set writeAnswers: listing: the content is wrong$/],
    [{ message: 'queued' }, /set writeAnswers: listing: queued$|listing/],
    [{ dns_template_records: [], error: 'late' }, /answer.id is not a whole number/],
  ])('is not one that refuses where the answer may be of a template: %j', async (answer, words) => {
    const server = await scriptedServer(json(answer));
    const { kind, message } = await failureOf(connected(server.url).addDnsTemplateRecord(17, add));
    expect(kind).toBe('unknown');
    expect(message).toMatch(words);
  });

  test('is no listing', async () => {
    const server = await scriptedServer(json({ error: 'expired', data: [] }));
    const { kind, message } = await failureOf(connected(server.url).listDnsTemplates());
    expect({ kind, message }).toEqual({
      kind: 'bad-answer',
      message: 'list dns templates: the answer is an error: expired',
    });
  });
});

describe('writeAnswers: listing', () => {
  const options = { writeAnswers: 'listing' } as const;

  test('gives the template of a listing that is read after the write, whatever that answered', async () => {
    for (const answer of [status(204), status(200, 'done'), json([]), json({ id: 5 })]) {
      const server = await scriptedServer(answer, json(templates(16, 17)));
      const service = connected(server.url, { ...options, concurrency: 1 });
      expect(await service.addDnsTemplateRecord(17, add)).toMatchObject({ id: 17, records: [{}, {}] });
      expect(server.seen.map(({ method }) => method)).toEqual(['PUT', 'GET']);
    }
  });

  test('judges a template that a write answers all the same: it may show what the listing lacks', async () => {
    const server = await scriptedServer(
      json(wireTemplate),
      json([{ ...wireTemplate, dns_template_records: [] }]),
    );
    const service = connected(server.url, options);
    expect(await service.addDnsTemplateRecord(17, add)).toMatchObject({ records: [{}, {}] });
    expect(server.seen).toHaveLength(1);
  });

  test.each<[string, Answer]>([
    ['cannot be read', status(401)],
    ['is none', json({ error: 'busy' })],
    ['lacks the template', json(templates(16))],
  ])('leaves the outcome unknown if the listing %s', async (_, answer) => {
    const server = await scriptedServer(status(204), answer);
    const failure = await failureOf(connected(server.url, options).addDnsTemplateRecord(17, add));
    expect(failure).toMatchObject({ kind: 'unknown', operation: 'add-dns-template-record' });
    expect(failure.message).toContain('it was answered, but the listing after it');
    expect(server.seen.filter(({ method }) => method === 'PUT')).toHaveLength(1);
  });

  test('reads none after a refusal', async () => {
    const server = await scriptedServer(json({ error: 'no' }));
    expect((await failureOf(connected(server.url, options).addDnsTemplateRecord(17, add))).kind).toBe(
      'refused',
    );
    expect(server.seen).toHaveLength(1);
  });
});

describe('pages', () => {
  const link = (address: string) => ({ link: `<${address}>; rel="next", <x>; rel="last"` });

  test.each<[sign: string, headers: Record<string, string>, answer: unknown, set: string]>([
    ['a link', link('?page=2'), templates(1), 'pages: link'],
    ['a number of pages', { 'x-total-pages': '2' }, templates(1), 'pages: page'],
    ['a number of entries', { 'x-total-count': '3' }, templates(1, 2), 'pages: page'],
    ['a number beside the list', {}, { data: templates(1), meta: { last_page: 2 } }, 'pages: page'],
    ['an address beside the list', {}, { data: templates(1), links: { next: '/x?page=2' } }, 'pages: link'],
    ['a word beside the list', {}, { data: templates(1), has_more: true }, 'pages: page'],
  ])('are refused unless a setting says how to ask: %s', async (_, headers, answer, set) => {
    const server = await scriptedServer(headed(headers, answer));
    const { kind, message } = await failureOf(connected(server.url).listDnsTemplates());
    expect(kind).toBe('bad-answer');
    expect(message).toMatch(
      new RegExp(`^list dns templates: the listing has more pages \\(.+\\): set ${set}$`),
    );
  });

  test.each<[sign: string, headers: Record<string, string>, answer: unknown]>([
    ['one page', { 'x-total-pages': '1', 'x-total-count': '2' }, templates(1, 2)],
    ['no next one', {}, { data: templates(1, 2), total: 2, next: null, has_more: false }],
  ])('are no matter where there is one: %s', async (_, headers, answer) => {
    const server = await scriptedServer(headed(headers, answer));
    expect(await connected(server.url).listDnsTemplates()).toHaveLength(2);
    expect(server.seen).toHaveLength(1);
  });

  test('link: are all read, the tokens come from the settings alone, and the same answers give the same list', async () => {
    const next = 'http://panel.internal:8080/v1/dns_templates?cursor=b%20c&user_token=other';
    const pagesOf = [headed(link(next), templates(1, 2)), json(templates(3))];
    const server = await scriptedServer(...pagesOf, ...pagesOf);
    const service = connected(server.url, { pages: 'link' });
    const listing = await service.listDnsTemplates();
    expect(listing.map(({ id }) => id)).toEqual([1, 2, 3]);
    const asked = Object.fromEntries(new URLSearchParams(server.seen[1]?.query));
    expect(asked).toMatchObject({ cursor: 'b c', user_token: 'us3r+token/=&"x y' });
    expect(await service.listDnsTemplates()).toBe(listing);
  });

  test('page: are asked for until the last one, or an empty one', async () => {
    for (const headers of [{ 'x-total-pages': '2' }, undefined]) {
      const answers = [templates(1, 2), templates(3), []].map((page) => headed({ ...headers }, page));
      const server = await scriptedServer(...answers);
      const listing = await connected(server.url, { pages: 'page' }).listDnsTemplates();
      expect(listing.map(({ id }) => id)).toEqual([1, 2, 3]);
      expect(server.seen.map(({ query }) => new URLSearchParams(query).get('page'))).toEqual(
        headers ? [null, '2'] : [null, '2', '3'],
      );
    }
  });

  test.each<[string, 'link' | 'page', Answer[], RegExp]>([
    ['a page that comes again', 'page', [json(templates(1))], /page 2 has 1 again/],
    ['an entry twice', 'link', [headed(link('?page=2'), templates(1)), json(templates(2, 1))], /has 1 again/],
    ['a link elsewhere', 'link', [headed(link('https://other.example/'), templates(1))], /is not followed/],
    ['no link', 'link', [headed({ 'x-total-pages': '2' }, templates(1))], /set pages: page/],
    ['a broken page', 'page', [json(templates(1)), json({})], /the answer is an object/],
  ])('that do not fit make no listing: %s', async (_, pages, answers, words) => {
    const server = await scriptedServer(...answers);
    const { kind, message } = await failureOf(connected(server.url, { pages }).listDnsTemplates());
    expect(kind).toBe('bad-answer');
    expect(message).toMatch(words);
  });

  test('of another list that has none are not missed', async () => {
    const server = await scriptedServer(json([{ id: 1, type: 'NS', content: 'ns1.example.net' }]));
    const service = connected(server.url, { pages: 'page' });
    expect(await service.listDnsRecords('shop.example.net')).toMatchObject([{ id: 1 }]);
    expect(server.seen).toHaveLength(2);
  });

  test('have one deadline together', async () => {
    let number = 0;
    const server = await scriptedServer((response, request) => {
      number += 1;
      return json(templates(number))(response, request);
    });
    const service = connected(server.url, { pages: 'page', requestTimeout: 300 });
    const { message } = await failureOf(service.listDnsTemplates());
    expect(message).toMatch(/requestTimeout/);
  });
});

test.each<[listKey: string | null, answer: unknown, words: string]>([
  [null, { data: [] }, 'name it with listKey (it has data)'],
  [null, { data: templates(1), more: [] }, 'name it with listKey (it has data, more)'],
  [null, { warnings: ['none'] }, 'name it with listKey (it has warnings)'],
  ['items', { data: templates(1) }, 'no list under items, which listKey names (it has data)'],
])('an object that may hold a list elsewhere is none: listKey %s, %j', async (listKey, answer, words) => {
  const server = await scriptedServer(json(answer));
  const { message } = await failureOf(connected(server.url, { listKey }).listDnsTemplates());
  expect(message).toContain(words);
});

describe('a compressed answer', () => {
  const body = Buffer.from(JSON.stringify(templates(1)));

  test.each([
    ['gzip', gzipSync(body)],
    ['deflate', deflateSync(body)],
    ['br', brotliCompressSync(body)],
  ])('is read, though none asks for it: %s', async (coding, bytes) => {
    const server = await scriptedServer((response) =>
      response.writeHead(200, { 'content-encoding': coding }).end(bytes),
    );
    expect(await connected(server.url).listDnsTemplates()).toMatchObject([{ id: 1 }]);
  });

  test.each<[string, string, Buffer]>([
    ['larger than allowed', 'gzip', gzipSync(Buffer.alloc(100_000, ' '))],
    ['broken', 'gzip', body],
    ['in another form', 'zstd', body],
  ])('that is %s is not', async (_, coding, bytes) => {
    const server = await scriptedServer((response) =>
      response.writeHead(200, { 'content-encoding': coding }).end(bytes),
    );
    const service = connected(server.url, { maxAnswerSize: 10_000 });
    expect(await failureOf(service.listDnsTemplates())).toMatchObject({
      kind: 'bad-answer',
      message: expect.stringContaining(`the answer is compressed (${coding})`),
    });
    expect((await failureOf(service.addDnsTemplateRecord(17, add))).kind).toBe('unknown');
  });
});

test('a record may hold anything, and is only counted if that cannot be understood; but a name is text', async () => {
  const listing = (type: string, name: unknown) => [
    {
      ...wireTemplate,
      dns_template_records: [
        { id: 5, type, content: null, name, priority: 'high', ttl: 'auto' },
        ...wireTemplate.dns_template_records,
      ],
    },
  ];
  const server = await scriptedServer(
    json(listing('ALIAS', 7)),
    json(listing('A', 'www')),
    json(listing('A', {})),
  );
  const service = connected(server.url);
  const records = async () => (await service.listDnsTemplates())[0]?.records;
  const counted = { id: 5, content: '', priority: null, ttl: null };
  expect(await records()).toMatchObject([{ ...counted, type: 'ALIAS', name: '7' }, { id: 1 }, { id: 2 }]);
  expect(await records()).toMatchObject([
    { ...counted, type: 'A', isUnreadable: true },
    { id: 1 },
    { id: 2 },
  ]);
  expect((await failureOf(service.listDnsTemplates())).message).toContain(
    'answer[0].dns_template_records[0].name is not text',
  );
});

test('a read and a write that take too long name their settings', async () => {
  const server = await scriptedServer(silence);
  const service = connected(server.url, { requestTimeout: 40, writeTimeout: 40 });
  expect((await failureOf(service.listDnsTemplates())).message).toContain('allow more with requestTimeout');
  expect((await failureOf(service.addDnsTemplateRecord(17, add))).message).toContain(
    'allow more with writeTimeout',
  );
});

test('http: to a port that expects TLS is guessed, until an answer has come', async () => {
  const secure = createSecureServer({}).listen(0, '127.0.0.1');
  onTestFinished(() => void secure.close());
  await once(secure, 'listening');
  const address = secure.address();
  const port = typeof address === 'object' ? address?.port : null;
  const service = connected(`http://127.0.0.1:${port}`, { requestTimeout: 500 });
  expect((await failureOf(service.listDnsTemplates())).message).toContain('does this port need https:?');
  const server = await scriptedServer(json([]), reset);
  const other = connected(server.url, { requestTimeout: 500 });
  await other.listDnsTemplates();
  expect((await failureOf(other.listDnsTemplates())).message).not.toContain('https:');
});
