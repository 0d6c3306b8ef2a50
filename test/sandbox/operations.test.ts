import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import { get, post, put, send, tokens, type Sent } from './requests.ts';

let sandbox: Sandbox;
let seen: unknown[];
beforeEach(async () => {
  seen = [];
  sandbox = await startSandbox({ onRequest: (...request) => seen.push(request) });
});
afterEach(async () => {
  await sandbox.close();
});

const templates = async (): Promise<Template[]> => (await get(`${sandbox.url}/dns_templates`)).json;
const template = async (id: number): Promise<Template> => (await templates()).find((one) => one.id === id)!;
const recordsOf = async (subdomain: string) => (await get(`${sandbox.url}/dns_records`, { subdomain })).json;
const change = (name: string, body: unknown) => post(`${sandbox.controlUrl}/${name}`, body);
const add = (form: Record<string, string>, id = 23) =>
  put(`${sandbox.url}/dns_templates/${id}/add_record`, form);
const update = (form: Record<string, string>, id: number) =>
  put(`${sandbox.url}/dns_templates/${id}/update_record`, form);

interface Template {
  readonly id: number;
  readonly publicly_available: boolean;
  readonly subdomains: number | null;
  readonly dns_template_records: readonly (Record<string, unknown> & { readonly id: number })[];
}

describe('what is listed', () => {
  const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}$/);
  const [integer, text, list] = [expect.any(Number), expect.any(String), expect.any(Array)];
  const account_id = 301;

  it('is an account with every field of the specification, in the list and alone', async () => {
    const { json } = await get(`${sandbox.url}/accounts`);
    const [account, empty] = json;
    expect(account).toEqual({
      id: account_id,
      name: text,
      created_at: timestamp,
      virtual_server_id: integer,
      applications: list,
      databases: list,
      ftp_users: list,
      ssh_keys: list,
    });
    expect(account.applications[0]).toEqual({
      id: integer,
      account_id,
      name: text,
      created_at: timestamp,
      aliases: list,
    });
    const user = { id: integer, account_id, user: text, host: text };
    expect(account.ftp_users).toContainEqual({ ...user, directory: '' });
    expect(account.ssh_keys).not.toEqual([]);
    // Here a grant has no id.
    expect(account.databases[0].database_grants[0]).toEqual({ login: text, access_level: text });
    expect(empty).toMatchObject({ applications: [], databases: [], ftp_users: [], ssh_keys: [] });
    for (const one of json) expect((await get(`${sandbox.url}/accounts/${one.id}`)).json).toEqual(one);
  });

  it('are the databases of an account, which may have none', async () => {
    const { json } = await get(`${sandbox.url}/databases`, { account_id: '301' });
    expect(json[0]).toEqual({ id: integer, account_id, name: text, hosts: list, database_grants: list });
    expect(json[0].database_grants[0]).toEqual({ id: integer, login: text, access_level: text });
    expect((await get(`${sandbox.url}/databases`, { account_id: '302' })).json).toEqual([]);
  });

  it('are templates, own and public, with records of all types', async () => {
    const all = await templates();
    for (const one of all) expect(one.subdomains).toEqual(one.publicly_available ? null : integer);
    expect(new Set(all.map((one) => one.publicly_available))).toEqual(new Set([true, false]));
    const records = all.flatMap((one) => one.dns_template_records);
    for (const record of records)
      expect(Object.keys(record).toSorted()).toEqual(['content', 'id', 'name', 'priority', 'ttl', 'type']);
    expect(new Set(records.map(({ type }) => type)).size).toBe(7);
    expect(new Set(records.map(({ id }) => id)).size).toBe(records.length);
  });

  it('are the records of a subdomain: NS and SOA, then those of its template, at once, with ids that stay', async () => {
    const before = await recordsOf('Team.example.org');
    expect(
      before
        .slice(0, 4)
        .map(({ type, dns_template_record_id }: Record<string, unknown>) => [type, dns_template_record_id]),
    ).toEqual([
      ['NS', null],
      ['NS', null],
      ['SOA', null],
      [expect.any(String), expect.any(Number)],
    ]);
    expect(before[2].content).toMatch(/^\S+ \S+( \d+){5}$/);
    await update({ record_id: '216', content: 'new.example.com' }, 21);
    const added = (await add({ type: 'TXT', content: 'new' }, 21)).json.dns_template_records.at(-1);
    await change('edit-record', { record_id: 211, priority: 7 });
    const changed: Record<number, object> = { 216: { content: 'new.example.com' }, 211: { priority: 7 } };
    expect(await recordsOf('team.example.org')).toEqual([
      ...before.map((one: { dns_template_record_id: number }) => ({
        ...one,
        ...changed[one.dns_template_record_id],
      })),
      { ...added, id: integer, dns_template_record_id: added.id },
    ]);
  });
});

