import dns from 'node:dns';
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
 * with how often a read and a write are sent.
 */

// No pauses between the attempts of a read.
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0));
afterEach(() => void vi.restoreAllMocks());

type Row = readonly [fault: string, answer: Answer, options?: Partial<HostingOptions>];

const within = (timeout: number) => ({ requestTimeout: timeout, writeTimeout: timeout });
const body = JSON.stringify(wireTemplate);
const whole = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
const early = 'HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n';

/** Bytes, and then the end of the connection. */
const bytes =
  (text: string): Answer =>
  (response) =>
    response.socket?.end(text);

/** Everything of the request, in the spellings that a service may use. */
const echo =
  (code: number): Answer =>
  (response, { query, body: form }) => {
    const values = [...new URLSearchParams(query + form).values()];
    const signs: Record<string, string> = { '&': '&amp;', '"': '&quot;', '<': '&lt;', '>': '&gt;' };
    const entities = values.map((value) => value.replaceAll(/[&"<>]/g, (sign) => signs[sign]!));
    const spellings = [query, form, ...values, JSON.stringify(values), encodeURI(values.join()), ...entities];
    response.writeHead(code).end(`<p>${spellings.join(' ')}</p>`);
  };

const said = (text: string | Buffer): Answer => status(422, text);

const endingInToken =
  (length: number): Answer =>
  (response, { query, body: form }) =>
    response
      .writeHead(422)
      .end(`<i ${'x'.repeat(length - 20)}>${new URLSearchParams(query + form).get('client_token')}`);

const faults: readonly Row[] = [
  ['no answer', silence, within(100)],
  ['a stalled answer', half(() => undefined), within(100)],
  ['a status whose answer stalls', half(() => undefined, 422), within(300)],
  ['a reset before the answer', reset],
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
  ['an answer of two lengths', bytes(whole.replace('\r\n\r\n', '\r\ncontent-length: 1\r\n\r\n'))],
  ['an interim answer alone', bytes(early)],
  [
    'another protocol after 101',
    bytes('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
  ],
  ...['503 0', '429 0', '429 120', '429 soon'].map((text): Row => {
    const [code, wait = ''] = text.split(' ');
    return [`${code}, again in ${wait}`, status(Number(code), '', { 'retry-after': wait })];
  }),
  ...[301, 307].map((code): Row => [String(code), status(code, '', { location: '/api/v1/elsewhere' })]),
  ...[400, 401, 403, 404, 405, 408, 409, 422, 429, 500, 503].map((code): Row => [String(code), status(code)]),
  ...[200, 400, 401, 500].map((code): Row => [`${code} that echoes the request`, echo(code)]),
  ['an empty answer', status(204)],
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
  ['an answer in ISO-8859-1', status(200, Buffer.from(body.replace('standard', 'm\xfcller'), 'latin1'))],
  ['JSON without its end', status(200, body.slice(0, 60))],
  ['half a template', json({ id: 17, name: 'standard-web' })],
  ['a refusal in two lines', said('two\r\nlines\u001B[31m red')],
  ['a refusal as a page', said('<html><style>p{}</style><h1>No</h1>\n<p>way</p></html>')],
  ['a refusal in bytes', said(Buffer.from([0x00, 0xff, 0xfe, 0x41, 0x80]))],
  ['a refusal that is long', said('x'.repeat(300))],
  ...[8_180, 8_190, 20_000].map((length): Row => [
    `a refusal whose excerpt ends in a token, at ${length}`,
    endingInToken(length),
  ]),
  [
    'a refusal that ends in a token',
    (response, { query, body: form }) => {
      response.writeHead(422, { 'content-length': '1000' });
      response.write((query + form).slice(0, 20), () => response.socket?.resetAndDestroy());
    },
  ],
];

test('a write is sent once, whatever is answered', async () => {
  let told = '';
  for (const [fault, answer, options = {}] of faults) {
    const kinds: string[] = [];
    const messages = new Set<string>();
    for (const call of [read, write]) {
      const server = await scriptedServer(answer);
      const traces: unknown[] = [];
      const service = connected(server.url, { ...options, onRequest: (trace) => traces.push(trace) });
      const failure = await failureOf(call(service));
      const times = server.seen.length;
      expect({ fault, secrets: tokensIn({ failure, traces }) }).toEqual({ fault, secrets: [] });
      expect(failure.message).toMatch(/^[^\p{Cc}\p{Cf}]{10,400}$/u);
      expect(traces).toHaveLength(times);
      if (call === write) expect({ fault, times }).toEqual({ fault, times: 1 });
      kinds.push(`${times} × ${failure.kind}`);
      // How the machine calls the end of a connection depends on the moment.
      messages.add(
        failure.message
          .replace(/^(?:list dns templates|add dns template record): /, '')
          .replaceAll(new URL(server.url).port, 'PORT')
          .replaceAll(/\((?:read E|UND_ERR)[^)]*\)/g, '(CODE)'),
      );
    }
    told += `${fault}: ${kinds.join(', ')}\n  ${[...messages].join('\n  ')}\n`;
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

test.each<[fault: string, url: () => Promise<string>, says: RegExp, timeout?: number]>([
  ['a refused connection', refusing, /nothing listens at this address/],
  ['an unknown name', async () => 'https://no-such-host.invalid', /there is no such host|cannot be resolved/],
  [
    'no TLS behind https',
    () => insecure((socket) => socket.end('HTTP/1.1 400 Bad\r\n\r\n')),
    /this port does not use TLS: check https: and the port \(ERR_SSL_\w+\)$/,
  ],
  ['a reset TLS handshake', () => insecure((socket) => socket.resetAndDestroy()), /TLS|connection/],
  ['a TLS handshake that stalls', () => insecure(() => undefined), /timeout/, 100],
])('%s: certainly nothing is sent, so it is tried three times', async (_, url, says, timeout) => {
  for (const call of [read, write]) {
    const traces: unknown[] = [];
    const service = connected(await url(), {
      ...(timeout === undefined ? {} : within(timeout)),
      onRequest: (trace) => traces.push(trace),
    });
    const failure = await failureOf(call(service));
    expect(failure).toMatchObject({ kind: 'not-sent', status: null, message: expect.stringMatching(says) });
    expect(tokensIn({ failure, traces })).toEqual([]);
    if (timeout === undefined) expect(traces).toHaveLength(3);
  }
});

test('https: is asked about only where nothing was ever answered', async () => {
  const server = await scriptedServer(json([]), reset);
  const service = connected(server.url);
  await read(service);
  expect((await failureOf(write(service))).message).toMatch(/before its answer was complete \(.*\)$/);
});

test('of a host whose addresses all fail, the message says what became of each', async () => {
  vi.spyOn(dns, 'lookup').mockImplementation(((_: string, __: object, found: (...of: unknown[]) => void) =>
    found(
      null,
      ['127.0.0.2', '127.0.0.3'].map((address) => ({ address, family: 4 })),
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one of its many forms
    )) as unknown as typeof dns.lookup);
  const { message } = await failureOf(write(connected('http://panel.example.net:1/api/v1')));
  expect(message).toContain('(connect ECONNREFUSED 127.0.0.2:1; connect ECONNREFUSED 127.0.0.3:1)');
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

test('a token in the base URL is not shown', async () => {
  const misplaced = 'q7-token-in-the-wrong-place';
  const service = connected(`http://${misplaced}.invalid`, {
    tokens: () => ({ userToken: misplaced, clientToken: 'another' }),
  });
  const failure = await failureOf(read(service));
  expect(failure.message).toContain('[secret].invalid');
  expect(inspect(failure, { depth: 10, showHidden: true })).not.toContain(misplaced);
});
