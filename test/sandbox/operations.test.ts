import { beforeEach, expect, it } from 'vitest';
import { answerTo, memoryStore } from '../../src/sandbox/sandbox.ts';
import { tokens } from './requests.ts';

/* What each request is answered with; that it is all the same over HTTP, server.test.ts shows. */

let store = memoryStore();
beforeEach(() => void (store = memoryStore()));

type Parameters = Readonly<Record<string, string>> | string;

/** Each test knows what it asked for. */
// oxlint-disable-next-line typescript/no-explicit-any
const ask = (method: string, url: string, headers: Record<string, string>, body = ''): any =>
  answerTo(store, { method, url, headers }, body);

/** With both tokens: a read has its parameters in the query, a write in a form. */
const perform = (method: string, path: string, given: Parameters = {}) => {
  const all = new URLSearchParams([...new URLSearchParams(tokens), ...new URLSearchParams(given)]).toString();
  const url = `/api/v1/${path}`;
  return method === 'GET' ? ask(method, `${url}?${all}`, {}) : ask(method, url, asForm, all);
};
const asForm = { 'content-type': 'application/x-www-form-urlencoded' };

const byHand = (name: string, body: string, headers: Record<string, string> = {}, method = 'POST') =>
  ask(
    method,
    `/sandbox/${name}`,
    { host: 'localhost', 'content-type': 'application/json', ...headers },
    body,
  );

const templates = (): Template[] => perform('GET', 'dns_templates').answer;
const template = (id: number): Template => templates().find((one) => one.id === id)!;
const recordsOf = (subdomain: string) => perform('GET', 'dns_records', { subdomain }).answer;
const change = (name: string, body: unknown) => byHand(name, JSON.stringify(body)).answer;
const add = (given: Parameters, id = 23) => perform('PUT', `dns_templates/${id}/add_record`, given).answer;
const update = (given: Parameters, id: number) =>
  perform('PUT', `dns_templates/${id}/update_record`, given).answer;

interface Template {
  readonly id: number;
  readonly publicly_available: boolean;
  readonly subdomains: number | null;
  readonly dns_template_records: readonly (Record<string, unknown> & { readonly id: number })[];
}

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}$/);
const [integer, text, list] = [expect.any(Number), expect.any(String), expect.any(Array)];

it('accounts have every field of the specification, and their databases more than that', () => {
  const all = perform('GET', 'accounts').answer;
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
  for (const one of all) expect(perform('GET', `accounts/${one.id}`).answer).toEqual(one);
  const databases = perform('GET', 'databases', { account_id }).answer;
  expect(databases[0]).toEqual({ ...named, account_id, hosts: list, database_grants: list });
  expect(databases[0].database_grants[0]).toEqual({ id: integer, login: text, access_level: text });
});

it('templates are own and public, with records of all types', () => {
  const all = templates();
  for (const one of all) expect(one.subdomains).toEqual(one.publicly_available ? null : integer);
  expect(new Set(all.map((one) => one.publicly_available))).toEqual(new Set([true, false]));
  const records = all.flatMap((one) => one.dns_template_records);
  for (const record of records)
    expect(Object.keys(record).toSorted()).toEqual(['content', 'id', 'name', 'priority', 'ttl', 'type']);
  expect(new Set(records.map(({ type }) => type)).size).toBe(7);
  expect(new Set(records.map(({ id }) => id)).size).toBe(records.length);
});