it.each([
  [{ type: 'A', content: '203.0.113.5' }, {}],
  [{ type: 'A', content: '203.0.113.5', name: '' }, {}],
  [
    { type: 'AAAA', content: '2001:db8::5', name: 'v6', ttl: '60' },
    { name: 'v6', ttl: 60 },
  ],
  [{ type: 'CNAME', content: 'a.example.net', name: 'a' }, { name: 'a' }],
  [{ type: 'MX', content: 'mx1.example.net', priority: '0' }, { priority: 0 }],
  [{ type: 'PTR', content: 'a.example.net', name: '5' }, { name: '5' }],
  [
    { type: 'SRV', content: '0 65535 a.example.net', name: '_sip._tcp', priority: '65535' },
    { name: '_sip._tcp', priority: 65_535 },
  ],
  [{ type: 'TXT', content: ' "a"  b\\;ü🎂 ', name: 'Text' }, { name: 'Text' }],
  [{ type: 'A', content: '203.0.113.5', priority: '7', record_id: '230', colour: 'red' }, {}],
])('add_record stores %j, also twice, and answers the whole template', async (form, given) => {
  const before = await template(23);
  const first = (await add(form)).json.dns_template_records.at(-1);
  const { json } = await add(form);
  const second = json.dns_template_records.at(-1);
  const stored = { type: form.type, content: form.content, name: null, priority: null, ttl: 3600, ...given };
  expect(json).toEqual({
    ...before,
    dns_template_records: [
      ...before.dns_template_records,
      { id: first.id, ...stored },
      { id: second.id, ...stored },
    ],
  });
  expect(second.id).toBeGreaterThan(first.id);
  expect(await template(23)).toEqual(json);
});

it.each([
  [21, { record_id: '216' }, {}],
  [21, { record_id: '216', content: 'other.example.com' }, { content: 'other.example.com' }],
  [21, { record_id: '216', name: 'post' }, { name: 'post' }],
  [21, { record_id: '216', name: '' }, { name: null }],
  [21, { record_id: '216', ttl: '0' }, { ttl: 0 }],
  [21, { record_id: '216', priority: '5' }, {}],
  [21, { record_id: '216', type: 'TXT', content: 'x' }, { content: 'x' }],
  [21, { record_id: '211', priority: '20' }, { priority: 20 }],
  [26, { record_id: '260', name: '1', ttl: '60' }, { ttl: 60 }],
  [31, { record_id: '313', name: '_sips._tcp', priority: '10', content: '1 2 a.' }, { content: '1 2 a.' }],
])('update_record of template %i with %j changes just %j', async (id, form, changed) => {
  const before = await template(id);
  expect((await update(form, id)).json).toEqual({
    ...before,
    dns_template_records: before.dns_template_records.map((record) =>
      String(record.id) === form.record_id ? { ...record, ...changed } : record,
    ),
  });
});

