import { once } from 'node:events';
import { rename, rm, utimes } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { writeBelow } from './ways.ts';
import { silence, status, type Answer } from '../wire/scripted-server.ts';
import {
  addTemplate,
  contentsOf,
  describing,
  inSeconds,
  never,
  startDaemon,
  triggerToken,
} from './daemon.ts';
import { start, workplace, type LogLine } from '../program.ts';
import { clientToken, startService, userToken, type Meddling } from '../service.ts';

vi.setConfig({ testTimeout: 60_000 });

interface Options {
  readonly meddle?: Meddling;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Of the template file. */
  readonly keys?: string;
  /** Beside the one of its address. */
  readonly records?: string;
  /** A settings file. */
  readonly settings?: string;
}

/** The daemon after its first pass, on one template `site` that is in sync, by the clock of this machine and `later`. */
const started = async (options: Options = {}) => {
  const { meddle, args = [], env = {}, keys = '', records = '', settings } = options;
  const service = await startService(meddle);
  const id = await addTemplate(service, 'site', '192.0.2.1');
  const cwd = await workplace({ withExamples: false });
  const write = (file: string, content: string): Promise<void> => writeBelow(cwd, file, content);
  const edit = (address: string, more = records): Promise<void> =>
    write('templates/site.yaml', describing('site', address, keys) + more);
  await edit('192.0.2.1');
  if (settings !== undefined) await write('dns-template-sync.yaml', settings);
  let passed = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + passed };
  const launch = { cwd, env: { ...service.env, ...env }, clock };
  const daemon = await startDaemon(args, launch);
  expect(await daemon.event('pass.finished')).toMatchObject({ status: 'in-sync' });
  const later = (milliseconds: number): void => void (passed += milliseconds);
  return { service, id, cwd, write, edit, launch, daemon, later, contents: () => contentsOf(service, id) };
};

const isAfterEdit = ({ trigger }: LogLine): boolean => trigger === 'file-change';

it('a pass on the schedule corrects what somebody changed', async () => {
  const { service, id, daemon, contents } = await started({ args: ['--schedule', inSeconds(2)] });
  const [record] = await service.records(id);
  await service.change('edit-record', { record_id: record?.id, content: '192.0.2.9' });
  expect(await daemon.event('change.applied')).toMatchObject({ trigger: 'schedule', cause: 'drifted' });
  expect(await contents()).toEqual(['192.0.2.1']);
});

describe('a template file', () => {
  const www = (name: string): string => `  - {type: A, name: ${name}, content: 192.0.2.2}\n`;

  it('that drops a record in place puts it to another use when nothing can be on its way any more', async () => {
    const { service, id, edit, daemon, later } = await started({
      keys: 'surplus: park\n',
      records: www('www'),
    });
    const names = async (): Promise<unknown[]> => (await service.records(id)).map(({ name }) => name);
    await edit('192.0.2.1', www('mail'));
    later(3_000);
    await daemon.event('pass.finished', isAfterEdit);
    expect(await names()).toEqual([null, 'www']);
    expect(JSON.stringify(await daemon.json('/api/report'))).toContain('may still be on its way');
    later(30_000);
    await daemon.event('change.applied');
    expect(await names()).toEqual([null, 'mail']);
  });

  it('that is new parks nothing while more of it may be on its way', async () => {
    const keys = 'surplus: park\n';
    const { service, id, cwd, edit, daemon, later } = await started({ keys, records: www('www') });
    const names = async (): Promise<unknown[]> => (await service.records(id)).map(({ name }) => name);
    await rm(path.join(cwd, 'templates/site.yaml'));
    await daemon.event('pass.finished', ({ status: of }) => of === 'failed');
    await edit('192.0.2.1', '');
    later(3_000);
    await daemon.event('pass.finished', ({ status: of }) => of !== 'failed');
    expect(await names()).toEqual([null, 'www']);
    later(30_000);
    await daemon.event('change.applied');
    expect(await names()).toEqual([null, expect.stringMatching(/^_parked-/)]);
  });

  it('of which very much is made keeps no request from its answer', async () => {
    const { cwd, write, edit, daemon, contents } = await started();
    const lines = (count: number, line: (index: number) => string): string =>
      Array.from({ length: count }, (_, index) => line(index)).join('');
    // Of which nothing comes, since the last is wrong: the pass after it is short.
    const records = `${lines(5_000, (index) => `- {type: TXT, name: n${index}, content: x}\n`)}- {type: TXT}\n`;
    const including = lines(15, (index) => `---\ntemplate: large-${index}\ninclude: [_shared.yaml]\n`);
    for (const [name, content] of [
      ['_shared.yaml', `records:\n${records}`],
      ['large.yaml', including],
    ] as const) {
      await write(`next/${name}`, content);
      await utimes(path.join(cwd, 'next', name), 0, 0);
      await rename(path.join(cwd, 'next', name), path.join(cwd, 'templates', name));
    }
    let answers = 0;
    const isRead = (): boolean =>
      daemon.lines().some((line) => line['event'] === 'pass.finished' && isAfterEdit(line));
    for (; !isRead(); answers += 1) expect((await daemon.ask('/livez')).ok).toBe(true);
    expect(answers).toBeGreaterThan(10);
    await edit('192.0.2.2');
    await daemon.event('change.applied');
    expect(await contents()).toEqual(['192.0.2.2']);
  });
});

