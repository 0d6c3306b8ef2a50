import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { get, put, send, tokens } from './requests.ts';

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}$/);
const integer = expect.toSatisfy(Number.isInteger, 'an integer');
const integerOrNull = expect.toSatisfy(
  (value) => value === null || Number.isInteger(value),
  'integer or null',
);
const text = expect.any(String);
const textOrNull = expect.toSatisfy((value) => value === null || typeof value === 'string', 'string or null');
const list = expect.any(Array);

const application = { id: integer, account_id: integer, name: text, created_at: timestamp, aliases: list };
const ftpUser = { id: integer, account_id: integer, user: text, host: text, directory: text };
const database = { id: integer, account_id: integer, name: text, hosts: list, database_grants: list };
const templateRecord = {
  id: integer,
  type: expect.stringMatching(/^(A|AAAA|CNAME|MX|PTR|SRV|TXT)$/),
  content: text,
  name: textOrNull,
  priority: integerOrNull,
  ttl: integer,
};

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await startSandbox({});
});
afterEach(async () => {
  await sandbox.close();
});

/** Every element has exactly these fields. */
const expectEach = (elements: unknown[], shape: object) => {
  expect(elements.length).toBeGreaterThan(0);
  for (const element of elements) {
    expect(element).toEqual(shape);
  }
};

describe('accounts', () => {
  it('are listed with every field of the specification', async () => {
    const { status, json } = await get(`${sandbox.url}/accounts`);
    expect(status).toBe(200);
    expectEach(json, {
      id: integer,
      name: text,
      created_at: timestamp,
      virtual_server_id: integer,
      applications: list,
      databases: list,
      ftp_users: list,
      ssh_keys: list,
    });
    const [account, empty] = json;
    expectEach(account.applications, application);
    expectEach(account.ftp_users, ftpUser);
    expectEach(account.databases, database);
    expect(account.ssh_keys).not.toEqual([]);
    expect(account.ftp_users).toContainEqual({ ...ftpUser, directory: '' });
    expect(empty).toMatchObject({ applications: [], databases: [], ftp_users: [], ssh_keys: [] });
    for (const owned of [...account.applications, ...account.databases, ...account.ftp_users]) {
      expect(owned.account_id).toBe(account.id);
    }
  });

  it('contain grants without an id', async () => {
    const { json } = await get(`${sandbox.url}/accounts`);
    expectEach(json[0].databases[0].database_grants, {
      login: text,
      access_level: expect.stringMatching(/^read(-write)?$/),
    });
  });

  it('are the same one by one as in the list', async () => {
    const listed = await get(`${sandbox.url}/accounts`);
    for (const account of listed.json) {
      const shown = await get(`${sandbox.url}/accounts/${account.id}`);
      expect(shown).toMatchObject({ status: 200, json: account });
    }
  });
});

describe('databases', () => {
  it('are those of the account, with the ids of their grants', async () => {
    const { status, json } = await get(`${sandbox.url}/databases`, { account_id: '301' });
    expect(status).toBe(200);
    expectEach(json, { ...database, account_id: 301 });
    expectEach(json[0].hosts, text);
    expectEach(json[0].database_grants, { id: integer, login: text, access_level: text });
  });

  it('may be empty', async () => {
    expect(await get(`${sandbox.url}/databases`, { account_id: '302' })).toMatchObject({
      status: 200,
      json: [],
    });
  });

  it.each([
    [{}, 422],
    [{ account_id: '' }, 422],
    [{ account_id: 'bakery' }, 422],
    [{ account_id: '999' }, 404],
  ])('asked for with %j answer %i', async (query, status) => {
    expect(await get(`${sandbox.url}/databases`, query)).toMatchObject({ status, json: { error: text } });
  });
});

describe('DNS templates', () => {
  it('are listed, own and public, with their records', async () => {
    const { status, json } = await get(`${sandbox.url}/dns_templates`);
    expect(status).toBe(200);
    const shape = { id: integer, name: text, dns_template_records: list };
    const isPublic = (template: { publicly_available: boolean }) => template.publicly_available;
    expectEach(json.filter(isPublic), { ...shape, publicly_available: true, subdomains: null });
    expectEach(
      json.filter((template: { publicly_available: boolean }) => !isPublic(template)),
      { ...shape, publicly_available: false, subdomains: integer },
    );
    const records = json.flatMap(
      (template: { dns_template_records: unknown[] }) => template.dns_template_records,
    );
    expectEach(records, templateRecord);
    expect(new Set(records.map(({ type }: { type: string }) => type)).size).toBe(7);
    expect(new Set(records.map(({ id }: { id: number }) => id)).size).toBe(records.length);
  });

  it('are listed with a change at once', async () => {
    await get(`${sandbox.url}/dns_templates`);
    const { json: written } = await put(`${sandbox.url}/dns_templates/23/add_record`, {
      type: 'A',
      content: '203.0.113.77',
    });
    const { json } = await get(`${sandbox.url}/dns_templates`);
    expect(json).toContainEqual(written);
  });
});

