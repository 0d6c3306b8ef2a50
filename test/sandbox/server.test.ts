import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { UserError } from '../../src/errors.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import { get, post, put, send, tokens } from './requests.ts';

/* The server around the operations, and the file of its data. */

let directory: string;
let dataFile: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandbox-'));
  dataFile = join(directory, 'state', 'sandbox.json');
  onTestFinished(() => rm(directory, { recursive: true }));
});

const start = async (options: Parameters<typeof startSandbox>[0] = { dataFile }): Promise<Sandbox> => {
  const sandbox = await startSandbox(options);
  onTestFinished(() => sandbox.close().catch(() => undefined));
  return sandbox;
};

const addTo = ({ url }: Sandbox) => `${url}/dns_templates/23/add_record`;
const add = (sandbox: Sandbox, content: string) => put(addTo(sandbox), { type: 'TXT', content });

const texts = async ({ url }: Sandbox): Promise<string[]> =>
  (await get(`${url}/dns_templates`)).json
    .find(({ id }: { id: number }) => id === 23)
    .dns_template_records.filter(({ type }: { type: string }) => type === 'TXT')
    .map(({ content }: { content: string }) => content);

it('everything is there after a restart, with ids and subdomains, until it is to start again', async () => {
  const first = await start();
  await add(first, 'kept');
  await post(`${first.controlUrl}/add-record`, { dns_template_id: 17, type: 'CAA', content: 'x' });
  const all = async ({ url }: Sandbox) => [
    (await get(`${url}/dns_templates`)).json,
    (await get(`${url}/dns_records`, { subdomain: 'bakery.example.net' })).json,
  ];
  const before = await all(first);
  await first.close();
  const second = await start();
  expect(await all(second)).toEqual(before);
  expect(await texts(second)).toEqual(['kept']);
  expect(await texts(await start({ dataFile, reset: true }))).toEqual([]);
  expect(await texts(second)).toEqual([]);
});

it('a file is accessible to its owner only, and several services read it as it is', async () => {
  const [one, two] = [await start(), await start()];
  await add(one, 'a');
  expect(await texts(two)).toEqual(['a']);
  await add(two, 'b');
  expect(await texts(one)).toEqual(['a', 'b']);
  expect((await stat(dataFile)).mode & 0o777).toBe(0o600);
  expect(await readdir(join(directory, 'state'))).toEqual(['sandbox.json']);
});

it.each([
  ['cut off', '{"version":1,"next_id":20'],
  ['wrong inside', null],
])('a file that is %s is named, with what to do, at the start and to each request', async (_, text) => {
  const running = await start();
  const whole = await readFile(dataFile, 'utf8');
  const damaged = text ?? whole.replace('"ttl":3600', '"ttl":"3600"');
  await writeFile(dataFile, damaged);
  const error = expect.stringContaining(dataFile);
  expect(await add(running, 'a')).toMatchObject({ status: 500, json: { error } });
  expect(await readFile(dataFile, 'utf8')).toBe(damaged);
  await expect(start()).rejects.toThrow(UserError);
  await expect(start()).rejects.toThrow(/Use --reset/);
  await writeFile(dataFile, whole);
  await add(running, 'b');
  expect(await texts(running)).toEqual(['b']);
});

it('a directory in place of the file, and an address that is taken, are named', async () => {
  await expect(start({ dataFile: directory })).rejects.toThrow(directory);
  const port = Number(new URL((await start({})).url).port);
  await expect(start({ port })).rejects.toThrow(UserError);
  await expect(start({ port })).rejects.toThrow(`127.0.0.1:${port}`);
});

it('a failure never repeats a token', async () => {
  const sandbox = await start({});
  const { user_token: secret } = tokens;
  const answers = await Promise.all([
    put(addTo(sandbox), { type: secret, content: secret }),
    put(addTo(sandbox), { type: 'MX', content: 'a', priority: secret }),
    get(`${sandbox.url}/accounts/${secret}`),
    get(`${sandbox.url}/databases`, { account_id: secret }),
    get(`${sandbox.url}/dns_records`, { subdomain: secret }),
    send(addTo(sandbox), {
      method: 'PUT',
      body: JSON.stringify(tokens),
      headers: { 'content-type': 'application/json' },
    }),
    send(`${sandbox.url}/accounts?user_token=${secret}`),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([422, 422, 404, 422, 404, 415, 401]);
  for (const { text, type } of answers) {
    expect(text).not.toContain(secret);
    expect(type).toBe('application/json; charset=utf-8');
  }
});

it('its end ends connections, also one in the middle of a body', async () => {
  const sandbox = await start({});
  const { hostname, port } = new URL(sandbox.url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  socket.write('PUT /api/v1/dns_templates/23/add_record HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n');
  socket.write('expect: 100-continue\r\n\r\n');
  expect(String(await once(socket, 'data'))).toContain('100 Continue');
  const gone = new Promise((resolve) => socket.on('close', resolve));
  await sandbox.close();
  await gone;
});

it.each([false, true])('a pipe is no data file, and stays (from the start: %s)', async (reset) => {
  await mkdir(join(directory, 'state'));
  execFileSync('mkfifo', [dataFile]);
  await expect(start({ dataFile, reset })).rejects.toThrow(/sandbox\.json: it is not a regular file/);
  expect((await stat(dataFile)).isFIFO()).toBe(true);
});