it('a subdomain has NS and SOA, then the records of its template, at once, with ids that stay', () => {
  const before = recordsOf('Team.example.org');
  expect(before.slice(0, 3).map(({ type }: Record<string, unknown>) => type)).toEqual(['NS', 'NS', 'SOA']);
  expect(before[2].content).toMatch(/^\S+ \S+( \d+){5}$/);
  update({ record_id: '216', content: 'new.example.com' }, 21);
  const added = add({ type: 'TXT', content: 'new' }, 21).dns_template_records.at(-1);
  expect(recordsOf('team.example.org')).toEqual([
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
])('add_record stores %j, also twice, and answers the whole template', (form, given) => {
  const before = template(23);
  add(form);
  const answer = add(form);
  const stored = { type: form.type, content: form.content, name: null, priority: null, ttl: 3600, ...given };
  const added = [2001, 2002].map((id) => ({ id, ...stored }));
  expect(answer).toEqual({ ...before, dns_template_records: [...before.dns_template_records, ...added] });
  expect(template(23)).toEqual(answer);
});

it.each([
  [21, { record_id: '216' }, {}],
  [21, { record_id: '216', content: 'other.example.com' }, { content: 'other.example.com' }],
  [21, { record_id: '216', name: 'post', ttl: '0' }, { name: 'post', ttl: 0 }],
  [21, { record_id: '216', name: '' }, { name: null }],
  [21, { record_id: '216', priority: '5', type: 'TXT' }, {}],
  [21, { record_id: '211', priority: '20' }, { priority: 20 }],
  [31, { record_id: '313', name: '_sips._tcp', priority: '10', content: '1 2 a.' }, { content: '1 2 a.' }],
])('update_record of template %i with %j changes just %j', (id, form, changed) => {
  const before = template(id);
  const records = before.dns_template_records.map((record) =>
    String(record.id) === form.record_id ? { ...record, ...changed } : record,
  );
  expect(update(form, id)).toEqual({ ...before, dns_template_records: records });
});

it('templates, their records and who follows them are changed by hand, without the rules of the operations', () => {
  const made = change('add-template', { name: 'shop' });
  const { id } = made;
  expect(made).toMatchObject({ name: 'shop', publicly_available: false, dns_template_records: [] });
  change('set-subdomain', { name: 'New.example.net', dns_template_id: id });
  const record = { type: 'CAA', content: '0 issue "example.net"' };
  const added = change('add-record', { dns_template_id: id, ...record }).dns_template_records[0];
  expect(added).toMatchObject(record);
  const edit = { type: 'A', name: 'www', priority: 7, ttl: 1 };
  change('edit-record', { record_id: added.id, ...edit });
  const shown = recordsOf('new.example.net');
  expect(shown).toContainEqual({ ...added, ...edit, id: integer, dns_template_record_id: added.id });
  change('remove-record', { record_id: added.id });
  expect(template(id)).toMatchObject({ subdomains: 1, dns_template_records: [] });
  change('set-subdomain', { name: 'new.example.net', dns_template_id: 23 });
  expect(template(id).subdomains).toBe(0);
  expect(recordsOf('new.example.net')).toHaveLength(3 + template(23).dns_template_records.length);
});

/** What is refused: the request, its status, and a word of what is said. */
const refusals = `
PUT dns_templates/23/add_record  content=203.0.113.5  422 Parameter type
PUT dns_templates/23/add_record  type=CAA&content=0+issue+a  422 Parameter type
PUT dns_templates/23/add_record  type=A&content=  422 Parameter content
PUT dns_templates/23/add_record  type=A&content=203.0.113.5&ttl=5m  422 Parameter ttl
PUT dns_templates/23/add_record  type=A&content=203.0.113.5&ttl=  422 Parameter ttl
PUT dns_templates/23/add_record  type=A&content=203.0.113.5&ttl=-1  422 Parameter ttl
PUT dns_templates/23/add_record  type=A&content=203.0.113.5&ttl=2147483648  422 Parameter ttl
PUT dns_templates/23/add_record  type=MX&content=mx1.example.net  422 Parameter priority
PUT dns_templates/23/add_record  type=MX&content=mx1.example.net&priority=65536  422 Parameter priority
PUT dns_templates/23/add_record  type=PTR&content=a.example.net&name=  422 Parameter name
PUT dns_templates/23/add_record  type=SRV&content=5+5060+a.&name=&priority=10  422 Parameter name
PUT dns_templates/23/add_record  type=SRV&content=5060+a.&name=_sip._tcp&priority=10  422 Parameter content
PUT dns_templates/23/add_record  type=SRV&content=5+65536+a.&name=_sip._tcp&priority=10  422 Parameter content
PUT dns_templates/1/add_record  type=A&content=203.0.113.5  403 public
PUT dns_templates/999/add_record  type=A&content=203.0.113.5  404 999
PUT dns_templates/21/update_record  record_id=  422 Parameter record_id
PUT dns_templates/21/update_record  record_id=170&content=203.0.113.5  404 no such record
PUT dns_templates/21/update_record  record_id=216&content=  422 Parameter content
PUT dns_templates/21/update_record  record_id=211&content=mx3.example.com  422 Parameter priority
PUT dns_templates/26/update_record  record_id=260&content=a.example.net  422 Parameter name
PUT dns_templates/31/update_record  record_id=313&name=_sips._tcp&content=5+5061+a.  422 Parameter priority
PUT dns_templates/1/update_record  record_id=10&content=203.0.113.5  403 public
GET databases  account_id=bakery  422 Parameter account_id
GET databases  account_id=999  404 account
GET dns_records  subdomain=  422 Parameter subdomain
GET dns_records  subdomain=unknown.example.net  404 subdomain
GET none  a=b  404 path
GET accounts/bakery  a=b  404 path
GET accounts/999  a=b  404 account
`;

it('what is refused changes nothing', () => {
  const before = templates();
  for (const line of refusals.trim().split('\n')) {
    const [request = '', given, expected = ''] = line.split(/ {2,}/);
    const [method = '', path = ''] = request.split(' ');
    const { status, answer } = perform(method, path, given);
    expect([line, status, answer]).toEqual([
      line,
      Number(expected.slice(0, 3)),
      { error: expect.stringContaining(expected.slice(4)) },
    ]);
  }
  expect(templates()).toEqual(before);
});

const removal = '{"record_id":216}';

it.each<[what: string, status: number, ...sent: globalThis.Parameters<typeof byHand>]>([
  ['no such change', 404, 'unheard-of', '{}'],
  ['no such template', 404, 'add-record', '{"dns_template_id":999,"type":"A","content":"x"}'],
  ['no such record', 404, 'edit-record', '{"record_id":999}'],
  ['a wrong value', 422, 'edit-record', '{"record_id":216,"ttl":"5"}'],
  ['a list', 422, 'add-record', '[]'],
  ['no JSON', 400, 'remove-record', '{'],
  ['another method', 405, 'remove-record', removal, {}, 'PUT'],
  ['a text', 415, 'remove-record', removal, { 'content-type': 'text/plain' }],
  ['no type', 415, 'remove-record', removal, { 'content-type': '' }],
  ['a page of somebody', 403, 'remove-record', removal, { host: 'evil.example.net' }],
  ['an address in a name', 403, 'remove-record', removal, { host: '127.0.0.1.example.net' }],
  ['a name like ours', 403, 'remove-record', removal, { host: 'not-localhost' }],
])('a change by hand is refused: %s', (_, status, ...sent) => {
  const before = templates();
  expect(byHand(...sent)).toMatchObject({ status, answer: { error: text } });
  expect(templates()).toEqual(before);
});

it.each<[method: string, path: string, parameters: Record<string, string>]>([
  ['GET', 'accounts', {}],
  ['GET', 'accounts/301', {}],
  ['GET', 'databases', { account_id: '301' }],
  ['GET', 'dns_templates', {}],
  ['PUT', 'dns_templates/23/add_record', { type: 'A', content: '203.0.113.5' }],
  ['PUT', 'dns_templates/23/update_record', { record_id: '230', ttl: '60' }],
  ['GET', 'dns_records', { subdomain: 'bakery.example.net' }],
])('%s %s takes its parameters and both tokens from query and form', (method, path, parameters) => {
  const url = `/api/v1/${path}`;
  const all = new URLSearchParams({ ...tokens, ...parameters }).toString();
  expect(ask(method, `${url}?${all}`, {})).toMatchObject({ status: 200 });
  expect(ask(method, url, asForm, all)).toMatchObject({ status: 200 });
  for (const other of ['POST', 'DELETE', method === 'GET' ? 'PUT' : 'GET'])
    expect(ask(other, `${url}?${all}`, {})).toMatchObject({ status: 405 });
  for (const given of [{ user_token: 'u' }, { user_token: '', client_token: 'c' }]) {
    const few = new URLSearchParams({ ...given, ...parameters }).toString();
    const refused = ask(method, `${url}?${few}`, { authorization: 'Bearer x', ...tokens });
    expect(refused).toMatchObject({ status: 401, answer: { error: text } });
  }
});
