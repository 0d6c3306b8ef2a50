import { createServer, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { connectHosting } from '../../src/hosting/service.ts';
import { options, outcomeOf, wireTemplate, write } from './connected.ts';
import { listening } from './scripted-server.ts';

/*
 * A write is sent once, whatever happens at whichever byte of it and of its answer: then its outcome is known, or unknown,
 * but no second one follows.
 */

type Outcome = Awaited<ReturnType<typeof outcomeOf>>;

interface Peer {
  /** When so many bytes of the request have come, what happens to the connection. */
  readonly at: number;
  readonly act: (socket: Socket) => void;
}

const body = JSON.stringify(wireTemplate);
const answer = [
  'HTTP/1.1 200 OK',
  'content-type: application/json',
  `content-length: ${body.length}`,
  '',
  body,
].join('\r\n');

/** A service that does one thing to each connection; resolves to what became of a write, and how often it was sent. */
const writeTo = async ({ at, act }: Peer, timeout = 2_000) => {
  const requests: string[] = [];
  const server = createServer((socket) => {
    const index = requests.push('') - 1;
    let hasActed = false;
    const look = (): void => {
      if (hasActed || requests[index]!.length < at) return;
      hasActed = true;
      act(socket);
    };
    socket.setEncoding('latin1').on('data', (text: string) => {
      requests[index] += text;
      look();
    });
    look();
  });
  const { port, close } = await listening(server, () => undefined);
  const service = connectHosting({
    ...options,
    baseUrl: `http://127.0.0.1:${port}/api/v1`,
    writeTimeout: timeout,
  });
  const outcome = await outcomeOf(write(service));
  // What was sent may not have been read yet.
  const hasCome = (): boolean => requests.some((text) => text !== '');
  const isSent = at > 0 && outcome !== 'not-sent';
  if (isSent) while (!hasCome()) await setImmediate();
  await close();
  const sent = requests.filter((text) => text !== '');
  return { outcome, writes: sent.length, request: sent[0] ?? '' };
};

let whole = 0;
/** The length of the request. */
beforeAll(async () => {
  const { request } = await writeTo({ at: 1, act: (socket) => void socket.end(answer) });
  whole = request.length;
});

/** Every third place, where the parts of a message begin and end in any case; other ones with another seed. */
const places = (length: number): number[] => {
  const offset = Number(process.env['PROPERTY_SEED'] ?? 0) % 3;
  const isEdge = (at: number): boolean => at < 20 || at > length - 20;
  return Array.from({ length }, (_, at) => at).filter((at) => isEdge(at) || at % 3 === offset);
};

/** After so many bytes of the request. */
const atEach = (act: Peer['act']): Peer[] => places(whole + 1).map((at) => ({ at, act }));

/** After the whole request a beginning of the answer, and then something else. */
const beginnings = (then: (socket: Socket, rest: string) => void): Peer[] =>
  places(answer.length).map((length) => ({
    at: whole,
    act: (socket) => void socket.write(answer.slice(0, length), () => then(socket, answer.slice(length))),
  }));

const end = (socket: Socket): void => void socket.end();
const reset = (socket: Socket): void => void socket.resetAndDestroy();
const early = (socket: Socket): void => void socket.end(answer);
const partly = (socket: Socket, rest: string): void => void setImmediate().then(() => socket.end(rest));

test.each<[what: string, peers: () => readonly Peer[], outcome: Outcome, timeout?: number]>([
  ['a connection that is ended at any byte', () => [...atEach(end), ...beginnings(end)], 'unknown'],
  ['a connection that is reset at any byte', () => [...atEach(reset), ...beginnings(reset)], 'unknown'],
  [
    'an answer that stops at any byte, and a request of which no more is read',
    () => [...beginnings(() => undefined), ...atEach((socket) => void socket.pause())],
    'unknown',
    600,
  ],
  [
    'an answer in two pieces, wherever it is parted, or before all of the request has come',
    () => [...beginnings(partly), ...[1, 100, whole - 1].map((at) => ({ at, act: early }))],
    'done',
  ],
])('%s', { timeout: 60_000 }, async (_, peers, expected, timeout) => {
  const outcomes = new Set<Outcome>();
  const rest = peers().values();
  const work = async (): Promise<void> => {
    for (const peer of rest) {
      const { outcome, writes } = await writeTo(peer, timeout);
      // What was not sent may be sent later; and what was, may not have come where a connection is reset at once.
      const isRight = outcome === 'not-sent' ? writes === 0 : writes === 1 || (peer.at === 0 && writes === 0);
      expect({ at: peer.at, outcome, writes, isRight }).toMatchObject({ isRight: true });
      if (outcome !== 'not-sent') outcomes.add(outcome);
    }
  };
  // Those that wait for a time need many at once.
  await Promise.all(Array.from({ length: timeout === undefined ? 16 : 80 }, work));
  expect(outcomes).toEqual(new Set([expected]));
});
