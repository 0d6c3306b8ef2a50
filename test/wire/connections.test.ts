import dns from 'node:dns';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { connected, failureOf, wireTemplate, write } from './connected.ts';
import { json, rawServer, scriptedServer, silence } from './scripted-server.ts';

/** Its port, and the flag that it shares with this thread. */
const startThread = async (code: string): Promise<{ port: string; flag: Int32Array<SharedArrayBuffer> }> => {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(code, {
    eval: true,
    workerData: { flag, answer: JSON.stringify(wireTemplate) },
  });
  onTestFinished(async () => void (await worker.terminate()));
  const [port]: unknown[] = await once(worker, 'message');
  return { port: String(port), flag };
};

/** A service in a thread of its own, which takes no connection before the flag is set. */
const slowThread = `
  const { createServer } = require('node:http');
  const { parentPort, workerData: { flag, answer } } = require('node:worker_threads');
  const server = createServer((_, response) => response.end(answer));
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setImmediate(() => Atomics.wait(flag, 0, 0));
  });
`;

/** Its port, and what lets it take connections. */
const slowService = async () => {
  const { port, flag } = await startThread(slowThread);
  // These leave no room, so that the next one is not answered until it asks again, which is after a second.
  const others = [1, 2].map(() => connect(Number(port), '127.0.0.1'));
  onTestFinished(() => others.forEach((socket) => socket.destroy()));
  await Promise.all(others.map((socket) => once(socket, 'connect')));
  const takeAll = (): void => {
    Atomics.store(flag, 0, 1);
    Atomics.notify(flag, 0);
  };
  return { port, takeAll };
};

// nodejs/node#54359.
test('a host with several addresses may be far away', async () => {
  const { port, takeAll } = await slowService();
  const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
  const lookUp = (_: string, __: object, done: (error: null, all: typeof addresses) => void): void =>
    queueMicrotask(() => done(null, addresses));
  const spy = vi.spyOn(dns, 'lookup').mockImplementation(lookUp as typeof dns.lookup);
  onTestFinished(() => spy.mockRestore());
  const writing = write(connected(`http://localhost:${port}`));
  setTimeout(takeAll, 500);
  expect(await writing).toMatchObject({ id: 17 });
  // It did not give up in between.
  expect(spy).toHaveBeenCalledOnce();
});

test.each(['its length announced', 'its length unknown'])(
  'an answer in many pieces, %s, is complete after any earlier answer',
  async (way) => {
    const many = Array.from({ length: 2_000 }, (_, index) => ({
      ...wireTemplate,
      id: 17 + index,
      name: `template ${index} ü`,
    }));
    const answers = [many, many, many.with(1_000, { ...many[1_000]!, name: 'another one' })];
    let asked = 0;
    const server = await scriptedServer(async (response) => {
      const body = Buffer.from(JSON.stringify(answers[asked]));
      asked += 1;
      const length = way === 'its length announced' ? { 'content-length': body.length } : {};
      response.writeHead(200, { 'content-type': 'application/json', ...length });
      // Sizes that share no factor with what any buffer holds.
      for (let from = 0; from < body.length; from += 4_999) {
        if (!response.write(body.subarray(from, from + 4_999))) await once(response, 'drain');
      }
      response.end();
    });
    const service = connected(server.url);
    for (const answer of answers) {
      const templates = await service.listDnsTemplates();
      expect(templates.map(({ id, name }) => ({ id, name }))).toEqual(
        answer.map(({ id, name }) => ({ id, name })),
      );
    }
  },
);

test('a write that is no longer permitted when its connection is ready is not sent', async () => {
  const server = await scriptedServer(json([wireTemplate]));
  let asked = 0;
  const beforeWrite = (): void => {
    asked += 1;
    throw new Error('somebody else writes for this client by now');
  };
  const service = connected(server.url, { beforeWrite, writeTimeout: 100 });
  await service.listDnsTemplates().catch(() => undefined);
  expect(asked).toBe(0);
  const failure = await failureOf(write(service));
  expect(failure).toMatchObject({ kind: 'not-sent' });
  expect(failure.message).toContain('somebody else writes');
  expect(asked).toBeGreaterThan(0);
  expect(server.seen.map(({ method }) => method)).toEqual(['GET']);
});

test('clients of one service share connections, and one that ends leaves the others theirs', async () => {
  const server = await scriptedServer(json([wireTemplate]));
  const clients = Array.from({ length: 5 }, () => connected(server.url));
  for (const client of clients) await client.listDnsTemplates();
  const [first, ...others] = clients;
  // Closed twice, it still counts once.
  for (let count = 0; count < clients.length; count += 1) await first?.close();
  for (const client of others) await client.listDnsTemplates();
  expect(server.seen).toHaveLength(9);
  // A second one is made while the first one is about to be free.
  expect(new Set(server.seen.map(({ connection }) => connection)).size).toBeLessThanOrEqual(2);
});

test('an answer that comes unasked, on an idle connection, is not that to the next read', async () => {
  const said = (name: string): string => {
    const body = JSON.stringify([{ id: 1, type: 'A', content: name }]);
    return `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  };
  let asked = 0;
  const answer = (socket: Socket): void => {
    asked += 1;
    socket.write(said(`answer ${asked}`));
    if (asked === 1) setImmediate(() => socket.write(said('unasked')));
  };
  const sockets: Socket[] = [];
  const place = await rawServer((socket) => sockets.push(socket.on('data', () => answer(socket))));
  const service = connected(`http://${place}`);
  expect(await service.listDnsRecords('a.example')).toMatchObject([{ content: 'answer 1' }]);
  // It has come when the server sees that the connection has ended, or never.
  await Promise.race([once(sockets[0]!, 'close'), new Promise((resolve) => setTimeout(resolve, 200))]);
  expect(await service.listDnsRecords('b.example')).toMatchObject([{ content: 'answer 2' }]);
});

test('reads keep a connection, and each write has its own', async () => {
  const server = await scriptedServer(json([]), json(wireTemplate), json([]), json(wireTemplate), json([]));
  const service = connected(server.url);
  await service.listDnsTemplates();
  await write(service);
  await service.listDnsTemplates();
  await write(service);
  await service.listDnsTemplates();
  const [first, one, second, another, third] = server.seen.map(({ connection }) => connection);
  expect([second, third]).toEqual([first, first]);
  expect(new Set([first, one, another]).size).toBe(3);
  expect(server.seen[1]?.headers.connection).toBe('close');
});

test('many requests at once cause no warning', async () => {
  const warnings: Error[] = [];
  const listen = (warning: Error): number => warnings.push(warning);
  process.on('warning', listen);
  onTestFinished(() => void process.off('warning', listen));
  const server = await scriptedServer(json([]));
  const service = connected(server.url, { concurrency: 30 });
  await Promise.all(Array.from({ length: 60 }, () => service.listDnsTemplates()));
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
  const writing = write(service).then(() => ends.push('write'));
  while (server.seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const read = failureOf(service.listDnsTemplates());
  await arrived;
  const queued = failureOf(write(service));

  const closed = service.close().then(() => ends.push('closed'));
  expect((await read).kind).toBe('unavailable');
  expect((await queued).kind).toBe('not-sent');
  expect(ends).toEqual([]);
  answerWrite();
  await Promise.all([writing, closed]);
  expect(ends).toEqual(['write', 'closed']);
  expect((await failureOf(service.listDnsTemplates())).kind).toBe('not-sent');
  expect(server.seen).toHaveLength(2);
});
