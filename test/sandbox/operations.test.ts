import { afterEach, beforeEach, expect, it } from 'vitest';
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import { get, post, put, send, tokens, type Sent } from './requests.ts';

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await startSandbox({});
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

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}$/);
const [integer, text, list] = [expect.any(Number), expect.any(String), expect.any(Array)];

it('accounts have every field of the specification, and their databases more than that', async () => {
  const { json: all } = await get(`${sandbox.url}/accounts`);
  const [account] = all;
  const account_id = account.id;
  const named = { id: integer, name: text };
  const lists = { applications: list, databases: list, ftp_users: list, ssh_keys: list };
  expect(account).toEqual({ ...named, created_at: timestamp, virtual_server_id: integer, ...lists });
  expect(account.applications[0]).toEqual({ ...named, account_id, created_at: timestamp, aliases: list });
  const user = { id: integer, account_id, user: text, host: text, directory: text };
  expect(account.ftp_users[0]).toEqual(user);
  // Here a grant has no id.
  expect(account.databases[0].database_grants[0]).toEqual({ login: text, access_level: text });
  for (const one of all) expect((await get(`${sandbox.url}/accounts/${one.id}`)).json).toEqual(one);
  const { json: databases } = await get(`${sandbox.url}/databases`, { account_id });
  expect(databases[0]).toEqual({ ...named, account_id, hosts: list, database_grants: list });
  expect(databases[0].database_grants[0]).toEqual({ id: integer, login: text, access_level: text });
});

it('templates are own and public, with records of all types', async () => {
  const all = await templates();
  for (const one of all) expect(one.subdomains).toEqual(one.publicly_available ? null : integer);
  expect(new Set(all.map((one) => one.publicly_available))).toEqual(new Set([true, false]));
  const records = all.flatMap((one) => one.dns_template_records);
  for (const record of records)
    expect(Object.keys(record).toSorted()).toEqual(['content', 'id', 'name', 'priority', 'ttl', 'type']);
  expect(new Set(records.map(({ type }) => type)).size).toBe(7);
  expect(new Set(records.map(({ id }) => id)).size).toBe(records.length);
});

it('a subdomain has NS and SOA, then the records of its template, at once, with ids that stay', async () => {
  const before = await recordsOf('Team.example.org');
  expect(before.slice(0, 3).map(({ type }: Record<string, unknown>) => type)).toEqual(['NS', 'NS', 'SOA']);
  expect(before[2].content).toMatch(/^\S+ \S+( \d+){5}$/);
  await update({ record_id: '216', content: 'new.example.com' }, 21);
  const added = (await add({ type: 'TXT', content: 'new' }, 21)).json.dns_template_records.at(-1);
  expect(await recordsOf('team.example.org')).toEqual([
    ...before.map((one: { dns_template_record_id: number | null }) =>
      one.dns_template_record_id === 216 ? { ...one, content: 'new.example.com' } : one,
    ),
    { ...added, id: integer, dns_template_record_id: added.id },
  ]);
});

it.each([
  [{ type: 'A', content: '203.0.113.5', name: '' }, {}],
  [
    { type: 'AAAA', content: '2001:db8::5', name: 'v6', ttl: '60' },
    { name: 'v6', ttl: 60 },
  ],
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
  await add(form);
  const { json } = await add(form);
  const stored = { type: form.type, content: form.content, name: null, priority: null, ttl: 3600, ...given };
  const added = [2001, 2002].map((id) => ({ id, ...stored }));
  expect(json).toEqual({ ...before, dns_template_records: [...before.dns_template_records, ...added] });
  expect(await template(23)).toEqual(json);
});

it.each([
  [21, { record_id: '216' }, {}],
  [21, { record_id: '216', content: 'other.example.com' }, { content: 'other.example.com' }],
  [21, { record_id: '216', name: 'post', ttl: '0' }, { name: 'post', ttl: 0 }],
  [21, { record_id: '216', name: '' }, { name: null }],
  [21, { record_id: '216', priority: '5', type: 'TXT' }, {}],
  [21, { record_id: '211', priority: '20' }, { priority: 20 }],
  [31, { record_id: '313', name: '_sips._tcp', priority: '10', content: '1 2 a.' }, { content: '1 2 a.' }],
])('update_record of template %i with %j changes just %j', async (id, form, changed) => {
  const before = await template(id);
  const records = before.dns_template_records.map((record) =>
    String(record.id) === form.record_id ? { ...record, ...changed } : record,
  );
  expect((await update(form, id)).json).toEqual({ ...before, dns_template_records: records });
});

