import { describe, expect, onTestFinished, test } from 'vitest';
import { clientToken, connected, failureOf, userToken, wireTemplate } from './connected.ts';
import { json, scriptedServer, silence, status, type Answer } from './scripted-server.ts';

const tokens = { user_token: userToken, client_token: clientToken };
const form = (text: string): Record<string, string> => Object.fromEntries(new URLSearchParams(text));

const reads = [
  { name: 'listAccounts', path: '/api/v1/accounts', parameters: {}, answer: [] },
  { name: 'showAccount', argument: 5, path: '/api/v1/accounts/5', parameters: {}, answer: { id: 5 } },
  {
    name: 'listDatabases',
    argument: 5,
    path: '/api/v1/databases',
    parameters: { account_id: '5' },
    answer: [],
  },
  { name: 'listDnsTemplates', path: '/api/v1/dns_templates', parameters: {}, answer: [] },
  {
    name: 'listDnsRecords',
    argument: 'shöp.example.net',
    path: '/api/v1/dns_records',
    parameters: { subdomain: 'shöp.example.net' },
    answer: [],
  },
] as const;

const perform = (service: ReturnType<typeof connected>, read: (typeof reads)[number]): Promise<unknown> => {
  if (read.name === 'listDnsRecords') return service.listDnsRecords(read.argument);
  if (read.name === 'showAccount' || read.name === 'listDatabases') return service[read.name](read.argument);
  return service[read.name]();
};

test.each(reads)('$name sends its parameters and both tokens in the query', async (read) => {
  const server = await scriptedServer(json(read.answer));
  await perform(connected(server.url), read);
  const [request] = server.seen;
  expect(request).toMatchObject({ method: 'GET', path: read.path, body: '' });
  expect(form(request?.query ?? '')).toEqual({ ...tokens, ...read.parameters });
});

/** A service that reads the parameters of a GET from a form body, and says so in one way. */
const readingBodies =
  (code: number, answer: unknown): Answer =>
  (response, request) =>
    request.body === '' && request.method === 'GET'
      ? status(code)(response, request)
      : json(request.method === 'PUT' ? wireTemplate : answer)(response, request);

describe.each([400, 401, 415, 422])('a service that answers the query of a GET with %i', (code) => {
  test.each(reads)('gets the parameters of $name in a form body, and from then on', async (read) => {
    const server = await scriptedServer(readingBodies(code, read.answer));
    const service = connected(server.url);
    await perform(service, read);
    await perform(service, read);
    await perform(connected(server.url), read);
    const [refused, ...others] = server.seen;
    expect(refused).toMatchObject({ path: read.path, body: '' });
    expect(others).toHaveLength(3);
    for (const request of others) {
      expect(request).toMatchObject({ method: 'GET', path: read.path, query: '' });
      expect(request.headers['content-type']).toBe('application/x-www-form-urlencoded');
      expect(form(request.body)).toEqual({ ...tokens, ...read.parameters });
    }
  });
});

test('a form body is tried once for the same tokens, and never where the query has worked', async () => {
  const refusals = [401, 503, 401, 422, 401, 401, 400].map((code) => status(code));
  const server = await scriptedServer(...refusals, json([]), status(401));
  let user = 'one';
  const service = connected(server.url, { tokens: () => ({ userToken: user, clientToken: 'client' }) });
  const bodies = async (): Promise<string[]> => {
    const before = server.seen.length;
    // Whatever the form is answered, the query is what is specified.
    expect((await failureOf(service.listAccounts())).message).toContain('401: it rejects');
    return server.seen.slice(before).map(({ body }) => (body === '' ? 'query' : 'form'));
  };
  // A form that was not answered is no answer.
  expect([await bodies(), await bodies(), await bodies()]).toEqual([
    ['query', 'form'],
    ['query', 'form'],
    ['query'],
  ]);
  user = 'another';
  expect([await bodies(), await bodies().catch(() => 'it works')]).toEqual([['query', 'form'], 'it works']);
  expect((await failureOf(service.listAccounts())).kind).toBe('unauthorized');
  expect(server.seen.at(-1)?.body).toBe('');
  expect(server.seen).toHaveLength(9);
});

