import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { post } from '../../src/notify/delivery.ts';
import { add, passEvent, newOutbox, receiver, update } from '../notify/pass-events.ts';
import { scriptedServer, status } from '../wire/scripted-server.ts';
import { run, workplace } from '../program.ts';
import { startService } from '../service.ts';

vi.setConfig({ testTimeout: 30_000 });

const root = path.join(import.meta.dirname, '../..');

const texts = new Map<string, Promise<string>>();

/** What the program prints, which is always the same. */
const printed = (what = ''): Promise<string> => {
  const text = texts.get(what) ?? print(what);
  texts.set(what, text);
  return text;
};

const print = async (what: string): Promise<string> => {
  const cwd = await workplace({ withExamples: false });
  const { code, stdout, stderr } = await run(['schema', what].filter(Boolean), { cwd });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
};

const validatorOf = (text: string): ValidateFunction =>
  new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true })
    .addFormat('date-time', (value) => !Number.isNaN(Date.parse(value)))
    .compile(JSON.parse(text));

const accepts = (validate: ValidateFunction, value: unknown): boolean => validate(value);

describe('schema', () => {
  it.each(['template', 'fragment', 'config', 'client', 'report', 'notification'])(
    '%s: names itself and describes every key',
    async (what) => {
      const schema = JSON.parse(await printed(what));
      expect(schema).toMatchObject({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $id: `urn:dns-template-sync:${what}`,
        title: `dns-template-sync ${what}`,
      });
      const properties: [string, { description?: string }][] = Object.entries(schema.properties);
      expect(properties.filter(([, { description }]) => !description).map(([key]) => key)).toEqual([]);
    },
  );

  it('is that of template files by default', async () => {
    expect(await printed()).toBe(await printed('template'));
  });

  it.each(['template', 'fragment'])('of a %s equals the file beside the examples', async (what) => {
    // Made by `node dist/main.js schema --write templates`.
    const file = path.join(root, `templates/.${what}.schema.json`);
    expect(await readFile(file, 'utf8')).toBe(await printed(what));
  });
});

describe("the schema of a client's file", () => {
  it.each<[string, boolean]>([
    ['userToken: {env: A}', true],
    ['{name: acme-1, clientToken: {file: /run/b}, templates: [a, b], limits: {maxAdds: 1}}', true],
    ['name: a b', false],
    ['listen: off', false],
    ['clients: {}', false],
  ])('%s: %s', async (text, expected) => {
    expect(accepts(validatorOf(await printed('client')), parse(text))).toBe(expected);
  });
});

describe('the schema of the settings file', () => {
  it.each<[string, boolean]>([
    ['baseUrl: https://panel.example.net/api/v1', true],
    ['clients: {acme: {userToken: {env: A}, clientToken: {file: /run/b}, limits: {maxAdds: 1}}}', true],
    ['vars: {web: 203.0.113.10, on: true}', true],
    ['baseURL: https://panel.example.net/api/v1', false],
    ['userToken: secret', false],
    ['clients: {acme: {listen: off}}', false],
    ['clients: ./clients/*.yaml', true],
    ['clients: [./clients/*.yaml, ./more]', true],
    ['clients: []', false],
    ['clients: 3', false],
    ['mode: enforced', false],
    ['settle: 10', false],
    ['limits: {maxChangePercent: 101}', false],
    ['notify: {ops: {type: webhook, url: "https://ops.example.net", secret: {env: A}, on: [held]}}', true],
    ['notify: {chat: {type: slack, url: {file: /run/url}, clients: [acme], timeout: 5s}}', true],
    ['notify: {chat: {type: slack}}', false],
    ['notify: {ops: {type: webhook, url: {env: A}, secret: abc}}', false],
    ['notify: {ops: {type: webhook, url: {env: A}, on: [everything]}}', false],
  ])('%s: %s', async (text, expected) => {
    expect(accepts(validatorOf(await printed('config')), parse(text))).toBe(expected);
  });
});

describe('the schema of notifications', () => {
  it('accepts the body of a webhook, and no half of it', async () => {
    const one = passEvent([{ status: 'drifted', differences: [update(), add('192.0.2.7')] }]);
    const news = newOutbox();
    await news.add(one);
    const { url, seen } = await scriptedServer(status(204));
    const settings = receiver({ url: { read: () => url, place: '' }, publicUrl: 'https://dns.example.net' });
    await post((await news.next())!, settings, new AbortController().signal);
    const message = JSON.parse(seen[0]?.body ?? '');
    const validate = validatorOf(await printed('notification'));
    expect(accepts(validate, message)).toBe(true);
    expect(accepts(validate, { ...message, changes: [] })).toBe(false);
    expect(accepts(validate, { ...message, changes: [{ ...message.changes[0], event: 'other' }] })).toBe(
      false,
    );
  });
});

describe('the schema of reports', () => {
  it('accepts the output of plan, and no half of it', async () => {
    const service = await startService();
    const { stdout } = await run(['plan', '--format', 'json'], { cwd: await workplace(), env: service.env });
    const validate = validatorOf(await printed('report'));
    const report = JSON.parse(stdout);
    expect(accepts(validate, report)).toBe(true);
    expect(accepts(validate, { ...report, another: 'key' })).toBe(true);
    expect(accepts(validate, { ...report, status: 'fine' })).toBe(false);
    expect(accepts(validate, { ...report, templates: [{}] })).toBe(false);
  });
});