it('templates, their records and who follows them are changed by hand, without the rules of the operations', async () => {
  const { json } = await change('add-template', { name: 'shop' });
  const { id } = json;
  expect(json).toMatchObject({ name: 'shop', publicly_available: false, dns_template_records: [] });
  await change('set-subdomain', { name: 'New.example.net', dns_template_id: id });
  const record = { type: 'CAA', content: '0 issue "example.net"' };
  const added = (await change('add-record', { dns_template_id: id, ...record })).json.dns_template_records[0];
  expect(added).toMatchObject(record);
  const edit = { type: 'A', name: 'www', priority: 7, ttl: 1 };
  await change('edit-record', { record_id: added.id, ...edit });
  const shown = await recordsOf('new.example.net');
  expect(shown).toContainEqual({ ...added, ...edit, id: integer, dns_template_record_id: added.id });
  await change('remove-record', { record_id: added.id });
  expect(await template(id)).toMatchObject({ subdomains: 1, dns_template_records: [] });
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

const removal = JSON.stringify({ record_id: 216 });
const asJson = (body: string, host?: string): Sent => ({
  body,
  headers: { 'content-type': 'application/json', ...(host === undefined ? {} : { host }) },
});

it.each<[what: string, name: string, sent: Sent, status: number, method?: string]>([
  ['no such change', 'unheard-of', asJson('{}'), 404],
  ['no such template', 'add-record', asJson('{"dns_template_id":999,"type":"A","content":"x"}'), 404],
  ['no such record', 'edit-record', asJson('{"record_id":999}'), 404],
  ['a wrong value', 'edit-record', asJson('{"record_id":216,"ttl":"5"}'), 422],
  ['a list', 'add-record', asJson('[]'), 422],
  ['no JSON', 'remove-record', asJson('{'), 400],
  ['another method', 'remove-record', asJson(removal), 405, 'PUT'],
  ['a text', 'remove-record', { body: removal, headers: { 'content-type': 'text/plain' } }, 415],
  ['no type', 'remove-record', { body: removal }, 415],
  ...['evil.example.net', '127.0.0.1.example.net', 'not-localhost'].map(
    (host): [string, string, Sent, number] => [host, 'remove-record', asJson(removal, host), 403],
  ),
])('a change by hand is refused: %s', async (_, name, sent, status, method = 'POST') => {
  const before = await templates();
  expect(await send(method, `${sandbox.controlUrl}/${name}`, sent)).toMatchObject({
    status,
    json: { error: expect.any(String) },
  });
  expect(await templates()).toEqual(before);
});

it.each<[method: string, path: string, parameters: Record<string, string>]>([
  ['GET', '/accounts', {}],
  ['GET', '/accounts/301', {}],
  ['GET', '/databases', { account_id: '301' }],
  ['GET', '/dns_templates', {}],
  ['PUT', '/dns_templates/23/add_record', a],
  ['PUT', '/dns_templates/23/update_record', { record_id: '230', ttl: '60' }],
  ['GET', '/dns_records', { subdomain: 'bakery.example.net' }],
])('%s %s takes its parameters and both tokens from query and form', async (method, path, parameters) => {
  const url = sandbox.url + path;
  const query = { ...tokens, ...parameters };
  for (const sent of [{ query }, { form: query }])
    expect(await send(method, url, sent)).toMatchObject({ status: 200 });
  for (const other of ['POST', 'DELETE', method === 'GET' ? 'PUT' : 'GET'])
    expect(await send(other, url, { query })).toMatchObject({ status: 405 });
  const headers = { authorization: 'Bearer x', ...tokens };
  for (const given of [{ user_token: 'u' }, { user_token: '', client_token: 'c' }])
    expect(await send(method, url, { query: { ...given, ...parameters }, headers })).toMatchObject({
      status: 401,
      json: { error: text },
    });
});
