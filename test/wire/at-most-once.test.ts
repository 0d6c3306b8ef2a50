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

const outcomesOf = async (peers: readonly Peer[], timeout?: number, width = 16): Promise<Set<Outcome>> => {
  const outcomes = new Set<Outcome>();
  const rest = peers.values();
  const work = async (): Promise<void> => {
    for (const peer of rest) {
      const { outcome, writes } = await writeTo(peer, timeout);
      // What was not sent may be sent later; and what was, may not have come where a connection is reset at once.
      const isRight = outcome === 'not-sent' ? writes === 0 : writes === 1 || (peer.at === 0 && writes === 0);
      expect({ at: peer.at, outcome, writes, isRight }).toMatchObject({ isRight: true });
      if (outcome !== 'not-sent') outcomes.add(outcome);
    }
  };
  await Promise.all(Array.from({ length: width }, work));
  return outcomes;
};

/** After each byte of the request. */
const atEach = (act: Peer['act']): Peer[] => Array.from({ length: whole + 1 }, (_, at) => ({ at, act }));

/** Each beginning of an answer, after the whole request, and then something else. */
const beginnings = (text: string, then: (socket: Socket) => void): Peer[] =>
  Array.from({ length: text.length }, (_, length) => ({
    at: whole,
    act: (socket) => void socket.write(text.slice(0, length), () => then(socket)),
  }));

const cuts: readonly (readonly [string, (socket: Socket) => void])[] = [
  ['ended', (socket) => void socket.end()],
  ['reset', (socket) => void socket.resetAndDestroy()],
];

test.each(cuts)(
  'a connection that is %s at any byte of the request, and of the answer',
  async (_, cut) => {
    expect(await outcomesOf([...atEach(cut), ...beginnings(answer, cut)])).toEqual(new Set(['unknown']));
  },
  60_000,
);

test('an answer that stops at any byte, and a request of which no more is read', async () => {
  const silent = (): void => undefined;
  expect(
    await outcomesOf([...beginnings(answer, silent), ...atEach((socket) => void socket.pause())], 600, 80),
  ).toEqual(new Set(['unknown']));
}, 60_000);

test('an answer in two pieces, wherever it is parted, or before all of the request has come', async () => {
  const parted = Array.from({ length: answer.length }, (_, length) => ({
    at: whole,
    act: (socket: Socket) =>
      void socket.write(
        answer.slice(0, length),
        () => void setImmediate().then(() => socket.end(answer.slice(length))),
      ),
  }));
  const early = [1, 100, whole - 1].map((at) => ({ at, act: (socket: Socket) => void socket.end(answer) }));
  expect(await outcomesOf([...parted, ...early])).toEqual(new Set(['done']));
}, 60_000);