describe('add_record', () => {
  const add = async (form: Record<string, string>, id = 23) =>
    put(`${sandbox.url}/dns_templates/${id}/add_record`, form);

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
  ])('stores %j and answers the whole template', async (form, given) => {
    const { json: listed } = await get(`${sandbox.url}/dns_templates`);
    const before = listed.find(({ id }: { id: number }) => id === 23);
    const { status, json } = await add(form);
    expect(status).toBe(200);
    const added = json.dns_template_records.at(-1);
    expect(added).toEqual({
      id: integer,
      type: form.type,
      content: form.content,
      name: null,
      priority: null,
      ttl: 3600,
      ...given,
    });
    expect(json).toEqual({ ...before, dns_template_records: [...before.dns_template_records, added] });
    expect(before.dns_template_records).not.toContainEqual(expect.objectContaining({ id: added.id }));
  });

  it('stores an exact copy as a record of its own', async () => {
    const copy = { type: 'TXT', content: 'twice' };
    const first = await add(copy);
    const second = await add(copy);
    expect(second.json.dns_template_records).toHaveLength(first.json.dns_template_records.length + 1);
  });

  it.each([
    [{ content: '203.0.113.5' }, 'type'],
    [{ type: 'a', content: '203.0.113.5' }, 'type'],
    [{ type: 'CAA', content: '0 issue "example.net"' }, 'type'],
    [{ type: 'A' }, 'content'],
    [{ type: 'A', content: '' }, 'content'],
    [{ type: 'A', content: '203.0.113.5', ttl: '5m' }, 'ttl'],
    [{ type: 'A', content: '203.0.113.5', ttl: '' }, 'ttl'],
    [{ type: 'A', content: '203.0.113.5', ttl: '-1' }, 'ttl'],
    [{ type: 'A', content: '203.0.113.5', ttl: '2147483648' }, 'ttl'],
    [{ type: 'MX', content: 'mx1.example.net' }, 'priority'],
    [{ type: 'MX', content: 'mx1.example.net', priority: '65536' }, 'priority'],
    [{ type: 'MX', content: 'mx1.example.net', priority: 'high' }, 'priority'],
    [{ type: 'PTR', content: 'a.example.net' }, 'name'],
    [{ type: 'PTR', content: 'a.example.net', name: '' }, 'name'],
    [{ type: 'SRV', content: '5 5060 a.example.net', priority: '10' }, 'name'],
    [{ type: 'SRV', content: '5 5060 a.example.net', name: '_sip._tcp' }, 'priority'],
    [{ type: 'SRV', content: '5  5060 a.example.net', name: '_sip._tcp', priority: '10' }, 'content'],
    [{ type: 'SRV', content: '5060 a.example.net', name: '_sip._tcp', priority: '10' }, 'content'],
    [{ type: 'SRV', content: '5 65536 a.example.net', name: '_sip._tcp', priority: '10' }, 'content'],
  ])('refuses %j, naming %s, and changes nothing', async (form, parameter) => {
    const before = await get(`${sandbox.url}/dns_templates`);
    const { status, json } = await add(form);
    expect(status).toBe(422);
    expect(json).toEqual({ error: expect.stringContaining(`Parameter ${parameter} `) });
    expect((await get(`${sandbox.url}/dns_templates`)).text).toBe(before.text);
  });

  it.each([
    [1, 403],
    [999, 404],
  ])('refuses template %i with %i', async (id, status) => {
    const before = await get(`${sandbox.url}/dns_templates`);
    expect(await add({ type: 'A', content: '203.0.113.5' }, id)).toMatchObject({ status });
    expect((await get(`${sandbox.url}/dns_templates`)).text).toBe(before.text);
  });
});

describe('update_record', () => {
  const update = async (form: Record<string, string>, id = 21) =>
    put(`${sandbox.url}/dns_templates/${id}/update_record`, form);

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
  ])('of template %i with %j changes just %j', async (id, form, changed) => {
    const { json: listed } = await get(`${sandbox.url}/dns_templates`);
    const before = listed.find((template: { id: number }) => template.id === id);
    const { status, json } = await update(form, id);
    expect(status).toBe(200);
    const records = before.dns_template_records;
    const index = records.findIndex((record: { id: number }) => String(record.id) === form.record_id);
    const expected = records.with(index, { ...records[index], ...changed });
    expect(json).toEqual({ ...before, dns_template_records: expected });
  });

  it.each([
    [21, {}, 422],
    [21, { record_id: '' }, 422],
    [21, { record_id: '999' }, 404],
    [21, { record_id: '170', content: '203.0.113.5' }, 404],
    [21, { record_id: '216', content: '' }, 422],
    [21, { record_id: '216', ttl: 'soon' }, 422],
    [21, { record_id: '211', content: 'mx3.example.com' }, 422],
    [21, { record_id: '211', priority: '' }, 422],
    [26, { record_id: '260', content: 'a.example.net' }, 422],
    [26, { record_id: '260', name: '', content: 'a.example.net' }, 422],
    [31, { record_id: '313', name: '_sips._tcp', content: '5 5061 a.example.net' }, 422],
    [31, { record_id: '313', priority: '10', content: '5 5061 a.example.net' }, 422],
    [31, { record_id: '313', name: '_sips._tcp', priority: '10', content: 'a.example.net' }, 422],
    [1, { record_id: '10', content: '203.0.113.5' }, 403],
    [999, { record_id: '170', content: '203.0.113.5' }, 404],
  ])('of template %i with %j is refused with %i', async (id, form, status) => {
    const before = await get(`${sandbox.url}/dns_templates`);
    expect(await update(form, id)).toMatchObject({ status, json: { error: text } });
    expect((await get(`${sandbox.url}/dns_templates`)).text).toBe(before.text);
  });
});