describe('who asks', () => {
  const connected = async () => {
    const { daemon } = await started();
    const { listen } = daemon.lines().find(({ event }) => event === 'daemon.started') ?? {};
    const open = (words: string): Socket => {
      const socket = connect(Number(new URL(String(listen)).port), '127.0.0.1');
      socket.on('error', () => undefined);
      onTestFinished(() => void socket.destroy());
      socket.write(words);
      return socket;
    };
    /** The status of all that comes back until the daemon ends the connection. */
    const say = async (words: string): Promise<number> =>
      Number((await text(open(words))).split(' ', 2)[1] ?? 0);
    return { daemon, open, say };
  };
  const get = (target: string, head = 'Host: evil.example'): string =>
    `GET ${target} HTTP/1.1\r\n${head}\r\nConnection: close\r\n\r\n`;

  it('in unusual ways passes no rule, and probes need no host', async () => {
    const { say } = await connected();
    const asked: Record<string, readonly [request: string, status: number]> = {
      'the whole address': [get('http://localhost/api/report'), 421],
      'a doubled slash': [get('//api/report'), 421],
      'a way through a probe': [get('/livez/../api/report'), 421],
      'escaped letters': [get('/%61pi/report'), 421],
      'a second Host': [get('/api/report', 'Host: evil.example\r\nHost: localhost'), 421],
      'no Host': [get('/api/report', 'X: y'), 400],
      'no Host by HTTP/1.0': ['GET /api/report HTTP/1.0\r\n\r\n', 421],
      'a probe by HTTP/1.0': ['GET /readyz HTTP/1.0\r\n\r\n', 200],
      'two lengths': [get('/livez', 'Host: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked'), 400],
      'no HTTP': ['SSH-2.0-client\r\n\r\n', 400],
      'a head too long': [get('/livez', `X: ${'x'.repeat(20_000)}`), 431],
      'a head that never ends': ['GET /livez HTTP/1.1\r\nHost: x\r\nX: ', 408],
    };
    const answers = Object.entries(asked).map(async ([what, [words]]) => [what, await say(words)] as const);
    expect(Object.fromEntries(await Promise.all(answers))).toEqual(
      Object.fromEntries(Object.entries(asked).map(([what, [, expected]]) => [what, expected])),
    );
  });

  it.each([
    ['a wrong', 'wrong', 401],
    ['the right', triggerToken, 202],
  ])('by a body that never ends, with %s token, is let go', async (_, token, expected) => {
    const { open } = await connected();
    const socket = open(
      `POST /api/reconcile HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Length: 10000000000\r\n\r\n`,
    );
    // Slowly enough for the answer to be read before a write finds the connection closed.
    const body = setInterval(() => socket.write(Buffer.alloc(65_536)), 50);
    onTestFinished(() => clearInterval(body));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const [answer]: unknown[] = await once(socket, 'data');
    expect(String(answer)).toMatch(new RegExp(`^HTTP/1.1 ${expected} `));
    await closed;
  });

  it('for anything is shown no secret, nor by the log, and a wrong token is counted and logged', async () => {
    const { service, id, edit, daemon } = await started({
      meddle: ({ method, query, body }) =>
        method === 'PUT' ? status(422, `not for ${decodeURIComponent(`${query} ${body}`)}`) : null,
    });
    const content = `key=${triggerToken}`;
    await service.change('add-record', { dns_template_id: id, type: 'TXT', name: 'k', content });
    await edit('192.0.2.2');
    await daemon.event('change.failed');
    await daemon.event('pass.finished');
    const headers = { authorization: 'Bearer a guess of somebody' };
    expect((await daemon.ask('/api/reconcile', { method: 'POST', headers })).status).toBe(401);
    expect(await daemon.event('request.refused')).toMatchObject({ token: 'trigger', reason: 'wrong' });
    const { value } = await daemon.scrape();
    expect(value('dns_template_sync_refused_requests_total', { token: 'trigger', reason: 'wrong' })).toBe(1);

    const pageOf = async (place: string): Promise<string> => (await daemon.ask(place)).text();
    const places = ['/', '/metrics', '/readyz', '/api/report', '/api/history', '/api/history?since=x'];
    const shown = await Promise.all(places.map(pageOf));
    expect(shown[0]).toContain('key=[secret]');
    // Nor is anybody told who searches for it whether a record holds it.
    expect(await pageOf('/?q=key%3D')).toContain('key=[secret]');
    expect(await pageOf(`/?q=key%3D${triggerToken.slice(0, 3)}`)).toContain('Nothing matches.');
    for (const secret of [userToken, clientToken, triggerToken, 'a guess of somebody'])
      for (const spelling of [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])
        expect([...shown, daemon.output()].filter((one) => one.includes(spelling))).toEqual([]);
  });
});

