import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { writeBelow } from '../daemon/ways.ts';
import { addTemplate, contentsOf, describing, startDaemon, triggerToken } from './daemon.ts';
import { workplace } from './program.ts';
import { startService } from './service.ts';

vi.setConfig({ testTimeout: 30_000 });

/** The daemon on one template, and connections to it that send what they like. */
const started = async () => {
  const service = await startService();
  const id = await addTemplate(service, 'site', '192.0.2.1');
  const cwd = await workplace({ withExamples: false });
  const edit = (address: string): Promise<void> =>
    writeBelow(cwd, 'templates/site.yaml', describing('site', address));
  await edit('192.0.2.1');
  const daemon = await startDaemon([], { cwd, env: service.env });
  const first = await daemon.event('pass.finished');
  expect(first).toMatchObject({ status: 'in-sync' });
  const { listen } = daemon.lines().find(({ event }) => event === 'daemon.started') ?? {};
  const open = (words: string): Socket => {
    const socket = connect(Number(new URL(String(listen)).port), '127.0.0.1');
    socket.on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
    socket.write(words);
    return socket;
  };
  /** All that comes back until the daemon ends the connection. */
  const say = (words: string): Promise<string> => text(open(words));
  return { daemon, edit, open, say, contents: () => contentsOf(service, id) };
};

const statusOf = (answer: string): number => Number(answer.split(' ', 2)[1]);
const get = (target: string, head = 'Host: evil.example'): string =>
  `GET ${target} HTTP/1.1\r\n${head}\r\nConnection: close\r\n\r\n`;

it('unusual requests pass no rule, and probes need no host', async () => {
  const { daemon, say } = await started();
  const refused = [
    ['the whole address', get('http://localhost/api/report'), 421],
    ['a doubled slash', get('//api/report'), 421],
    ['a way through a probe', get('/livez/../api/report'), 421],
    ['escaped letters', get('/%61pi/report'), 421],
    ['a second Host', get('/api/report', 'Host: evil.example\r\nHost: localhost'), 421],
    ['no Host', get('/api/report', 'X: y'), 400],
    ['no Host by HTTP/1.0', 'GET /api/report HTTP/1.0\r\n\r\n', 421],
    ['two lengths', get('/livez', 'Host: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked'), 400],
    ['no HTTP', 'SSH-2.0-client\r\n\r\n', 400],
    ['a head too long', get('/livez', `X: ${'x'.repeat(20_000)}`), 431],
  ] as const;
  const answers = await Promise.all(refused.map(([, words]) => say(words)));
  expect(answers.map((answer, index) => [refused[index]?.[0], statusOf(answer)])).toEqual(
    refused.map(([what, , status]) => [what, status]),
  );
  expect(answers.join()).not.toContain('dns-template-sync/report');

  for (const probe of ['/livez', '/readyz', '/metrics'])
    expect(statusOf(await say(`GET ${probe} HTTP/1.0\r\n\r\n`))).toBe(200);
  const together = await say(`GET /livez HTTP/1.1\r\nHost: x\r\n\r\n${get('/api/report')}`);
  expect(together.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 421']);
  expect((await daemon.ask('/livez')).status).toBe(200);
});

describe('a client that only keeps a connection open', () => {
  it('with a head that never ends is disconnected', async () => {
    const { say } = await started();
    expect(statusOf(await say('GET /livez HTTP/1.1\r\nHost: x\r\nX: '))).toBe(408);
  });

  it.each([
    ['a wrong', 'wrong', 401],
    ['the right', triggerToken, 202],
  ])('by a body that never ends, with %s token, is let go', async (_, token, status) => {
    const { open } = await started();
    const socket = open(
      `POST /api/reconcile HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Length: 10000000000\r\n\r\n`,
    );
    // Slowly enough for the answer to be read before a write finds the connection closed.
    const body = setInterval(() => socket.write(Buffer.alloc(65_536)), 50);
    onTestFinished(() => clearInterval(body));
    const answer = once(socket, 'data');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    expect(statusOf(String((await answer)[0]))).toBe(status);
    await closed;
  });

  it('with very many of them blocks nobody', async () => {
    const { daemon, edit, open, contents } = await started();
    const sockets = Array.from({ length: 520 }, () => open('GET /livez HTTP/1.1\r\nHost: x\r\nX: ').resume());
    const refusals = sockets.map(async (socket) => {
      // Whether it ends or is reset, it was not taken.
      await new Promise((resolve) => socket.once('close', resolve));
      if (socket.bytesRead > 0) throw new Error('it was taken, and let go later');
    });
    await Promise.any(refusals);
    await edit('192.0.2.2');
    await daemon.event('change.applied');
    expect(await contents()).toEqual(['192.0.2.2']);
    for (const socket of sockets) socket.destroy();
    await vi.waitFor(async () => expect((await daemon.ask('/livez')).status).toBe(200), { timeout: 10_000 });
  });
});
