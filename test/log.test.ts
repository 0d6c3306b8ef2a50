import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../src/log.ts';

type Log = ReturnType<typeof createLogger>;

/** What is written of what `say` logs. */
const written = (
  say: (log: Log) => void,
  secrets: readonly string[] = [],
  level: 'info' | 'warn' = 'info',
): string => {
  let out = '';
  say(
    createLogger({
      level,
      out: { write: (line: string) => ((out += line), true) },
      secrets: () => secrets,
      now: Date.now,
    }),
  );
  return out;
};

const parsed = (out: string): Record<string, unknown>[] =>
  out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

const linesOf = (...given: Parameters<typeof written>): Record<string, unknown>[] =>
  parsed(written(...given));

const bundle = pathToFileURL(path.resolve(import.meta.dirname, '../dist/tests/log.mjs')).href;

/** A program of its own, whose logger writes to its file descriptor. */
const start = (body: string, stdout: 'pipe' | number | Socket = 'pipe'): ChildProcess =>
  spawn(
    process.execPath,
    [
      '--input-type=module',
      '--eval',
      `import { createLogger } from '${bundle}';
       const log = createLogger({ level: 'info', out: process.stdout, secrets: () => [], now: Date.now });
       ${body}`,
    ],
    { stdio: ['ignore', stdout, 'pipe'] },
  );

describe('a log line', () => {
  it('is one JSON object with level, time, message and fields, and nothing else', () => {
    const [line, ...others] = linesOf((log) =>
      log.info({ event: 'daemon.started', client: 'a' }, 'daemon started'),
    );
    expect(others).toEqual([]);
    expect(line).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      event: 'daemon.started',
      client: 'a',
      msg: 'daemon started',
    });
  });

  it('contains no command for a CI runner', () => {
    const out = written((log) => log.info({ a: ['##[add-mask]com', '##vso[task.complete]'] }, 'line'));
    expect(out).not.toMatch(/##(vso)?\[/);
    expect(JSON.parse(out)).toMatchObject({ a: ['##[add-mask]com', '##vso[task.complete]'] });
  });

  it('is left out below the level', () => {
    const say = (log: Log): void => {
      log.info('no');
      log.child({ a: 1 }).warn('yes');
    };
    expect(linesOf(say, [], 'warn')).toMatchObject([{ level: 'warn', a: 1, msg: 'yes' }]);
  });

  it('is written before the process can die', async () => {
    const body = `for (let n = 0; n < 200; n += 1) log.info({ n }, 'line'); process.kill(process.pid, 'SIGKILL');`;
    const lines = parsed(await text(start(body).stdout!));
    expect(lines.map(({ n }) => n)).toEqual(Array.from({ length: 200 }, (_, n) => n));
  });
});

describe('a line is at most 16 KiB', () => {
  const among = (fields: object): Record<string, unknown> => {
    const say = (log: Log): void => {
      log.info('before');
      log.info({ event: 'long', client: 'a', ...fields }, 'long');
      log.info('after');
    };
    const lines = written(say, ['the-secret']).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['before', 'long', 'after']);
    expect(Buffer.byteLength(`${lines[1]}\n`)).toBeLessThanOrEqual(16 * 1024);
    return JSON.parse(lines[1] ?? '');
  };

  it('with the first of many differences, and how many more there are', () => {
    const record = { type: 'A', name: 'www', content: '192.0.2.1', priority: null, ttl: 300 };
    const difference = { action: 'update', current: record, desired: record, fields: ['content'] };
    const all = Array.from({ length: 300 }, (_, recordId) => ({ ...difference, recordId }));
    const line = among({ event: 'drift.report', differences: all, status: 'drifted' });
    const { differences, more } = line;
    if (!Array.isArray(differences)) throw new Error('no list');
    expect(differences.length).toBeGreaterThan(30);
    expect(differences.map(({ recordId }) => recordId)).toEqual(differences.map((_, index) => index));
    expect({ more, status: line['status'] }).toEqual({ more: 300 - differences.length, status: 'drifted' });
  });

  it.each([
    ['a long text', () => ({ message: 'ü'.repeat(3_000_000) })],
    ['more bytes than characters', () => ({ message: 'ü'.repeat(10_000) })],
    ['invisible characters, which are escaped', () => ({ message: '\u200b'.repeat(4_000) })],
    ['many keys', () => Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`key${n}`, n]))],
    ['a list deep inside', () => ({ one: { two: [{ three: Array(1_000_000).fill('text') }] } })],
  ])('and says where it is cut: %s', (_, fieldsOf) => {
    const line = among(fieldsOf());
    expect(line).toMatchObject({ event: 'long', client: 'a' });
    expect(JSON.stringify(line)).toMatch(/characters more|"more"/);
  });

  it('and is cut beside a secret, not inside it', () => {
    const texts = Array.from({ length: 200 }, (_, n) => 'x'.repeat(n));
    const line = among({ message: texts.join('the-secret').repeat(60) });
    expect(String(line['message']).replaceAll('[secret]', '')).toMatch(/^x*… \(\d+ characters more\)$/);
  });
});

