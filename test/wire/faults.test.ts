import type { Socket } from 'node:net';
import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { HostingOptions } from '../../src/hosting/service.ts';
import {
  half,
  json,
  rawServer,
  reset,
  scriptedServer,
  silence,
  status,
  type Answer,
} from './scripted-server.ts';
import { connected, failureOf, outcomeOf, read, tokensIn, wireTemplate, write } from './connected.ts';

/*
 * What may happen to a request, and what becomes of it: a write is sent once. What is said of each is in `faults.golden.txt`,
 * with how often a read is sent.
 */

// No pauses between the attempts of a read.
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0));
afterEach(() => void vi.restoreAllMocks());

type Row = readonly [fault: string, answer: Answer, options?: Partial<HostingOptions>];

const within = (timeout: number) => ({ requestTimeout: timeout, writeTimeout: timeout });
const quick = within(100);
const body = JSON.stringify(wireTemplate);
const whole = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
const early = 'HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n';
const empty = 'content-length: 0\r\n\r\n';
const moved = `HTTP/1.1 307 Temporary Redirect\r\nlocation: /api/v1/elsewhere\r\n${empty}`;

/** Bytes, and then the end of the connection. */
const bytes =
  (text: string): Answer =>
  (response) =>
    response.socket?.end(text);

