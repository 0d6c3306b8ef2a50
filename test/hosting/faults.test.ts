import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { HostingErrorKind } from '../../src/hosting/errors.ts';
import type { HostingOptions, HostingService } from '../../src/hosting/service.ts';
import { connected, failureOf, wireTemplate } from './connected.ts';
import { half, json, reset, scriptedServer, silence, status, type Answer } from './scripted-server.ts';

// No pauses between the attempts of a read.
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0));
afterEach(() => void vi.restoreAllMocks());

const read = (service: HostingService) => service.listDnsTemplates();
const write = (service: HostingService) =>
  service.addDnsTemplateRecord(17, { type: 'A', content: '203.0.113.10' });

/** Everything of the request, in every spelling that a service may use. */
const echo: Answer = (response, { query, body }) => {
  const sent = query + body;
  const values = [...new URLSearchParams(sent).values()];
  const entities = values.map((value) =>
    value.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;'),
  );
  response.end(
    `<p>${sent} ${values.join(' ')} ${JSON.stringify(values)} ${encodeURI(values.join())} ${entities.join(' ')}</p>`,
  );
};
const echoed =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response, request) =>
    echo(response.writeHead(code, headers), request);

interface Fault {
  readonly fault: string;
  readonly answer: Answer;
  readonly read: HostingErrorKind;
  readonly write: HostingErrorKind;
  /** Reads that the service gets; it gets one write in every case. */
  readonly reads: 1 | 2 | 3;
  readonly status?: number;
  readonly options?: Partial<HostingOptions>;
}

const quick = { requestTimeout: 60, writeTimeout: 60 };
const lost = { read: 'unavailable', write: 'unknown', reads: 3 } as const;
const broken = { read: 'bad-answer', write: 'unknown', reads: 1, status: 200 } as const;
const unexpected = { read: 'unavailable', write: 'unknown', reads: 1 } as const;
const refused = { read: 'unavailable', write: 'refused', reads: 1 } as const;
/** The parameters may have been looked for in a form body, so that is tried. */
const unread = { ...refused, reads: 2 } as const;

