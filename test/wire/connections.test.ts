import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { connected, failureOf, read, wireTemplate, write } from './connected.ts';
import { json, rawServer, scriptedServer, silence } from './scripted-server.ts';

test('an answer in many pieces is complete after any earlier answer', async () => {
  const many = Array.from({ length: 2_000 }, (_, at) => ({ ...wireTemplate, id: 17 + at, name: `n${at} ü` }));
  const answers = [many, many, many.with(1_000, { ...many[1_000]!, name: 'another one' })];
  let asked = 0;
  const server = await scriptedServer((response) => {
    const body = Buffer.from(JSON.stringify(answers[asked]));
    asked += 1;
    // Sizes that share no factor with what any buffer holds.
    for (let from = 0; from < body.length; from += 4_999) response.write(body.subarray(from, from + 4_999));
    response.end();
  });
  const service = connected(server.url);
  for (const answer of answers)
    expect((await read(service)).map(({ id, name }) => ({ id, name }))).toEqual(
      answer.map(({ id, name }) => ({ id, name })),
    );
});

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
  for (const client of clients) await read(client);
  await clients[0]?.close();
  for (const client of clients.slice(1)) await read(client);
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

test('no more requests are in flight than allowed, all are answered, and many cause no warning', async () => {
  const warnings: Error[] = [];
  const listen = (warning: Error): number => warnings.push(warning);
  process.on('warning', listen);
  onTestFinished(() => void process.off('warning', listen));
  const waiting: (() => unknown)[] = [];
  let peak = 0;
  const server = await scriptedServer(async (response, request) => {
    const answer = json(request.method === 'PUT' ? wireTemplate : []);
    peak = Math.max(
      peak,
      waiting.push(() => answer(response, request)),
    );
    if (waiting.length < 12) return;
    // Others, if they had been sent, would come now.
    for (let turn = 0; turn < 50; turn += 1) await nextTurn();
    for (const one of waiting.splice(0)) one();
  });
  const service = connected(server.url, { concurrency: 12 });
  const calls = Array.from({ length: 60 }, (_, at) =>
    at % 3 === 0 ? write(service) : service.listDnsRecords(`s${at}.example.net`),
  );
  await Promise.all(calls);
  expect([server.seen.length, peak, warnings]).toEqual([60, 12, []]);
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
  const reading = failureOf(read(service));
  await arrived;
  const queued = failureOf(write(service));

  const closed = service.close().then(() => ends.push('closed'));
  expect((await reading).kind).toBe('unavailable');
  expect((await queued).kind).toBe('not-sent');
  expect(ends).toEqual([]);
  answerWrite();
  await Promise.all([writing, closed]);
  expect(ends).toEqual(['write', 'closed']);
  expect((await failureOf(service.listDnsTemplates())).kind).toBe('not-sent');
  expect(server.seen).toHaveLength(2);
});