test.each([403, 404, 429, 500])('no form body is tried after %i', async (code) => {
  const server = await scriptedServer(status(code));
  await failureOf(connected(server.url, { requestTimeout: 1 }).showAccount(5));
  expect(server.seen.every(({ body }) => body === '')).toBe(true);
});

test('an added record is a form body with only the stated fields', async () => {
  const server = await scriptedServer(json(wireTemplate));
  const service = connected(server.url);
  await service.addDnsTemplateRecord(17, { type: 'A', content: '203.0.113.10', name: null, ttl: null });
  await service.addDnsTemplateRecord(17, {
    type: 'SRV',
    content: '5 5060 sip.example.net',
    name: '_sip._tcp',
    ttl: 0,
    priority: 0,
  });
  const [bare, full] = server.seen;
  expect(bare).toMatchObject({ method: 'PUT', path: '/api/v1/dns_templates/17/add_record', query: '' });
  expect(bare?.headers['content-type']).toBe('application/x-www-form-urlencoded');
  expect(form(bare?.body ?? '')).toEqual({ ...tokens, type: 'A', content: '203.0.113.10' });
  expect(form(full?.body ?? '')).toEqual({
    ...tokens,
    type: 'SRV',
    content: '5 5060 sip.example.net',
    name: '_sip._tcp',
    ttl: '0',
    priority: '0',
  });
});

test('an update is a form body with only the changed fields', async () => {
  const server = await scriptedServer(json(wireTemplate));
  const service = connected(server.url);
  await service.updateDnsTemplateRecord(17, { recordId: 2, content: 'v=spf1 +mx ~all; "ä" %' });
  await service.updateDnsTemplateRecord(17, { recordId: 2, name: 'mail', priority: 20, ttl: 60 });
  expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'PUT /api/v1/dns_templates/17/update_record',
    'PUT /api/v1/dns_templates/17/update_record',
  ]);
  expect(server.seen.map(({ body }) => form(body))).toEqual([
    { ...tokens, record_id: '2', content: 'v=spf1 +mx ~all; "ä" %' },
    { ...tokens, record_id: '2', name: 'mail', priority: '20', ttl: '60' },
  ]);
});

test('no header contains a token', async () => {
  const server = await scriptedServer(json([]), json(wireTemplate));
  const service = connected(server.url);
  await service.listDnsTemplates();
  await service.addDnsTemplateRecord(17, { type: 'A', content: '203.0.113.10' });
  for (const { headers } of server.seen)
    expect(Object.keys(headers).toSorted()).toEqual(
      expect.arrayContaining(['accept', 'connection', 'host', 'user-agent']),
    );
  const sent = server.seen.flatMap(({ rawHeaders }) => rawHeaders).join('\n');
  for (const part of ['us3r', 'cl13nt']) expect(sent).not.toContain(part);
});

test('tokens are read at each request', async () => {
  const server = await scriptedServer(json([]));
  let turn = 0;
  const service = connected(server.url, {
    tokens: () => ({ userToken: `user-${(turn += 1)}`, clientToken: 'client' }),
  });
  await service.listAccounts();
  await service.listAccounts();
  expect(server.seen.map(({ query }) => form(query)['user_token'])).toEqual(['user-1', 'user-2']);
});

test.each(['', '/'])('a base URL that ends in "%s" leads to the same paths', async (end) => {
  const server = await scriptedServer(json([]));
  await connected(server.url + end).listAccounts();
  expect(server.seen[0]?.path).toBe('/api/v1/accounts');
});

test.each([
  '',
  'panel.example.net/api',
  'ftp://panel.example.net',
  'https://secret@panel.example.net',
  'https://:secret@panel.example.net',
  'http://x?y=secret',
  'http://x#secret',
])('the base URL "%s" is refused without repeating it', (baseUrl) => {
  expect(() => connected(baseUrl)).toThrow(/^The base URL must (?!.*secret)/);
});

test.each([200, 201, 202, 203, 299])('%i is a success', async (code) => {
  const server = await scriptedServer(json([wireTemplate], code), json(wireTemplate, code));
  const service = connected(server.url);
  expect(await service.listDnsTemplates()).toMatchObject([{ id: 17 }]);
  expect(await service.addDnsTemplateRecord(17, { type: 'A', content: '203.0.113.10' })).toMatchObject({
    id: 17,
  });
});

