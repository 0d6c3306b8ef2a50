import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UserError } from '../../src/errors.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { get, post, put } from './requests.ts';

let directory: string;
let dataFile: string;
let started: Sandbox[];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandbox-'));
  dataFile = join(directory, 'state', 'sandbox.json');
  started = [];
});
afterEach(async () => {
  await Promise.all(started.map(async (sandbox) => sandbox.close()));
  await rm(directory, { recursive: true });
});

const start = async (options: { reset?: boolean } = {}) => {
  const sandbox = await startSandbox({ dataFile, ...options });
  started.push(sandbox);
  return sandbox;
};

const add = async (sandbox: Sandbox, content: string) =>
  put(`${sandbox.url}/dns_templates/23/add_record`, { type: 'TXT', content });

const texts = async (sandbox: Sandbox): Promise<string[]> => {
  const { json } = await get(`${sandbox.url}/dns_templates`);
  return json
    .find(({ id }: { id: number }) => id === 23)
    .dns_template_records.filter(({ type }: { type: string }) => type === 'TXT')
    .map(({ content }: { content: string }) => content);
};

it('restores everything after a restart, with ids and subdomains', async () => {
  const first = await start();
  await add(first, 'kept');
  await post(`${first.controlUrl}/add-record`, { dns_template_id: 17, type: 'CAA', content: 'x' });
  const urls = ['/dns_templates', '/accounts', '/dns_records?subdomain=bakery.example.net'];
  const before = await Promise.all(urls.map(async (path) => read(first, path)));
  await first.close();
  const second = await start();
  expect(await Promise.all(urls.map(async (path) => read(second, path)))).toEqual(before);
  expect(await texts(second)).toEqual(['kept']);
});

const read = async (sandbox: Sandbox, path: string) => {
  const url = new URL(sandbox.url + path);
  return (await get(`${url.origin}${url.pathname}`, Object.fromEntries(url.searchParams))).json;
};

it('starts again with the example data on request', async () => {
  const first = await start();
  await add(first, 'gone');
  const second = await start({ reset: true });
  expect(await texts(second)).toEqual([]);
  expect(await texts(first)).toEqual([]);
});

it('is accessible to its owner only, and leaves nothing beside it', async () => {
  await add(await start(), 'kept');
  expect((await stat(dataFile)).mode & 0o777).toBe(0o600);
  expect(await readdir(join(directory, 'state'))).toEqual(['sandbox.json']);
});

it('that several have is read by each as it is', async () => {
  const [one, two] = [await start(), await start()];
  await add(one, 'a');
  expect(await texts(two)).toEqual(['a']);
  await add(two, 'b');
  expect(await texts(one)).toEqual(['a', 'b']);
});

describe('a file that cannot be used', () => {
  it.each([
    ['cut off', '{"version":1,"next_id":20'],
    ['empty', ''],
    ['of another form', '{"version":2}'],
    ['wrong inside', null],
  ])('because it is %s is an error that names it and says what to do', async (_, text) => {
    await (await start()).close();
    const whole = await readFile(dataFile, 'utf8');
    await writeFile(dataFile, text ?? whole.replace('"ttl":3600', '"ttl":"3600"'));
    const starting = start();
    await expect(starting).rejects.toThrow(UserError);
    await expect(starting).rejects.toThrow(dataFile);
    await expect(starting).rejects.toThrow('--reset');
    expect(await texts(await start({ reset: true }))).toEqual([]);
  });

  it('is reported to each request, and is used again once it is repaired', async () => {
    const sandbox = await start();
    const whole = await readFile(dataFile, 'utf8');
    await writeFile(dataFile, 'x');
    expect(await add(sandbox, 'a')).toMatchObject({
      status: 500,
      json: { error: expect.stringContaining(dataFile) },
    });
    expect(await readFile(dataFile, 'utf8')).toBe('x');
    await writeFile(dataFile, whole);
    expect((await add(sandbox, 'b')).status).toBe(200);
    expect(await texts(sandbox)).toEqual(['b']);
  });

  it('because it is a directory is an error that names it', async () => {
    dataFile = directory;
    await expect(start()).rejects.toThrow(UserError);
    await expect(start()).rejects.toThrow(directory);
  });
});
