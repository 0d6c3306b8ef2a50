import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { post } from '../../src/notify/delivery.ts';
import { add, passEvent, newOutbox, receiver, update } from '../notify/pass-events.ts';
import { scriptedServer, status } from '../wire/scripted-server.ts';
import { run, workplace } from '../program.ts';
import { startService } from '../service.ts';

vi.setConfig({ testTimeout: 30_000 });

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

it.each(['template', 'fragment', 'config', 'client', 'report', 'notification'])(
  'the schema %s names itself and describes every key',
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

it('the schema is that of template files by default, and equals the files beside the examples', async () => {
  expect(await printed()).toBe(await printed('template'));
  // Made by `node dist/main.js schema --write templates`.
  for (const what of ['template', 'fragment'])
    expect(await readFile(`templates/.${what}.schema.json`, 'utf8')).toBe(await printed(what));
});

const accepted = `
client  userToken: {env: A}
client  {name: acme-1, clientToken: {file: /run/b}, templates: [a, b], limits: {maxAdds: 1}}
config  baseUrl: https://panel.example.net/api/v1
config  clients: {acme: {userToken: {env: A}, clientToken: {file: /run/b}, limits: {maxAdds: 1}}}
config  vars: {web: 203.0.113.10, on: true}
config  clients: ./clients/*.yaml
config  clients: [./clients/*.yaml, ./more]
config  notify: {ops: {type: webhook, url: "https://ops.example.net", secret: {env: A}, on: [held]}}
config  notify: {chat: {type: slack, url: {file: /run/url}, clients: [acme], timeout: 5s}}
`;
const refused = `
client  name: a b
client  listen: off
client  clients: {}
config  baseURL: https://panel.example.net/api/v1
config  userToken: secret
config  clients: {acme: {listen: off}}
config  clients: []
config  clients: 3
config  mode: enforced
config  settle: 10
config  limits: {maxChangePercent: 101}
config  notify: {chat: {type: slack}}
config  notify: {ops: {type: webhook, url: {env: A}, secret: abc}}
config  notify: {ops: {type: webhook, url: {env: A}, on: [everything]}}
`;

it.each([
  [true, accepted],
  [false, refused],
])('the schemas of settings accept what the program does: %s', async (expected, table) => {
  const accepts = {
    client: validatorOf(await printed('client')),
    config: validatorOf(await printed('config')),
  };
  for (const line of table.trim().split('\n')) {
    const [what = '', text = ''] = line.split(/ {2,}/);
    expect([line, (what === 'client' ? accepts.client : accepts.config)(parse(text))]).toEqual([
      line,
      expected,
    ]);
  }
});

it('the schema of notifications accepts the body of a webhook, and no half of it', async () => {
  const news = newOutbox();
  await news.add(passEvent([{ status: 'drifted', differences: [update(), add('192.0.2.7')] }]));
  const { url, seen } = await scriptedServer(status(204));
  const settings = receiver({ url: { read: () => url, place: '' }, publicUrl: 'https://dns.example.net' });
  await post((await news.next())!, settings, new AbortController().signal);
  const message = JSON.parse(seen[0]?.body ?? '');
  const accepts = validatorOf(await printed('notification'));
  expect(accepts(message)).toBe(true);
  expect(accepts({ ...message, changes: [] })).toBe(false);
  expect(accepts({ ...message, changes: [{ ...message.changes[0], event: 'other' }] })).toBe(false);
});

it('the schema of reports accepts the output of plan, and no half of it', async () => {
  const service = await startService();
  const { stdout } = await run(['plan', '--format', 'json'], { cwd: await workplace(), env: service.env });
  const accepts = validatorOf(await printed('report'));
  const report = JSON.parse(stdout);
  expect(accepts(report)).toBe(true);
  expect(accepts({ ...report, another: 'key' })).toBe(true);
  expect(accepts({ ...report, status: 'fine' })).toBe(false);
  expect(accepts({ ...report, templates: [{}] })).toBe(false);
});

it('a pipe in the place of a schema is named, and stays', async () => {
  const cwd = await workplace({ withExamples: false });
  execFileSync('mkfifo', [join(cwd, '.template.schema.json')]);
  const { code, stderr } = await run(['schema', '--write', '.'], { cwd });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'dns-template-sync: .template.schema.json: it is not a regular file\n',
  });
});
