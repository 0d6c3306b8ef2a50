import { get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { ChangeFeed } from '../../src/daemon/http/events.ts';
import { startTestServer } from './test-server.ts';

const start = async () => {
  const changeFeed = new ChangeFeed();
  return { ...(await startTestServer({ changeFeed })), changeFeed };
};

const open = async (url: string, method = 'GET'): Promise<IncomingMessage> => {
  const request = get(new URL('/events', url), { method, agent: false });
  const [response] = await once(request, 'response');
  response.setEncoding('utf8').on('error', () => undefined);
  return response;
};

/** What arrives until it holds the text. */
const readUntil = async (stream: IncomingMessage, end: string): Promise<string> => {
  let text = '';
  while (!text.includes(end)) text += String((await once(stream, 'data'))[0]);
  return text;
};

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
};

describe('a stream of events', () => {
  it('sends the version at once, and after each change', async () => {
    const { url, changeFeed } = await start();
    const stream = await open(url);
    expect([stream.statusCode, stream.headers['content-type']]).toEqual([200, 'text/event-stream']);
    expect(await readUntil(stream, '\n\n')).toBe(`event: state\ndata: ${changeFeed.version}\n\n`);
    const before = changeFeed.version;
    changeFeed.changed();
    changeFeed.changed();
    expect(changeFeed.version).not.toBe(before);
    expect(await readUntil(stream, '\n\n')).toBe(`event: state\ndata: ${changeFeed.version}\n\n`);
    changeFeed.changed();
    await readUntil(stream, `data: ${changeFeed.version}\n`);
  });

  it('ends when its reader is gone', async () => {
    const { url, changeFeed } = await start();
    const [one, other] = [await open(url), await open(url)];
    expect(changeFeed.listeners).toBe(2);
    one.destroy();
    await until(() => changeFeed.listeners === 1);
    other.destroy();
    await until(() => changeFeed.listeners === 0);
  });

  it('ends with the server', async () => {
    const { url, changeFeed, close } = await start();
    const stream = await open(url);
    const ended = new Promise((resolve) => stream.once('close', resolve));
    await close();
    await ended;
    await until(() => changeFeed.listeners === 0);
  });

  it('is refused beyond 64, until one ends', async () => {
    const { url, changeFeed } = await start();
    const streams = await Promise.all(Array.from({ length: 64 }, () => open(url)));
    expect(streams.map(({ statusCode }) => statusCode)).toEqual(streams.map(() => 200));
    const refused = await open(url);
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '10']);
    streams[0]?.destroy();
    await until(() => changeFeed.listeners === 63);
    expect((await open(url)).statusCode).toBe(200);
  });

  it('is not opened by HEAD', async () => {
    const { url, changeFeed } = await start();
    const { statusCode, headers } = await open(url, 'HEAD');
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/event-stream']);
    expect(changeFeed.listeners).toBe(0);
  });
});