describe.concurrent('a reader that stands still', () => {
  /** Logs 20 MiB while nobody reads. */
  const flood = `const more = 'x'.repeat(15_000);
    for (let n = 0; n < 1_400; n += 1) log.info({ n, more }, 'line');
    process.stderr.write('went on');`;

  const expectWhole = (lines: readonly Record<string, unknown>[]): void => {
    const dropped = lines.filter(({ event }) => event === 'log.dropped');
    const numbers = lines.flatMap(({ n }) => (typeof n === 'number' ? n : []));
    // A buffer of the system may grow, and take more lines after some were dropped.
    expect(dropped.map(({ level }) => level)).toEqual(dropped.map(() => 'warn'));
    expect(dropped.reduce((sum, { lines: count }) => sum + Number(count), 0)).toBe(1_400 - numbers.length);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    expect(dropped.length).toBeGreaterThan(0);
    expect(numbers.length).toBeGreaterThan(350);
  };

  it('stops nothing: later lines are dropped, counted, and missed in a line of their own', async ({
    onTestFinished,
  }) => {
    const directory = await mkdtemp(path.join(tmpdir(), 'log-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const fifo = path.join(directory, 'fifo');
    execFileSync('mkfifo', [fifo]);
    const held = await open(fifo, 'r+');
    const { stderr } = start(`${flood} setTimeout(() => log.info('last'), 3_000);`, held.fd);
    await once(stderr!, 'data');
    const output = text(spawn('cat', [fifo]).stdout);
    await once(stderr!.resume(), 'end');
    await held.close();
    const lines = parsed(await output);
    expectWhole(lines.slice(0, -1));
    expect(lines.at(-1)).toMatchObject({ msg: 'last' });
  });

  it('stops nothing where it reads a socket, as that of systemd', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const writer = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const [reader] = await accepted;
    await (writer.pending && once(writer, 'connect'));
    const { stderr } = start(`${flood} setTimeout(() => undefined, 3_000);`, writer);
    await once(stderr!, 'data');
    writer.destroy();
    expectWhole(parsed(await text(reader)));
    server.close();
  });

  it('does not keep a process that has nothing else to do', async () => {
    const child = start(flood);
    expect(await once(child, 'exit')).toEqual([0, null]);
    child.stdout?.destroy();
  });
});

it.each(['a full disk', 'a reader that has gone'])('%s stops nothing either', async (what) => {
  const full = await open('/dev/full', 'w');
  const body = `for (let n = 0; n < 10_000; n += 1) log.info({ n }, 'line'); process.stderr.write('went on');`;
  const child = start(body, what === 'a full disk' ? full.fd : 'pipe');
  child.stdout?.once('data', () => child.stdout?.destroy());
  const errors = child.stderr ? text(child.stderr) : '';
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(await errors).toBe('went on');
  await full.close();
});

describe('a secret', () => {
  const secret = 'pa+ss"wo\\rd/ü';

  it('is in no line, raw or encoded, in whole or in part', () => {
    const url = `https://x/?user_token=${encodeURIComponent(secret)}`;
    const form = new URLSearchParams({ user_token: secret }).toString();
    const say = (log: Log): void => {
      log.info({ url, form, nested: [{ secret }] }, 'line');
      log.error({ err: Object.assign(new Error(`bad ${url}`), { code: secret }) }, 'failed');
      log.child({ secret }).fatal(new TypeError(form, { cause: new Error(secret) }));
    };
    const out = written(say, [secret]);
    expect(out.trimEnd().split('\n')).toHaveLength(3);
    expect(out).not.toMatch(/ss.{0,6}wo/);
    expect(out.match(/\[secret\]/g)?.length).toBe(9);
    for (const line of out.trimEnd().split('\n')) expect(() => JSON.parse(line)).not.toThrow();
  });

  it('that is one of our words stays in our messages, and is removed from foreign text', () => {
    const secrets = ['info', 'Status', 'user', 'pass', 'pass.started', '4711'];
    const fields = { event: 'pass.started', status: 'in-sync', user: 4711, template: 'user info' };
    const say = (log: Log): void => {
      log.info(fields, 'pass started');
      log.error(new Error('no such user'));
    };
    const [line, error] = linesOf(say, secrets);
    expect(line).toMatchObject({
      level: 'info',
      event: 'pass.started',
      status: 'in-sync',
      user: 4711,
      template: '[secret] [secret]',
      msg: 'pass started',
    });
    expect(error).toMatchObject({ err: { message: 'no such [secret]' }, msg: 'no such [secret]' });
  });

  it('that was added later is redacted too', () => {
    const secrets = ['first'];
    const lines = linesOf((log) => {
      log.info({ template: 'second' }, 'line');
      secrets.push('second');
      log.info({ template: 'second' }, 'line');
    }, secrets);
    expect(lines.map(({ template }) => template)).toEqual(['second', '[secret]']);
  });
});

const round = new Error('round');
round.cause = round;

it.each<[what: string, thrown: unknown, fields: unknown]>([
  ['a text', 'just text', 'just text'],
  ['one that contains itself', round, { cause: { cause: { cause: { message: 'round' } } } }],
  [
    'one without a code, with its stack',
    new TypeError('a defect\n    at home'),
    { name: 'TypeError', message: 'a defect\n    at home', stack: [expect.stringMatching(/^at .+/)] },
  ],
])('what was thrown is logged: %s', (_, err, fields) => {
  const [line] = linesOf((log) => log.error({ err }, 'failed'));
  const told = JSON.parse(JSON.stringify(line), (key, value) =>
    key === 'stack' ? value.slice(0, 1) : value,
  );
  expect(told).toMatchObject({ err: fields });
});

it('an error shows only the allowed fields', () => {
  const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED', input: 'x' });
  const fields = { name: 'HostingError', kind: 'network', status: 502, code: { deep: 1 } };
  const others = { headers: { cookie: 'x' }, data: 'x', response: {} };
  const err = Object.assign(new Error('no answer', { cause }), fields, others);
  const { code: _, ...shown } = fields;
  const refused = { name: 'Error', message: 'refused', code: 'ECONNREFUSED' };
  expect(linesOf((log) => log.error({ err }, 'failed'))[0]?.['err']).toEqual({
    ...shown,
    message: 'no answer',
    cause: refused,
  });
});
