import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { HostingError, type HostingErrorKind } from '../../src/hosting/errors.ts';
import { connectHosting } from '../../src/hosting/service.ts';
import { options, wireTemplate } from './connected.ts';

/*
 * A write is sent once, whatever happens at whichever byte of it and of its answer: then its outcome is known, or unknown,
 * but no second one follows.
 */

type Outcome = 'done' | HostingErrorKind;

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
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
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
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const { port } = server.address() as AddressInfo;
  const service = connectHosting({
    ...options,
    baseUrl: `http://127.0.0.1:${port}/api/v1`,
    writeTimeout: timeout,
  });
  const outcome: Outcome = await service
    .addDnsTemplateRecord(17, { type: 'A', content: '203.0.113.10' })
    .then(
      () => 'done',
      (error: unknown) => (error instanceof HostingError ? error.kind : Promise.reject(error)),
    );
  // What was sent may not have been read yet.
  const hasCome = (): boolean => requests.some((text) => text !== '');
  const isSent = at > 0 && outcome !== 'not-sent';
  if (isSent) while (!hasCome()) await setImmediate();
  server.close();
  for (const socket of sockets) socket.destroy();
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
  'a connection that is %s at any byte of the request',
  async (_, cut) => {
    const outcomes = await outcomesOf(atEach(cut));
    expect(outcomes).toEqual(new Set(['unknown']));
  },
  60_000,
);

test.each(cuts)(
  'a connection that is %s at any byte of the answer',
  async (_, cut) => {
    expect(await outcomesOf(beginnings(answer, cut))).toEqual(new Set(['unknown']));
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

const early = 'HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n';
const moved = 'HTTP/1.1 307 Temporary Redirect\r\nlocation: /api/v1/elsewhere\r\ncontent-length: 0\r\n\r\n';
const later = 'HTTP/1.1 503 Service Unavailable\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n';
const limited = 'HTTP/1.1 429 Too Many Requests\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n';
const gone = 'HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n';

test.each<[what: string, text: string, outcome: Outcome]>([
  ['twice', answer + answer, 'done'],
  ['after an interim one', early + answer, 'done'],
  ['after many interim ones', early.repeat(20) + answer, 'done'],
  ['an interim one alone', early, 'unknown'],
  ['100, and then the end', 'HTTP/1.1 100 Continue\r\n\r\n', 'unknown'],
  ['101, another protocol', 'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n', 'unknown'],
  ['a redirect', moved, 'unknown'],
  ['a redirect, twice', moved + moved, 'unknown'],
  ['503, at once again', later, 'unknown'],
  ['429, at once again', limited, 'rate-limited'],
  ['408, as for a stale connection', gone, 'unknown'],
  ['half of its headers', 'HTTP/1.1 200 OK\r\ncontent-le', 'unknown'],
  ['without an end of its headers', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}`, 'unknown'],
  ['shorter than it says', answer.replace(/content-length: \d+/, 'content-length: 9999'), 'unknown'],
  ['longer than it says', `${answer}${body}`, 'done'],
  ['of another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', 'unknown'],
  ['of two lengths', answer.replace('\r\n\r\n', '\r\ncontent-length: 1\r\n\r\n'), 'unknown'],
])('an answer %s', async (_, text, outcome) => {
  expect(await outcomesOf([{ at: whole, act: (socket) => void socket.end(text) }])).toEqual(
    new Set([outcome]),
  );
});