test('reads keep a connection, and each write has its own', async () => {
  const server = await scriptedServer(json([]), json(wireTemplate), json([]), json(wireTemplate), json([]));
  const service = connected(server.url);
  await service.listDnsTemplates();
  await service.updateDnsTemplateRecord(17, { recordId: 2, ttl: 60 });
  await service.listDnsTemplates();
  await service.updateDnsTemplateRecord(17, { recordId: 2, ttl: 60 });
  await service.listDnsTemplates();
  const [first, write, second, otherWrite, third] = server.seen.map(({ connection }) => connection);
  expect([second, third]).toEqual([first, first]);
  expect(new Set([first, write, otherWrite]).size).toBe(3);
  expect(server.seen[1]?.headers.connection).toBe('close');
});

test('a byte order mark before the JSON is ignored', async () => {
  const server = await scriptedServer((response) => response.end('\uFEFF[]'));
  expect(await connected(server.url).listAccounts()).toEqual([]);
});

test('many requests at once cause no warning', async () => {
  const warnings: Error[] = [];
  const listen = (warning: Error): number => warnings.push(warning);
  process.on('warning', listen);
  onTestFinished(() => void process.off('warning', listen));
  const server = await scriptedServer(json([]));
  const service = connected(server.url, { concurrency: 30 });
  await Promise.all(Array.from({ length: 60 }, () => service.listAccounts()));
  expect(warnings).toEqual([]);
});

test('no more requests are in flight than allowed, and all are answered', async () => {
  let inFlight = 0;
  let peak = 0;
  const server = await scriptedServer(async (response, request) => {
    peak = Math.max(peak, (inFlight += 1));
    await new Promise((resolve) => setTimeout(resolve, 5));
    inFlight -= 1;
    await json(request.method === 'PUT' ? wireTemplate : [])(response, request);
  });
  const service = connected(server.url, { concurrency: 3 });
  await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      index % 3 === 0
        ? service.updateDnsTemplateRecord(17, { recordId: 2, ttl: index })
        : service.listDnsRecords(`s${index}.example.net`),
    ),
  );
  expect(server.seen).toHaveLength(30);
  expect(peak).toBe(3);
});

test('closing waits for a write in flight, aborts reads and sends nothing more', async () => {
  let answerWrite = (): void => undefined;
  let bothArrived = (): void => undefined;
  const arrived = new Promise<void>((resolve) => (bothArrived = resolve));
  const server = await scriptedServer(
    (response, request) => (answerWrite = () => void json(wireTemplate)(response, request)),
    () => bothArrived(),
    silence,
  );
  const service = connected(server.url, { concurrency: 2 });
  const ends: string[] = [];
  const write = service.updateDnsTemplateRecord(17, { recordId: 2, ttl: 60 }).then(() => ends.push('write'));
  while (server.seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const read = failureOf(service.listDnsTemplates());
  await arrived;
  const queued = failureOf(service.addDnsTemplateRecord(17, { type: 'A', content: '203.0.113.10' }));

  const closed = service.close().then(() => ends.push('closed'));
  expect((await read).kind).toBe('unavailable');
  expect((await queued).kind).toBe('not-sent');
  expect(ends).toEqual([]);
  answerWrite();
  await Promise.all([write, closed]);
  expect(ends).toEqual(['write', 'closed']);
  expect((await failureOf(service.listAccounts())).kind).toBe('not-sent');
  expect(server.seen).toHaveLength(2);
});

test('a request is reported with its operation, status and duration', async () => {
  const server = await scriptedServer(json([]), json({}, 500), json({}, 422));
  const traces: unknown[] = [];
  const service = connected(server.url, { onRequest: (trace) => traces.push(trace) });
  await service.listAccounts();
  await failureOf(service.updateDnsTemplateRecord(17, { recordId: 2, ttl: 60 }));
  await failureOf(service.updateDnsTemplateRecord(17, { recordId: 2, ttl: 60 }));
  const durationMs = expect.any(Number);
  expect(traces).toEqual([
    { operation: 'list-accounts', status: 200, durationMs },
    {
      operation: 'update-dns-template-record',
      status: 500,
      durationMs,
      error: expect.stringContaining('500'),
    },
    {
      operation: 'update-dns-template-record',
      status: 422,
      durationMs,
      error: expect.stringContaining('422'),
    },
  ]);
});
