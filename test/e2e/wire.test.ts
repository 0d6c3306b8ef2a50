import { expect, it, vi } from 'vitest';
import { run, workplace } from './program.ts';
import { clientToken, startService, userToken, type Service } from './service.ts';

vi.setConfig({ testTimeout: 30_000 });

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

it('a service that reads them in a form body only is read so after one refusal, and all passes go on', async () => {
  const service = await startService(({ method, body }) =>
    method === 'GET' && body === '' ? (response) => response.writeHead(400).end() : null,
  );
  const launch = { cwd: await workplace(), env: service.env };
  expect(await run(['apply', '--yes'], launch)).toMatchObject({ code: 0 });
  const records = await run(['get', 'dns-records', 'bakery.example.net'], launch);
  expect(records).toMatchObject({ code: 0, stdout: expect.stringContaining('203.0.113.10') });
  const [refused, ...others] = service.seen;
  expect(refused).toMatchObject({ method: 'GET', body: '' });
  expect(others.map(({ query }) => query).join('')).toBe('');
  expect(others.every(({ body }) => new URLSearchParams(body).get('client_token') === clientToken)).toBe(
    true,
  );
  expect(service.seen.at(-1)?.headers['content-type']).toBe('application/x-www-form-urlencoded');
});