const faults: Fault[] = [
  { fault: 'no answer', answer: silence, ...lost, options: quick },
  { fault: 'a stalled answer', answer: half(() => undefined), ...lost, options: quick },
  { fault: 'a reset before the answer', answer: reset, ...lost },
  {
    fault: 'an interim answer and no more',
    answer: (response) => {
      response.writeProcessing();
      setImmediate(() => response.socket?.resetAndDestroy());
    },
    ...lost,
  },
  {
    fault: 'a reset within the answer',
    answer: half((response) => response.socket?.resetAndDestroy()),
    ...lost,
  },
  { fault: 'an answer cut short', answer: half((response) => response.socket?.end()), ...lost },
  {
    fault: 'an answer that is no HTTP, with the request in it',
    answer: (response, { query, body }) => response.socket?.end(`HTTP/9.9 ${query}${body}\r\n\r\n`),
    ...lost,
  },
  {
    fault: 'a header without end',
    answer: (response) => response.socket?.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}`),
    ...lost,
  },
  { fault: '301', answer: echoed(301, { location: '/api/v1/elsewhere' }), ...unexpected, status: 301 },
  { fault: '307', answer: echoed(307, { location: '/api/v1/elsewhere' }), ...unexpected, status: 307 },
  { fault: '400', answer: echoed(400), ...unread, status: 400 },
  { fault: '401', answer: echoed(401), read: 'unauthorized', write: 'unauthorized', reads: 2, status: 401 },
  { fault: '403', answer: echoed(403), read: 'unauthorized', write: 'refused', reads: 1, status: 403 },
  { fault: '404', answer: echoed(404), ...refused, status: 404 },
  { fault: '405', answer: echoed(405), ...unexpected, status: 405 },
  { fault: '408', answer: echoed(408), ...lost, status: 408 },
  { fault: '409', answer: echoed(409), ...refused, status: 409 },
  { fault: '422', answer: echoed(422), ...unread, status: 422 },
  { fault: '429', answer: echoed(429), read: 'rate-limited', write: 'rate-limited', reads: 3, status: 429 },
  { fault: '500', answer: echoed(500), ...lost, status: 500 },
  { fault: '502', answer: echoed(502), ...lost, status: 502 },
  { fault: '503', answer: echoed(503), ...lost, status: 503 },
  { fault: 'an empty answer', answer: status(200), ...broken },
  { fault: '204', answer: status(204), ...broken, status: 204 },
  { fault: 'a page', answer: echoed(200), ...broken },
  {
    fault: 'something else in JSON',
    answer: (response, request) => json({ echo: request })(response, request),
    ...broken,
  },
  { fault: 'null', answer: json(null), ...broken },
  {
    fault: 'an answer that is too large',
    // It would be a good one otherwise.
    answer: (response, { method }) =>
      response.end(JSON.stringify(method === 'PUT' ? wireTemplate : []).padEnd(2_000)),
    ...broken,
    options: { maxAnswerSize: 1_000 },
  },
];

describe.each(faults)('$fault', (fault) => {
  test('a read', async () => {
    const server = await scriptedServer(fault.answer);
    const failure = await failureOf(read(connected(server.url, fault.options)));
    expect(failure).toMatchObject({ kind: fault.read, operation: 'list-dns-templates' });
    expect(server.seen).toHaveLength(fault.reads);
  });

  test('an answer from a wrong address suggests to check the base URL', async () => {
    const server = await scriptedServer(fault.answer);
    const { message } = await failureOf(read(connected(server.url, fault.options)));
    expect(message.includes('base URL')).toBe(['301', '307', '404', 'a page'].includes(fault.fault));
  });

  test('a write is sent once', async () => {
    const server = await scriptedServer(fault.answer);
    const failure = await failureOf(write(connected(server.url, fault.options)));
    expect(failure).toMatchObject({ kind: fault.write, operation: 'add-dns-template-record' });
    expect(server.seen).toHaveLength(1);
  });

  test('the error is one short line without a token', async () => {
    const server = await scriptedServer(fault.answer);
    const traces: unknown[] = [];
    const service = connected(server.url, { ...fault.options, onRequest: (trace) => traces.push(trace) });
    for (const failure of [await failureOf(read(service)), await failureOf(write(service))]) {
      expect(failure.message.length).toBeLessThan(400);
      expect(failure.message).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      expect(failure.status).toBe(failure.message.includes('larger') ? null : (fault.status ?? null));
      expect(tokensIn({ failure, traces })).toEqual([]);
    }
    expect(traces).toHaveLength(fault.reads + 1);
  });
});

/** The tokens of which any part shows anywhere in a value. */
const tokensIn = (value: unknown): string[] => {
  const everything = inspect(value, { depth: 10, showHidden: true, maxStringLength: Infinity });
  return ['us3r', 'cl13nt'].filter((part) => everything.includes(part));
};

/** A port that takes connections and does with them what a service behind TLS does not. */
const rawServer = async (onConnection: (socket: Socket) => unknown): Promise<string> => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    onConnection(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return `https://127.0.0.1:${address.port}/api/v1`;
};

const refusing = async (): Promise<string> => {
  const server = await scriptedServer(silence);
  await server.close();
  return server.url;
};

const quickly = { requestTimeout: 40, writeTimeout: 40 };

