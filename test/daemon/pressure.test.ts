import { once } from 'node:events';
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import type { RunningServer } from '../../src/daemon/http/server.ts';
import { bytes, startTestServer, type TestOptions } from './test-server.ts';

const running: RunningServer[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(running.splice(0).map((server) => server.close()));
});

const start = async (options: TestOptions = {}): Promise<RunningServer> => {
  const server = await startTestServer(options);
  running.push(server);
  return server;
};

/** A connection of its own, from an address of this machine. */
const open = async (url: string, localAddress = '127.0.0.1'): Promise<Socket> => {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress });
  sockets.push(socket.on('error', () => undefined));
  await once(socket, 'connect');
  return socket;
};

const live = async (url: string): Promise<string> => {
  const request = get(new URL('/livez', url), { agent: false });
  const [response] = await once(request, 'response');
  return text(response);
};

const asking = (path: string, times: number): string =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(times);

/** What a page is made of, as long as somebody else decides how long that takes. */
const slowPage = () => {
  const waiting: (() => void)[] = [];
  let [asked, peak] = [0, 0];
  return {
    page: async () => {
      asked += 1;
      const number = asked;
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        peak = Math.max(peak, waiting.length);
      });
      return bytes(`page ${number}.`);
    },
    asked: () => asked,
    peak: () => peak,
    answerOne: () => waiting.shift()?.(),
    isWaiting: () => waiting.length > 0,
  };
};

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
};

describe('requests that come together on one socket', () => {
  it('are answered one at a time, in order', async () => {
    const { page, peak, isWaiting, answerOne } = slowPage();
    const { url } = await start({ pages: { page, template: () => null } });
    const socket = await open(url);
    let received = '';
    socket.setEncoding('utf8').on('data', (part: string) => void (received += part));
    socket.write(asking('/', 3) + asking('/livez', 1));
    for (let number = 1; number <= 3; number += 1) {
      await until(isWaiting);
      expect(await live(url)).toBe('ok\n');
      answerOne();
    }
    await until(() => received.includes('ok\n'));
    expect(received.match(/page \d\.|ok/g)).toEqual(['page 1.', 'page 2.', 'page 3.', 'ok']);
    expect(peak()).toBe(1);
  });

  it('are dropped when the socket is gone', async () => {
    const { page, asked, isWaiting, answerOne } = slowPage();
    const { url } = await start({ pages: { page, template: () => null } });
    const socket = await open(url);
    socket.write(asking('/', 50));
    await until(isWaiting);
    socket.destroy();
    const other = await open(url);
    answerOne();
    other.write(asking('/', 1));
    await until(isWaiting);
    expect(asked()).toBe(2);
  });

  it('close the connection if they are too many', async () => {
    const { page, asked } = slowPage();
    const { url } = await start({ pages: { page, template: () => null } });
    const socket = await open(url);
    const closed = once(socket, 'close');
    socket.resume().write(asking('/', 1_000));
    await closed;
    expect(asked()).toBe(1);
    expect(await live(url)).toBe('ok\n');
  });

  it('are read once the earlier ones are answered', async () => {
    const { url } = await start();
    const socket = await open(url);
    let answers = 0;
    socket.setEncoding('utf8').on('data', (part: string) => (answers += part.split('ok\n').length - 1));
    for (let round = 1; round <= 5; round += 1) {
      socket.write(asking('/livez', 100));
      await until(() => answers === round * 100);
    }
  });
});

describe('connections', () => {
  it('that idle keep out no probe, however many one address holds', async () => {
    const { url } = await start();
    for (let count = 0; count < 600; count += 1) await open(url);
    expect(await live(url)).toBe('ok\n');
  });

  it('that are busy keep out no probe', async () => {
    const { page } = slowPage();
    const { url } = await start({ pages: { page, template: () => null } });
    for (let count = 0; count < 600; count += 1) (await open(url)).write(asking('/', 5));
    expect(await live(url)).toBe('ok\n');
  });

  it('of one address are closed, the quietest first, and those of other addresses stay', async () => {
    const { url } = await start();
    const neighbour = await open(url, '127.0.0.2');
    const first = await open(url);
    const second = await open(url);
    first.write(asking('/livez', 1));
    await once(first, 'data');
    const secondClosed = once(second, 'close');
    for (let count = 0; count < 99; count += 1) await open(url);
    await secondClosed;
    for (const socket of [neighbour, first]) {
      socket.write(asking('/livez', 1));
      expect(String((await once(socket, 'data'))[0])).toContain('ok\n');
    }
  });

  it('are a few hundred in all at most; addresses with the most lose some', async () => {
    const { url } = await start();
    const neighbour = await open(url, '127.0.0.2');
    for (let host = 3; host < 9; host += 1)
      for (let count = 0; count < 100; count += 1) await open(url, `127.0.0.${host}`);
    await until(() => sockets.filter(({ closed }) => closed).length >= 101);
    neighbour.write(asking('/livez', 1));
    expect(String((await once(neighbour, 'data'))[0])).toContain('ok\n');
    expect(await live(url)).toBe('ok\n');
  });
});
