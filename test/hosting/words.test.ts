import { createServer } from 'node:http';
import { once } from 'node:events';
import { createServer as createPlainServer, type AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { connectHosting } from '../../src/hosting/service.ts';

const messageAt = async (baseUrl: string): Promise<string> => {
  const service = connectHosting({
    baseUrl,
    tokens: () => ({ userToken: 'user-secret', clientToken: 'client-secret', places: 'userToken: HERE' }),
    proxy: null,
    ca: null,
    requestTimeout: 5_000,
    writeTimeout: 5_000,
    concurrency: 1,
    maxAnswerSize: 1_000_000,
  });
  onTestFinished(() => service.close());
  return service.listAccounts().then(
    () => expect.fail('it answered'),
    (error: unknown) => String(error),
  );
};

const answering = async (status: number, body = 'x', headers = {}): Promise<string> => {
  const server = createServer((_, response) => response.writeHead(status, headers).end(body)).listen(
    0,
    '127.0.0.1',
  );
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
};

test('an unknown host', async () => {
  expect(await messageAt('https://no-such-host.invalid/api')).toMatch(
    /there is no such host|cannot be resolved/,
  );
});

test('a port where nothing listens', async () => {
  const server = createPlainServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  expect(await messageAt(`http://127.0.0.1:${port}/api`)).toContain('nothing listens at this address');
});

test('TLS at a port without', async () => {
  expect(await messageAt(`https://${await answering(200)}/api`)).toMatch(
    /this port does not use TLS: check https: and the port \(ERR_SSL_\w+\)$/,
  );
});

test('rejected tokens, with their sources', async () => {
  expect(await messageAt(`http://${await answering(401)}/api`)).toContain(
    'the service answered 401: it rejects the tokens (userToken: HERE)',
  );
});

test('a wrong base URL, with the requested path', async () => {
  const host = await answering(404);
  const message = await messageAt(`http://${host}/wrong`);
  expect(message).toContain(`there is nothing at http://${host}/wrong/accounts`);
  // Some services answer so to wrong tokens.
  expect(message).toContain('or the service answers so to wrong tokens (userToken: HERE)');
  expect(message).not.toContain('secret');
});

test.each<[status: number, body: string, headers: Record<string, string>, words: string]>([
  [403, 'x', {}, 'answered 403: these tokens may not do this (userToken: HERE): x'],
  [500, 'x', {}, 'answered 500, an error of its own: x'],
  [429, 'x', {}, 'answered 429: too many requests: x'],
  [200, '<b>login</b>', {}, 'the answer is a page for people, so the base URL may be wrong: login'],
])('an answer of %d and %j', async (status, body, headers, words) => {
  expect(await messageAt(`http://${await answering(status, body, headers)}/api`)).toContain(words);
});

test('a connection that ends before the answer', async () => {
  const server = createServer((request) => void request.destroy()).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const { port } = server.address() as AddressInfo;
  expect(await messageAt(`http://127.0.0.1:${port}/api`)).toContain(
    'the service ended the connection before its answer was complete',
  );
});
