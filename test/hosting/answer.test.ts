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
    [{ error: 'the content is wrong' }, '{"error":"the content is wrong"}'],
    [{ success: false, message: 'no such type' }, '{"success":false,"message":"no such type"}'],
    [{ errors: ['one', 'two'] }, '{"errors":["one","two"]}'],
    [{ errors: { content: ['is invalid'] } }, '{"errors":{"content":["is invalid"]}}'],
    [{ status: 'error', id: null, message: 'sorry' }, '{"status":"error","id":null,"message":"sorry"}'],
    [{ error: 'us3r+token/=&"x y' }, '{"error":"[secret]"}'],
    [{ error: 'x'.repeat(1_000) }, `{"error":"${'x'.repeat(190)}…`],
  ])('refuses a write: %j', async (answer, words) => {
    const server = await scriptedServer(json(answer));
    const { kind, message } = await failureOf(connected(server.url).addDnsTemplateRecord(17, add));
    expect(kind).toBe('refused');
    expect(message).toBe(`add dns template record: the service answered 200 with an error: ${words}`);
  });

  test.each<[answer: unknown, words: RegExp]>([
    [
      { id: 17, error: 'the content is wrong' },
      /dns_template_records is not an array: .*the content is wrong/,
    ],
    [{ message: 'queued' }, /answer\.id is not a whole number: \{"message":"queued"\}$/],
    [{ dns_template_records: [], error: 'late' }, /answer\.id is not a whole number/],
  ])('is not one that refuses where the answer may be of a template: %j', async (answer, words) => {
    const server = await scriptedServer(json(answer));
    const { kind, message } = await failureOf(connected(server.url).addDnsTemplateRecord(17, add));
    expect(kind).toBe('unknown');
    expect(message).toMatch(words);
  });
});

describe('a list', () => {
  const link = (address: string) => ({ link: `<x>; rel="last", <${address}>; rel="next"` });

  test.each<[sign: string, headers: Record<string, string>, status?: number]>([
    ['a link to the next page', link('?page=2')],
    ['a link with several relations', { link: '<?page=2>; title="x"; rel="section next"' }],
    ['a number of pages', { 'x-total-pages': '2' }],
    ['a number of entries', { 'x-total-count': '3' }],
    ['a total', { 'x-total': '3' }],
    ['the number of the next page', { 'x-next-page': '2' }],
    ['a part', {}, 206],
  ])('that names more than came is refused, also if it is as before: %s', async (_, headers, code = 200) => {
    const body = JSON.stringify(templates(1, 2));
    const server = await scriptedServer(status(200, body), status(code, body, headers));
    const service = connected(server.url);
    expect(await service.listDnsTemplates()).toHaveLength(2);
    for (const call of [service.listDnsTemplates(), connected(server.url).listDnsTemplates()]) {
      const { kind, message } = await failureOf(call);
      expect(kind).toBe('bad-answer');
      expect(message).toMatch(
        /^list dns templates: the listing is not whole \(.+\), and this program reads no/,
      );
    }
    expect(server.seen).toHaveLength(3);
  });

  test.each<[sign: string, headers: Record<string, string>]>([
    ['one page', { 'x-total-pages': '1', 'x-total-count': '2', 'x-next-page': '' }],
    ['other links', { link: '<x>; rel="prev", <next>; rel="canonical"' }],
  ])('is whole with %s', async (_, headers) => {
    const server = await scriptedServer(headed(headers, templates(1, 2)));
    expect(await connected(server.url).listDnsTemplates()).toHaveLength(2);
  });

  test.each<[answer: unknown, words: string]>([
    [{ data: templates(1) }, 'answer is not an array: {"data":[{"id":1,'],
    [{ data: [], more: [] }, 'answer is not an array: {"data":[],"more":[]}'],
    [{ error: 'expired', data: [] }, 'answer is not an array: {"error":"expired","data":[]}'],
    [null, 'answer is not an array: null'],
    ['soon', 'answer is not an array: "soon"'],
    [[7], 'answer[0] is not an object: [7]'],
  ])('that is another thing is refused with its first words: %j', async (answer, words) => {
    const server = await scriptedServer(json(answer));
    const { kind, message } = await failureOf(connected(server.url).listDnsTemplates());
    expect(kind).toBe('bad-answer');
    expect(message).toContain(`list dns templates: the answer breaks the contract: ${words}`);
  });

  test('that is the same again is known by its bytes, and a template that is the same by its values', async () => {
    const changed = templates(1, 2, 3).with(1, { ...wireTemplate, id: 2, name: 'another' });
    const server = await scriptedServer(
      json(templates(1, 2, 3)),
      json(templates(1, 2, 3)),
      json(changed),
      json(changed.toReversed()),
    );
    const service = connected(server.url);
    const listing = await service.listDnsTemplates();
    expect(await service.listDnsTemplates()).toBe(listing);
    const next = await service.listDnsTemplates();
    expect(next.map((one, index) => one === listing[index])).toEqual([true, false, true]);
    expect(next[1]).toMatchObject({ id: 2, name: 'another' });
    const reversed = await service.listDnsTemplates();
    expect(reversed.map(({ id }) => id)).toEqual([3, 2, 1]);
    expect(reversed.every((one) => next.includes(one))).toBe(true);
  });
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
