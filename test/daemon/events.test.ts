import { get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { expect, it, onTestFinished, vi } from 'vitest';
import { ChangeFeed } from '../../src/daemon/http/events.ts';
import { startTestServer } from './test-server.ts';

const start = async () => {
  // No heartbeat says what a change should have said.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const changeFeed = new ChangeFeed();
  const server = await startTestServer({ changeFeed });
  const open = async (method = 'GET'): Promise<IncomingMessage> => {
    const [response] = await once(get(new URL('/events', server.url), { method, agent: false }), 'response');
    return response.setEncoding('utf8').on('error', () => undefined);
  };
  return { ...server, changeFeed, open };
};

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
};

it('a stream of events sends the version at once, and after each change', async () => {
  const { open, changeFeed } = await start();
  const stream = await open();
  expect([stream.statusCode, stream.headers['content-type']]).toEqual([200, 'text/event-stream']);
  for (const changes of [0, 2, 1]) {
    const before = changeFeed.version;
    for (let count = 0; count < changes; count += 1) changeFeed.changed();
    expect(changeFeed.version === before).toBe(changes === 0);
    expect(await once(stream, 'data')).toEqual([`event: state\ndata: ${changeFeed.version}\n\n`]);
  }
});

it('at most 64 are open, and each ends when its reader is gone, or with the server', async () => {
  const { open, changeFeed, close } = await start();
  const streams = await Promise.all(Array.from({ length: 64 }, () => open()));
  const refused = await open();
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '10']);
  streams[0]?.destroy();
  await until(() => changeFeed.listeners === 63);
  const last = await open();
  expect(last.statusCode).toBe(200);
  const ended = new Promise((resolve) => last.once('close', resolve));
  await close();
  await ended;
  await until(() => changeFeed.listeners === 0);
  // Nor is there a heartbeat any more.
  expect(vi.getTimerCount()).toBe(0);
});

it('HEAD opens none', async () => {
  const { open, changeFeed } = await start();
  const { statusCode, headers } = await open('HEAD');
  expect([statusCode, headers['content-type']]).toEqual([200, 'text/event-stream']);
  expect(changeFeed.listeners).toBe(0);
});