it('records are added, edited and removed by hand without the rules of the operations', async () => {
  const record = { type: 'CAA', content: '0 issue "example.net"' };
  const added = await change('add-record', { dns_template_id: 1, ...record });
  expect(added.json).toEqual(await template(1));
  const { id } = added.json.dns_template_records.at(-1);
  const edit = { type: 'A', name: 'www', priority: 7, ttl: 1 };
  expect((await change('edit-record', { record_id: id, ...edit })).json).toEqual(await template(1));
  expect((await template(1)).dns_template_records.at(-1)).toEqual({ id, ...record, ...edit });
  expect((await change('remove-record', { record_id: id })).json).toEqual(await template(1));
  expect((await template(1)).dns_template_records).toHaveLength(3);
});

it('a template is added by hand, and a subdomain follows it', async () => {
  const { json } = await change('add-template', { name: 'shop' });
  expect(json).toMatchObject({ name: 'shop', publicly_available: false, dns_template_records: [] });
  const followed = await change('set-subdomain', { name: 'New.example.net', dns_template_id: json.id });
  expect(followed.json).toMatchObject({ id: json.id, subdomains: 1 });
  await change('add-record', { dns_template_id: json.id, type: 'A', content: '203.0.113.7' });
  const shown = await recordsOf('new.example.net');
  expect(shown).toContainEqual(expect.objectContaining({ content: '203.0.113.7' }));
});

const a = { type: 'A', content: '203.0.113.5' };

const srv = { type: 'SRV', content: '5 5060 a.example.net', name: '_sip._tcp', priority: '10' };
const adding = 'dns_templates/23/add_record';
const updating = (id: number) => `dns_templates/${id}/update_record`;

type Refusal = [method: string, path: string, form: Record<string, string>, status: number, says?: string];

/** What is refused, with a word of what is said. */
const refusals: Refusal[] = [
  ['PUT', adding, { content: '203.0.113.5' }, 422, 'type'],
  ['PUT', adding, { type: 'CAA', content: '0 issue "example.net"' }, 422, 'type'],
  ['PUT', adding, { type: 'A', content: '' }, 422, 'content'],
  ...['5m', '', '-1', '2147483648'].map((ttl): Refusal => ['PUT', adding, { ...a, ttl }, 422, 'ttl']),
  ['PUT', adding, { type: 'MX', content: 'mx1.example.net' }, 422, 'priority'],
  ['PUT', adding, { type: 'MX', content: 'mx1.example.net', priority: '65536' }, 422, 'priority'],
  ['PUT', adding, { type: 'PTR', content: 'a.example.net', name: '' }, 422, 'name'],
  ['PUT', adding, { ...srv, name: '' }, 422, 'name'],
  ['PUT', adding, { ...srv, content: '5060 a.example.net' }, 422, 'content'],
  ['PUT', adding, { ...srv, content: '5 65536 a.example.net' }, 422, 'content'],
  ['PUT', 'dns_templates/1/add_record', a, 403],
  ['PUT', 'dns_templates/999/add_record', a, 404],
  ['PUT', updating(21), { record_id: '' }, 422],
  ['PUT', updating(21), { record_id: '170', content: '203.0.113.5' }, 404],
  ['PUT', updating(21), { record_id: '216', content: '' }, 422],
  ['PUT', updating(21), { record_id: '211', content: 'mx3.example.com' }, 422],
  ['PUT', updating(26), { record_id: '260', content: 'a.example.net' }, 422],
  ['PUT', updating(31), { record_id: '313', name: '_sips._tcp', content: '5 5061 a.example.net' }, 422],
  ['PUT', updating(1), { record_id: '10', content: '203.0.113.5' }, 403],
  ['GET', 'databases', { account_id: 'bakery' }, 422],
  ['GET', 'databases', { account_id: '999' }, 404],
  ['GET', 'dns_records', { subdomain: '' }, 422],
  ['GET', 'dns_records', { subdomain: 'unknown.example.net' }, 404],
  ['GET', '', {}, 404],
  ['GET', 'accounts/bakery', {}, 404],
  ['GET', 'accounts/999', {}, 404],
];