describe('a signal', () => {
  it('SIGHUP reads the settings again, watches other files, and says what needs a restart', async () => {
    const { write, daemon, contents } = await started({ settings: `timezone: UTC\n` });
    await write('elsewhere/site.yaml', describing('site', '192.0.2.3'));
    await write('dns-template-sync.yaml', 'templates: elsewhere\n');
    daemon.signal('SIGHUP');
    await daemon.event('pass.finished', ({ trigger }) => trigger === 'request');
    await write('elsewhere/site.yaml', describing('site', '192.0.2.4'));
    await daemon.event('change.applied', ({ trigger }) => trigger === 'file-change');
    // The file was young when the settings named it: the first pass because of it may be of what it said before.
    await vi.waitFor(async () => expect(await contents()).toEqual(['192.0.2.4']), { timeout: 10_000 });
  });

  it('SIGHUP says that another address to listen on needs a restart', async () => {
    const { write, launch } = await started();
    await write('dns-template-sync.yaml', 'listen: 127.0.0.1:0\n');
    const env = { ...launch.env, DNS_SYNC_STATE_DIR: 'other' };
    const other = start(['run', '--schedule', never], { ...launch, env });
    await other.event('pass.finished');
    await write('dns-template-sync.yaml', 'listen: off\n');
    other.signal('SIGHUP');
    await other.says('listen has changed: the new one takes effect');
  });

  it('SIGTERM waits no longer for a write than writeTimeout', async () => {
    let answer: Answer | null = silence;
    const { service, edit, launch, daemon, contents } = await started({
      meddle: ({ method }) => (method === 'PUT' ? answer : null),
      env: { DNS_SYNC_WRITE_TIMEOUT: '1s' },
    });
    await edit('192.0.2.2');
    await vi.waitFor(() => expect(service.writes()).toHaveLength(1));
    daemon.signal('SIGTERM');
    expect(await daemon.ended).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"change.unknown"'),
    });
    answer = null;
    const next = await startDaemon([], launch);
    await next.event('pass.finished');
    expect(await contents()).toEqual(['192.0.2.2']);
  });
});
