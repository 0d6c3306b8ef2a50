import { expect, it, vi } from 'vitest';
import { write } from '../desired/load-files.ts';
import { run, workplace } from './program.ts';
import { clientToken, parametersOf, startService, userToken, type Service } from './service.ts';

vi.setConfig({ testTimeout: 30_000 });

/** One pass over a template that holds `actual`, with a file that holds `desired`; gives the writes. */
const writesFor = async (
  actual: readonly object[],
  desired: readonly string[],
): Promise<Record<string, string>[]> => {
  const service = await startService();
  await service.change('add-template', { name: 'wire', records: actual });
  const cwd = await workplace({ withExamples: false });
  const records = desired.map((one) => `  - ${one}\n`).join('');
  await write(cwd, { 'templates/wire.yaml': `template: wire\nadopt: true\nrecords:\n${records}` });
  const launch = { cwd, env: service.env };
  expect(await run(['apply', '--yes'], launch)).toMatchObject({ code: 0 });
  const writes = service.writes().map(parametersOf);
  const again = await run(['plan', '--detailed-exitcode'], launch);
  expect(again.stdout).toContain('in sync');
  expect(again.stdout).not.toMatch(/to add|to change/);
  return writes;
};

const record = (type: string, name: string | null, content: string, priority: number | null = null) => ({
  type,
  name,
  content,
  priority,
  ttl: 300,
});

it('an update sends what changes, and what its type requires', async () => {
  const rows = [
    {
      actual: record('A', 'www', '203.0.113.1'),
      desired: '{type: A, name: www, content: 203.0.113.2}',
      sent: { content: '203.0.113.2' },
    },
    {
      actual: record('A', 'ttl', '203.0.113.1'),
      desired: '{type: A, name: ttl, content: 203.0.113.1, ttl: 1h}',
      sent: { ttl: '3600' },
    },
    {
      actual: record('PTR', '7', 'a.example.net'),
      desired: '{type: PTR, name: 7, content: b.example.net}',
      sent: { content: 'b.example.net', name: '7' },
    },
    {
      actual: record('CNAME', 'alias', 'a.example.net'),
      desired: '{type: CNAME, name: alias, content: b.example.net}',
      sent: { content: 'b.example.net' },
    },
    {
      actual: record('MX', null, 'a.example.net', 10),
      desired: '{type: MX, content: b.example.net, priority: 10}',
      sent: { content: 'b.example.net', priority: '10' },
    },
    {
      actual: record('SRV', '_sip._tcp', '5 5060 a.example.net', 10),
      desired: '{type: SRV, name: _sip._tcp, priority: 10, weight: 5, port: 5060, target: b.example.net}',
      sent: { content: '5 5060 b.example.net', name: '_sip._tcp', priority: '10' },
    },
    {
      actual: record('SRV', '_ttl._tcp', '5 5060 a.example.net', 10),
      desired: '{type: SRV, name: _ttl._tcp, priority: 10, content: 5 5060 a.example.net, ttl: 1h}',
      sent: { ttl: '3600', name: '_ttl._tcp', priority: '10' },
    },
  ];
  const writes = await writesFor(
    rows.map(({ actual }) => actual),
    rows.map(({ desired }) => desired),
  );
  const byId = writes.toSorted((one, other) => Number(one['record_id']) - Number(other['record_id']));
  expect(byId).toEqual(rows.map(({ sent }) => ({ record_id: expect.stringMatching(/^\d+$/), ...sent })));
});

it('an add sends only what the file states', async () => {
  const writes = await writesFor(
    [],
    [
      '{type: A, name: "@", content: 203.0.113.2}',
      '{type: A, name: www, content: 203.0.113.2, ttl: 5m}',
      '{type: MX, content: mx.example.net, priority: 0}',
      '{type: SRV, name: _a._tcp, priority: 1, weight: 2, port: 3, target: t.example.net}',
    ],
  );
  expect(writes).toEqual([
    { type: 'A', content: '203.0.113.2' },
    { type: 'A', content: '203.0.113.2', name: 'www', ttl: '300' },
    { type: 'MX', content: 'mx.example.net', priority: '0' },
    { type: 'SRV', content: '2 3 t.example.net', name: '_a._tcp', priority: '1' },
  ]);
});

it('a record without a TTL never differs in its TTL', async () => {
  const actual = [record('A', 'www', '203.0.113.1'), { ...record('A', null, '203.0.113.1'), ttl: 86_400 }];
  const desired = ['{type: A, name: www, content: 203.0.113.1}', '{type: A, content: 203.0.113.1}'];
  expect(await writesFor(actual, desired)).toEqual([]);
});

const isCarried = ({ seen }: Service, part: 'query' | 'body', methods: RegExp): boolean =>
  seen
    .filter(({ method }) => methods.test(method))
    .every((request) => {
      const parameters = new URLSearchParams(request[part]);
      return parameters.get('user_token') === userToken && parameters.get('client_token') === clientToken;
    });

const carriers = ({ seen }: Service): string[] =>
  seen.flatMap(({ method, path, rawHeaders }) => [method, path, ...rawHeaders]);

it('tokens are in the query of reads and in the body of writes, and never in a header', async () => {
  const service = await startService();
  await run(['apply', '--yes'], { cwd: await workplace(), env: service.env });
  expect(service.writes()).toHaveLength(6);
  expect(isCarried(service, 'query', /GET/)).toBe(true);
  expect(isCarried(service, 'body', /PUT/)).toBe(true);
  expect(service.seen.every(({ method, body }) => method === 'PUT' || body === '')).toBe(true);
  expect(service.writes().every(({ query }) => query === '')).toBe(true);
  expect(carriers(service).join('\n')).not.toMatch(/token|tok%|t%C3/i);
});

it('getParameters: body sends those of reads in a form body too', async () => {
  const service = await startService();
  const cwd = await workplace();
  await write(cwd, { 'dns-template-sync.yaml': 'getParameters: body\n' });
  const launch = { cwd, env: service.env };
  expect(await run(['apply', '--yes'], launch)).toMatchObject({ code: 0 });
  const records = await run(['get', 'dns-records', 'bakery.example.net'], launch);
  expect(records).toMatchObject({ code: 0, stdout: expect.stringContaining('203.0.113.10') });
  expect(isCarried(service, 'body', /GET|PUT/)).toBe(true);
  expect(service.seen.map(({ query }) => query).join('')).toBe('');
  expect(service.seen.at(-1)?.headers['content-type']).toBe('application/x-www-form-urlencoded');
});
