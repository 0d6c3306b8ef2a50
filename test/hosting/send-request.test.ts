import { once } from 'node:events';
import { createServer } from 'node:http';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { Client, RetryAgent } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { sendRequest } from '../../src/hosting/send-request.ts';

/* A request leaves at most once, and never after its deadline, whatever the connection below it does. */

const write = { method: 'PUT', path: '/', body: null, timeout: 5_000 } as const;
const room = { size: 1_000, left: 1_000 };

/** A server that counts requests, and answers each with 503. */
const startServer = async () => {
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    response.writeHead(503).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, port, requests: () => requests };
};

it('is not sent again by a connection that repeats requests', async () => {
  const server = await startServer();
  const client = new Client(server.origin);
  onTestFinished(() => client.destroy());
  const repeating = new RetryAgent(client, { methods: ['PUT'], minTimeout: 1, maxRetries: 3 });
  await sendRequest(repeating, write, room).catch(() => undefined);
  expect(server.requests()).toBe(1);
});

it('is not sent by a connection that opens after its deadline', async () => {
  const server = await startServer();
  let isLate = true;
  let openLate = (): void => undefined;
  const client = new Client(server.origin, {
    connect: (_, callback) => {
      const open = (): void => {
        const socket = net.connect(server.port, '127.0.0.1', () => callback(null, socket));
      };
      if (isLate) openLate = open;
      else open();
    },
  });
  onTestFinished(() => client.destroy());
  await expect(sendRequest(client, { ...write, timeout: 20 }, room)).rejects.toThrow('timeout: a connection');
  isLate = false;
  openLate();
  // The next request comes after whatever was left of the first one.
  await sendRequest(client, write, room);
  expect(server.requests()).toBe(1);
});