describe('DNS records', () => {
  const recordsOf = async (subdomain: string) =>
    (await get(`${sandbox.url}/dns_records`, { subdomain })).json;

  it('of a subdomain are NS and SOA without a template record, then those of its template', async () => {
    const { json: listed } = await get(`${sandbox.url}/dns_templates`);
    const template = listed.find(({ id }: { id: number }) => id === 17);
    const records = await recordsOf('bakery.example.net');
    expectEach(records, { ...templateRecord, type: text, dns_template_record_id: integerOrNull });
    const own = records.filter(
      (record: { dns_template_record_id: unknown }) => !record.dns_template_record_id,
    );
    expect(own.map(({ type }: { type: string }) => type)).toEqual(['NS', 'NS', 'SOA']);
    expect(own[2].content).toMatch(/^\S+ \S+( \d+){5}$/);
    expect(records.slice(own.length)).toEqual(
      template.dns_template_records.map((record: { id: number }) => ({
        ...record,
        id: integer,
        dns_template_record_id: record.id,
      })),
    );
    expect(template.subdomains).toBe(2);
  });

  it('follow each change of the template at once, and keep their ids', async () => {
    const before = await recordsOf('team.example.org');
    await put(`${sandbox.url}/dns_templates/21/update_record`, {
      record_id: '216',
      content: 'new.example.com',
    });
    const { json: template } = await put(`${sandbox.url}/dns_templates/21/add_record`, {
      type: 'TXT',
      content: 'new',
    });
    const after = await recordsOf('team.example.org');
    const index = before.findIndex(
      (record: { dns_template_record_id: unknown }) => record.dns_template_record_id === 216,
    );
    const changed = before.with(index, { ...before[index], content: 'new.example.com' });
    const added = template.dns_template_records.at(-1);
    expect(after).toEqual([...changed, { ...added, id: integer, dns_template_record_id: added.id }]);
    expect(new Set(after.map(({ id }: { id: number }) => id)).size).toBe(after.length);
  });

  it('are found by a name in any case', async () => {
    expect(await recordsOf('Bakery.Example.NET')).toEqual(await recordsOf('bakery.example.net'));
  });

  it.each([
    [{}, 422],
    [{ subdomain: '' }, 422],
    [{ subdomain: 'unknown.example.net' }, 404],
  ])('asked for with %j answer %i', async (query, status) => {
    expect(await get(`${sandbox.url}/dns_records`, query)).toMatchObject({ status, json: { error: text } });
  });
});

const calls: [method: string, path: string, parameters: Record<string, string>][] = [
  ['GET', '/accounts', {}],
  ['GET', '/accounts/301', {}],
  ['GET', '/databases', { account_id: '301' }],
  ['GET', '/dns_templates', {}],
  ['PUT', '/dns_templates/23/add_record', { type: 'A', content: '203.0.113.5' }],
  ['PUT', '/dns_templates/23/update_record', { record_id: '230', ttl: '60' }],
  ['GET', '/dns_records', { subdomain: 'bakery.example.net' }],
];

describe.each(calls)('%s %s', (method, path, parameters) => {
  it.each(['query', 'form'])('takes its parameters from the %s', async (place) => {
    const { status, headers } = await send(method, `${sandbox.url}${path}`, {
      [place]: { ...tokens, ...parameters },
    });
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it.each([
    ['no token', {}],
    ['no client token', { user_token: 'u' }],
    ['no user token', { client_token: 'c' }],
    ['an empty user token', { user_token: '', client_token: 'c' }],
    ['an empty client token', { user_token: 'u', client_token: '' }],
  ])('answers 401 to %s, for any headers', async (_, query) => {
    const headers = { authorization: 'Bearer x', 'x-user-token': 'u', 'x-client-token': 'c', ...tokens };
    const answer = await send(method, `${sandbox.url}${path}`, {
      query: { ...query, ...parameters },
      headers,
    });
    expect(answer).toMatchObject({ status: 401, json: { error: text } });
  });

  it('is the only method of its path', async () => {
    for (const other of ['POST', 'DELETE', 'PATCH', method === 'GET' ? 'PUT' : 'GET']) {
      const answer = await send(other, `${sandbox.url}${path}`, { query: { ...tokens, ...parameters } });
      expect(answer).toMatchObject({ status: 405, headers: { allow: method }, json: { error: text } });
    }
  });
});