describe.each<{ fault: string; url: () => Promise<string>; options?: Partial<HostingOptions> }>([
  { fault: 'a refused connection', url: refusing },
  { fault: 'a name that does not resolve', url: async () => 'http://no-such-host.invalid' },
  { fault: 'no TLS behind https', url: () => rawServer((socket) => socket.end('HTTP/1.1 400 Bad\r\n\r\n')) },
  { fault: 'a reset within the TLS handshake', url: () => rawServer((socket) => socket.resetAndDestroy()) },
  { fault: 'a TLS handshake that stalls', url: () => rawServer(() => undefined), options: quickly },
])('$fault', ({ url, options }) => {
  test.each([
    ['a read', read],
    ['a write', write],
  ])('%s was certainly not sent', async (_, call) => {
    const traces: unknown[] = [];
    const service = connected(await url(), { ...options, onRequest: (trace) => traces.push(trace) });
    const failure = await failureOf(call(service));
    expect(failure).toMatchObject({ kind: 'not-sent', status: null });
    expect(tokensIn({ failure, traces })).toEqual([]);
  });
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

test.each([
  ['a read', read],
  ['a write', write],
])('%s that was not sent is tried three times', async (_, call) => {
  const traces: unknown[] = [];
  const service = connected(await refusing(), { onRequest: (trace) => traces.push(trace) });
  await failureOf(call(service));
  expect(traces).toHaveLength(3);
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

describe('Retry-After', () => {
  const later = new Date(Date.now() + 3_600_000).toUTCString();

  test.each([
    ['120', 120_000],
    ['0', 0],
    ['Wed, 21 Oct 2015 07:28:00 GMT', 0],
    ['soon', null],
    ['-5', null],
    ['1.5', null],
  ])('%s on a write is %s ms', async (header, retryAfter) => {
    const server = await scriptedServer(status(429, '', { 'retry-after': header }));
    expect(await failureOf(write(connected(server.url)))).toMatchObject({ kind: 'rate-limited', retryAfter });
    expect(server.seen).toHaveLength(1);
  });

  test('a date becomes the time until then', async () => {
    const server = await scriptedServer(status(503, '', { 'retry-after': later }));
    const failure = await failureOf(write(connected(server.url)));
    expect(failure.kind).toBe('unknown');
    expect(failure.retryAfter).toBeGreaterThan(3_500_000);
    expect(failure.retryAfter).toBeLessThanOrEqual(3_600_000);
  });

  test.each([429, 503])('a read waits for it after %i if that is short', async (code) => {
    const arrivals: number[] = [];
    const server = await scriptedServer(
      (response, request) => {
        arrivals.push(performance.now());
        status(code, '', { 'retry-after': '1' })(response, request);
      },
      (response, request) => {
        arrivals.push(performance.now());
        json([])(response, request);
      },
    );
    expect(await read(connected(server.url))).toEqual([]);
    const [first = 0, second = 0] = arrivals;
    expect(second - first).toBeGreaterThan(990);
  });

  test.each(['6', later])('a read does not wait longer than the request timeout (%s)', async (header) => {
    const server = await scriptedServer(status(429, '', { 'retry-after': header }));
    const failure = await failureOf(read(connected(server.url)));
    expect(failure.kind).toBe('rate-limited');
    expect(failure.retryAfter).toBeGreaterThan(5_000);
    expect(server.seen).toHaveLength(1);
  });
});

test('a read succeeds after temporary failures', async () => {
  const server = await scriptedServer(status(503), reset, json([wireTemplate]));
  expect(await read(connected(server.url))).toMatchObject([{ id: 17 }]);
  expect(server.seen).toHaveLength(3);
});

describe('the message of a refusal', () => {
  const said = async (body: string | Buffer): Promise<string> => {
    const server = await scriptedServer(status(422, body));
    const { message } = await failureOf(write(connected(server.url)));
    return message;
  };
  const start = 'add dns template record: the service answered 422';

  test.each([
    ['', start],
    ['{"error":"TTL is too short"}', `${start}: {"error":"TTL is too short"}`],
    ['two\r\nlines\u001B[31m red', `${start}: two lines [31m red`],
    ['<html><style>p{}</style><h1>No</h1>\n<p>way</p></html>', `${start}: No way`],
    [Buffer.from([0x00, 0xff, 0xfe, 0x41, 0x80]), `${start}: A`],
    ['x'.repeat(300), `${start}: ${'x'.repeat(200)}…`],
  ])('%j', async (body, message) => {
    expect(await said(body)).toBe(message);
  });

  test('an endless page is read only as far as needed', async () => {
    let sent: Promise<number> | undefined;
    const server = await scriptedServer((response) => {
      const { socket } = response;
      sent = new Promise((resolve) => socket?.once('close', () => resolve(socket.bytesWritten)));
      response.writeHead(422);
      const more = (): void => {
        while (!response.destroyed && response.write('No. '.repeat(1_000)));
        response.once('drain', more);
      };
      more();
    });
    const failure = await failureOf(write(connected(server.url)));
    expect(failure).toMatchObject({
      kind: 'refused',
      status: 422,
      message: expect.stringContaining('No. No.'),
    });
    // Sockets buffer a few megabytes; all that could be sent until the deadline is far more.
    expect(await sent).toBeLessThan(50_000_000);
  });

  test('a page that ends early is still a refusal', async () => {
    const server = await scriptedServer(half((response) => response.socket?.resetAndDestroy(), 422));
    expect(await failureOf(write(connected(server.url)))).toMatchObject({ kind: 'refused', status: 422 });
  });

  test.each([8_180, 8_190, 20_000])('a token that the excerpt cuts off is not shown (%i)', async (length) => {
    const server = await scriptedServer((response, { body }) => {
      const fill = Math.max(0, length - 20);
      response.writeHead(422).end(`<i ${'x'.repeat(fill)}>${new URLSearchParams(body).get('client_token')}`);
    });
    expect(tokensIn(await failureOf(write(connected(server.url))))).toEqual([]);
  });

  test('a token that a broken connection cuts off is not shown', async () => {
    const server = await scriptedServer((response, { body }) => {
      response.writeHead(422, { 'content-length': '1000' });
      response.write(body.slice(0, 20), () => response.socket?.resetAndDestroy());
    });
    expect(tokensIn(await failureOf(write(connected(server.url))))).toEqual([]);
  });
});