/** Everything of the request, in the spellings that a service may use. */
const echo =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response, { query, body: form }) => {
    const values = [...new URLSearchParams(query + form).values()];
    const signs: Record<string, string> = { '&': '&amp;', '"': '&quot;', '<': '&lt;', '>': '&gt;' };
    const entities = values.map((value) => value.replaceAll(/[&"<>]/g, (sign) => signs[sign]!));
    const spellings = [query, form, ...values, JSON.stringify(values), encodeURI(values.join()), ...entities];
    response.writeHead(code, headers).end(`<p>${spellings.join(' ')}</p>`);
  };

const said = (text: string | Buffer): Answer => status(422, text);

const headless = (line: string): Answer => bytes(`HTTP/1.1 ${line}\r\n${empty}`);

const faults: readonly Row[] = [
  ['no answer', silence, quick],
  ['a stalled answer', half(() => undefined), quick],
  ['a status whose answer stalls: 422', half(() => undefined, 422), within(300)],
  ['a status whose answer stalls: 429', half(() => undefined, 429), within(300)],
  ['a reset before the answer', reset],
  ['a reset within the answer', half((response) => response.socket?.resetAndDestroy())],
  ['a reset within a refusal', half((response) => response.socket?.resetAndDestroy(), 422)],
  ['an answer cut short', half((response) => response.socket?.end())],
  [
    'no HTTP, with the request in it',
    (response, { query, body: form }) => response.socket?.end(`HTTP/9.9 ${query}${form}\r\n\r\n`),
  ],
  ['another protocol', bytes('SSH-2.0-OpenSSH_9.2\r\n')],
  [
    'a header without end',
    (response) => response.socket?.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}`),
  ],
  ['half of the headers', bytes('HTTP/1.1 200 OK\r\ncontent-le')],
  ['an answer shorter than it says', bytes(whole.replace(/content-length: \d+/, 'content-length: 9999'))],
  ['an answer of two lengths', bytes(whole.replace('\r\n\r\n', '\r\ncontent-length: 1\r\n\r\n'))],
  ['an interim answer alone', bytes(early)],
  ['100, and then the end', bytes('HTTP/1.1 100 Continue\r\n\r\n')],
  ['101, another protocol', bytes('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n')],
  ['408, as for a stale connection', headless('408 Request Timeout\r\nconnection: close')],
  ['a redirect, twice', bytes(moved + moved)],
  ['503, at once again', headless('503 Service Unavailable\r\nretry-after: 0')],
  ['429, at once again', headless('429 Too Many Requests\r\nretry-after: 0')],
  ...[301, 307].map((code): Row => [String(code), echo(code, { location: '/api/v1/elsewhere' })]),
  ...[400, 401, 403, 404, 405, 408, 409, 422, 429, 500, 502, 503].map((code): Row => [
    String(code),
    echo(code),
  ]),
  ['204', status(204)],
  ['an empty answer', status(200)],
  ['a page', echo(200)],
  ['something else in JSON', (response, request) => json({ echo: request })(response, request)],
  ['null', json(null)],
  // It would be a good one otherwise.
  [
    'an answer that is too large',
    (response, { method }) => response.end((method === 'PUT' ? body : '[]').padEnd(2_000)),
    { maxAnswerSize: 1_000 },
  ],
  ['an error with 200', json({ error: 'the content is wrong' })],
  ['an error with 200, and a secret', json({ error: 'us3r+token/=&"x y' })],
  ['an error with 200 that is long', json({ error: 'x'.repeat(1_000) })],
  ['half a template', json({ id: 17, name: 'standard-web' })],
  ['a refusal in two lines', said('two\r\nlines\u001B[31m red')],
  ['a refusal as a page', said('<html><style>p{}</style><h1>No</h1>\n<p>way</p></html>')],
  ['a refusal in bytes', said(Buffer.from([0x00, 0xff, 0xfe, 0x41, 0x80]))],
  ['a refusal that is long', said('x'.repeat(300))],
  ['a refusal without words', said('')],
  ...[8_180, 8_190, 20_000].map((length): Row => [
    `a refusal whose excerpt ends in a token, at ${length}`,
    (response, { body: form }) =>
      response
        .writeHead(422)
        .end(`<i ${'x'.repeat(length - 20)}>${new URLSearchParams(form).get('client_token')}`),
  ]),
  [
    'a refusal that ends in a token',
    (response, { body: form }) => {
      response.writeHead(422, { 'content-length': '1000' });
      response.write(form.slice(0, 20), () => response.socket?.resetAndDestroy());
    },
  ],
];

test('a write is sent once, whatever is answered', async () => {
  let told = '';
  for (const [fault, answer, options = {}] of faults) {
    told += `${fault}\n`;
    for (const call of [read, write]) {
      const server = await scriptedServer(answer);
      const traces: unknown[] = [];
      const service = connected(server.url, { ...options, onRequest: (trace) => traces.push(trace) });
      const failure = await failureOf(call(service));
      const { kind, message, status: code } = failure;
      const times = server.seen.length;
      expect({ fault, secrets: tokensIn({ failure, traces }) }).toEqual({ fault, secrets: [] });
      expect(message).toMatch(/^[^\p{Cc}\p{Cf}]{10,400}$/u);
      expect(traces).toHaveLength(times);
      if (call === write) expect({ fault, times }).toEqual({ fault, times: 1 });
      // How the machine calls the end of a connection depends on the moment.
      const shown = message
        .replaceAll(new URL(server.url).port, 'PORT')
        .replaceAll(/\((?:read E|UND_ERR)[^)]*\)/g, '(CODE)');
      told += `  ${times} × ${code ?? 'no status'}, ${kind}: ${shown}\n`;
    }
  }
  await expect(told).toMatchFileSnapshot('faults.golden.txt');
});

test.each<[what: string, text: string]>([
  ['twice', whole + whole],
  ['after many interim ones', early.repeat(20) + whole],
  ['longer than it says', `${whole}${body}`],
])('an answer %s is one', async (_, text) => {
  const server = await scriptedServer(bytes(text));
  expect(await outcomeOf(write(connected(server.url)))).toBe('done');
  expect(server.seen).toHaveLength(1);
});

/** A port whose connections do what a service behind TLS does not. */
const insecure = async (onConnection: (socket: Socket) => unknown): Promise<string> =>
  `https://${await rawServer(onConnection)}/api/v1`;

const refusing = async (): Promise<string> => {
  const server = await scriptedServer(silence);
  await server.close();
  return server.url;
};

test.each<[fault: string, url: () => Promise<string>, says: RegExp, options?: Partial<HostingOptions>]>([
  ['a refused connection', refusing, /nothing listens at this address/],
  ['an unknown name', async () => 'https://no-such-host.invalid', /there is no such host|cannot be resolved/],
  [
    'no TLS behind https',
    () => insecure((socket) => socket.end('HTTP/1.1 400 Bad\r\n\r\n')),
    /this port does not use TLS: check https: and the port \(ERR_SSL_\w+\)$/,
  ],
  ['a reset TLS handshake', () => insecure((socket) => socket.resetAndDestroy()), /TLS|connection/],
  ['a TLS handshake that stalls', () => insecure(() => undefined), /timeout/, quick],
])('%s: certainly nothing is sent, so it is tried three times', async (_, url, says, options) => {
  for (const call of [read, write]) {
    const traces: unknown[] = [];
    const service = connected(await url(), { ...options, onRequest: (trace) => traces.push(trace) });
    const failure = await failureOf(call(service));
    expect(failure).toMatchObject({ kind: 'not-sent', status: null, message: expect.stringMatching(says) });
    expect(tokensIn({ failure, traces })).toEqual([]);
    if (!options) expect(traces).toHaveLength(3);
  }
});

test('a write that was not sent is sent when the service is back', async () => {
  const server = await scriptedServer(json(wireTemplate));
  await server.close();
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const failures: unknown[] = [];
  const service = connected(server.url, {
    onRequest: ({ error }) => {
      if (error !== undefined && failures.push(error) === 1) server.open();
    },
  });
  expect(await write(service)).toMatchObject({ id: 17 });
  expect(failures).toEqual([expect.stringContaining('ECONNREFUSED')]);
  expect(server.seen).toHaveLength(1);
});

test('a read succeeds after temporary failures', async () => {
  const server = await scriptedServer(status(503), reset, json([wireTemplate]));
  expect(await read(connected(server.url))).toMatchObject([{ id: 17 }]);
  expect(server.seen).toHaveLength(3);
});

const later = new Date(Date.now() + 3_600_000).toUTCString();

test.each<[code: number, header: string | null, requestTimeout: number, pauses: number[]]>([
  [503, null, 5_000, [200, 400]],
  [503, null, 399, [200]],
  [503, null, 199, []],
  [503, '1', 5_000, [1_000, 1_000]],
  [429, '1', 5_000, [1_000, 1_000]],
  // Longer than the request timeout.
  [429, '6', 5_000, []],
  [429, later, 5_000, []],
])(
  'after %i with Retry-After %s, a read of %i ms pauses %j',
  async (code, header, requestTimeout, expected) => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const pauses: number[] = [];
    const clock = { now: Date.now, sleep: async (milliseconds: number) => pauses.push(milliseconds) };
    const server = await scriptedServer(status(code, '', header === null ? {} : { 'retry-after': header }));
    await failureOf(read(connected(server.url, { requestTimeout, clock })));
    expect(pauses).toEqual(expected);
    expect(server.seen).toHaveLength(expected.length + 1);
  },
);

test('closing ends the pause before the next read', async () => {
  const server = await scriptedServer(status(429, '', { 'retry-after': '60' }));
  const service = connected(server.url, { requestTimeout: 100_000 });
  const failed = failureOf(read(service));
  while (server.seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await service.close();
  expect((await failed).kind).toMatch(/^(?:rate-limited|unavailable)$/);
  expect(server.seen).toHaveLength(1);
});

test.each([
  ['120', 120_000],
  ['soon', null],
])('Retry-After %s on a write is %s ms', async (header, retryAfter) => {
  const server = await scriptedServer(status(429, '', { 'retry-after': header }));
  const failure = await failureOf(write(connected(server.url)));
  expect(failure).toMatchObject({ kind: 'rate-limited', retryAfter });
  const asked = /, and asks to wait (\w+)/.exec(failure.message)?.[1];
  expect(asked).toBe(retryAfter === 120_000 ? '2m' : undefined);
});

test('a token in the base URL is not shown', async () => {
  const misplaced = 'q7-token-in-the-wrong-place';
  const service = connected(`http://${misplaced}.invalid`, {
    tokens: () => ({ userToken: misplaced, clientToken: 'another' }),
  });
  const failure = await failureOf(read(service));
  expect(failure.message).toContain('[secret].invalid');
  expect(inspect(failure, { depth: 10, showHidden: true })).not.toContain(misplaced);
});