it.each(refusals)(
  '%s %s with %j is refused with %i and changes nothing',
  async (method, path, form, status, says) => {
    const before = await templates();
    const place = method === 'GET' ? 'query' : 'form';
    const answer = await send(method, `${sandbox.url}/${path}`, { [place]: { ...tokens, ...form } });
    expect(answer).toMatchObject({
      status,
      json: { error: expect.stringContaining(says ? `Parameter ${says} ` : '') },
    });
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(await templates()).toEqual(before);
  },
);

const asJson = { 'content-type': 'application/json' };
const removal = JSON.stringify({ record_id: 216 });

it.each<[what: string, name: string, sent: Sent, status: number, method?: string]>([
  ['no such change', 'unheard-of', { body: '{}', headers: asJson }, 404],
  [
    'no such template',
    'add-record',
    { body: '{"dns_template_id":999,"type":"A","content":"x"}', headers: asJson },
    404,
  ],
  ['no such record', 'edit-record', { body: '{"record_id":999}', headers: asJson }, 404],
  ['no such record to remove', 'remove-record', { body: '{"record_id":999}', headers: asJson }, 404],
  ['a wrong value', 'edit-record', { body: '{"record_id":216,"ttl":"5"}', headers: asJson }, 422],
  ['a list', 'add-record', { body: '[]', headers: asJson }, 422],
  ['no JSON', 'remove-record', { body: '{', headers: asJson }, 400],
  ['another method', 'remove-record', { body: removal, headers: asJson }, 405, 'PUT'],
  ['a text', 'remove-record', { body: removal, headers: { 'content-type': 'text/plain' } }, 415],
  ['no type', 'remove-record', { body: removal }, 415],
  ...['evil.example.net', '127.0.0.1.example.net', 'not-localhost'].map(
    (host): [string, string, Sent, number] => [
      host,
      'remove-record',
      { body: removal, headers: { ...asJson, host } },
      403,
    ],
  ),
])('a change by hand is refused: %s', async (_, name, sent, status, method = 'POST') => {
  const before = await templates();
  expect(await send(method, `${sandbox.controlUrl}/${name}`, sent)).toMatchObject({
    status,
    json: { error: expect.any(String) },
  });
  expect(await templates()).toEqual(before);
});

describe.each<[method: string, path: string, parameters: Record<string, string>]>([
  ['GET', '/accounts', {}],
  ['GET', '/accounts/301', {}],
  ['GET', '/databases', { account_id: '301' }],
  ['GET', '/dns_templates', {}],
  ['PUT', '/dns_templates/23/add_record', a],
  ['PUT', '/dns_templates/23/update_record', { record_id: '230', ttl: '60' }],
  ['GET', '/dns_records', { subdomain: 'bakery.example.net' }],
])('%s %s', (method, path, parameters) => {
  it('takes its parameters from query and form, by this method alone, and tells of it without a query', async () => {
    for (const place of ['query', 'form']) {
      const sent = { [place]: { ...tokens, ...parameters } };
      const { status, headers } = await send(method, sandbox.url + path, sent);
      expect({ status, type: headers['content-type'] }).toEqual({
        status: 200,
        type: 'application/json; charset=utf-8',
      });
    }
    for (const other of ['POST', 'DELETE', 'PATCH', method === 'GET' ? 'PUT' : 'GET'])
      expect(await send(other, sandbox.url + path, { query: { ...tokens, ...parameters } })).toMatchObject({
        status: 405,
      });
    await expect.poll(() => seen.length).toBe(6);
    expect(seen[0]).toEqual([method, `/api/v1${path}`, 200]);
  });

  it('answers 401 without both tokens, for any headers', async () => {
    const headers = { authorization: 'Bearer x', ...tokens };
    for (const given of [{ user_token: 'u' }, { user_token: '', client_token: 'c' }])
      expect(
        await send(method, sandbox.url + path, { query: { ...given, ...parameters }, headers }),
      ).toMatchObject({ status: 401, json: { error: expect.any(String) } });
  });
});
