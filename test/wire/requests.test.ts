import { expect, test } from 'vitest';
import type { HostingService } from '../../src/hosting/service.ts';
import { json, scriptedServer, status, type Answer } from './scripted-server.ts';
import { clientToken, connected, failureOf, read, userToken, wireTemplate } from './connected.ts';

/* What is sent: addresses, parameters and tokens. */

const tokens = { user_token: userToken, client_token: clientToken };
const form = (text = ''): Record<string, string> => Object.fromEntries(new URLSearchParams(text));

type Call = (service: HostingService) => Promise<unknown>;

const accounts: Call = (service) => service.show('list-accounts', '/accounts');

const reads: readonly (readonly [path: string, parameters: Record<string, string>, call: Call])[] = [
  ['accounts', {}, accounts],
  [
    'databases',
    { account_id: '5' },
    (service) => service.show('list-databases', '/databases', { account_id: 5 }),
  ],
  ['dns_templates', {}, read],
  ['dns_records', { subdomain: 'shöp.example.net' }, (service) => service.listDnsRecords('shöp.example.net')],
];

test.each(reads)('%s has its parameters and both tokens in the query', async (path, parameters, call) => {
  const server = await scriptedServer(json([]));
  await call(connected(server.url));
  expect(server.seen[0]).toMatchObject({ method: 'GET', path: `/api/v1/${path}`, body: '' });
  expect(form(server.seen[0]?.query)).toEqual({ ...tokens, ...parameters });
});

test.each([400, 401, 415, 422])(
  'after %i, reads have them in a form body, and from then on',
  async (code) => {
    for (const [path, parameters, call] of reads) {
      const readingBodies: Answer = (response, request) =>
        (request.body === '' ? status(code) : json([]))(response, request);
      const server = await scriptedServer(readingBodies);
      const service = connected(server.url);
      for (const one of [service, service, connected(server.url)]) await call(one);
      const [refused, ...others] = server.seen;
      expect([refused?.body, others.length]).toEqual(['', 3]);
      for (const request of others) {
        expect(request).toMatchObject({ method: 'GET', path: `/api/v1/${path}`, query: '' });
        expect(request.headers['content-type']).toBe('application/x-www-form-urlencoded');
        expect(form(request.body)).toEqual({ ...tokens, ...parameters });
      }
    }
  },
);

test('a form body is tried once for each read, and never where the query has worked', async () => {
  const server = await scriptedServer(
    ...[401, 503, 401, 422].map((code) => status(code)),
    json([]),
    status(401),
  );
  const service = connected(server.url);
  // Whatever the form is answered, the query is what is specified.
  for (let count = 0; count < 2; count += 1)
    expect((await failureOf(accounts(service))).message).toContain('401: it rejects');
  await accounts(service);
  expect((await failureOf(accounts(service))).kind).toBe('unauthorized');
  const places = server.seen.map(({ body }) => (body === '' ? 'query' : 'form'));
  expect(places).toEqual(['query', 'form', 'query', 'form', 'query', 'query']);
});

test('a write is a form body with only the stated fields', async () => {
  const server = await scriptedServer(json(wireTemplate));
  const service = connected(server.url);
  const srv = { type: 'SRV', content: '5 5060 sip.example.net', name: '_sip._tcp', ttl: 0, priority: 0 };
  await service.addDnsTemplateRecord(17, { type: 'A', content: '203.0.113.10', name: null, ttl: null });
  await service.addDnsTemplateRecord(17, srv);
  await service.updateDnsTemplateRecord(17, { recordId: 2, content: 'v=spf1 +mx ~all; "ä" %' });
  await service.updateDnsTemplateRecord(17, { recordId: 2, name: 'mail', priority: 20, ttl: 60 });
  expect(
    server.seen.map(({ method, path, query, headers }) => [method, path, query, headers['content-type']]),
  ).toEqual(
    ['add_record', 'add_record', 'update_record', 'update_record'].map((name) => [
      'PUT',
      `/api/v1/dns_templates/17/${name}`,
      '',
      'application/x-www-form-urlencoded',
    ]),
  );
  expect(server.seen.map(({ body }) => form(body))).toEqual([
    { ...tokens, type: 'A', content: '203.0.113.10' },
    { ...tokens, ...srv, ttl: '0', priority: '0' },
    { ...tokens, record_id: '2', content: 'v=spf1 +mx ~all; "ä" %' },
    { ...tokens, record_id: '2', name: 'mail', priority: '20', ttl: '60' },
  ]);
});

test('what is no list of things, or no thing, is not shown', async () => {
  const service = connected((await scriptedServer(json({ error: 'expired' }), json([]))).url);
  expect((await failureOf(accounts(service))).message).toContain(
    'answer is not an array: {"error":"expired"}',
  );
  const account = service.show('show-account', '/accounts/5');
  expect((await failureOf(account)).message).toContain('answer is not an object: []');
});

test('tokens are read at each request', async () => {
  const server = await scriptedServer(json([]));
  let turn = 0;
  const service = connected(server.url, {
    tokens: () => ({ userToken: `user-${(turn += 1)}`, clientToken: 'client' }),
  });
  await accounts(service);
  await accounts(service);
  expect(server.seen.map(({ query }) => form(query)['user_token'])).toEqual(['user-1', 'user-2']);
});

test('a request is reported with its operation, status and duration', async () => {
  const server = await scriptedServer(json([]), json({}, 500));
  const traces: unknown[] = [];
  const service = connected(server.url, { onRequest: (trace) => traces.push(trace) });
  await accounts(service);
  await failureOf(service.updateDnsTemplateRecord(17, { recordId: 2, ttl: 60 }));
  const durationMs = expect.any(Number);
  const error = expect.stringContaining('500');
  expect(traces).toEqual([
    { operation: 'list-accounts', status: 200, durationMs },
    { operation: 'update-dns-template-record', status: 500, durationMs, error },
  ]);
});
