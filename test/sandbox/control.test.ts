import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { get, post, put, send } from './requests.ts';

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await startSandbox({});
});
afterEach(async () => {
  await sandbox.close();
});

const change = async (name: string, body: unknown) => post(`${sandbox.controlUrl}/${name}`, body);

const template = async (id: number) => {
  const { json } = await get(`${sandbox.url}/dns_templates`);
  return json.find((candidate: { id: number }) => candidate.id === id);
};

/** The derived records of a subdomain: their content under the id of the template record. */
const derived = async (subdomain: string): Promise<Record<number, string>> => {
  const { json } = await get(`${sandbox.url}/dns_records`, { subdomain });
  return Object.fromEntries(
    json
      .filter(({ dns_template_record_id: id }: { dns_template_record_id: unknown }) => id !== null)
      .map(({ dns_template_record_id: id, content }: Record<string, unknown>) => [id, content]),
  );
};

describe('records of a template', () => {
  it('are added, edited and removed without the rules of the operations', async () => {
    const record = { type: 'CAA', content: '0 issue "example.net"' };
    const { status, json } = await change('add-record', { dns_template_id: 1, ...record });
    expect(status).toBe(200);
    expect(json).toEqual(await template(1));
    const { id } = json.dns_template_records.at(-1);
    expect(json.dns_template_records.at(-1)).toEqual({
      id,
      ...record,
      name: null,
      priority: null,
      ttl: 3600,
    });

    const edit = { type: 'A', name: 'www', priority: 7, ttl: 1 };
    expect((await change('edit-record', { record_id: id, ...edit })).json).toEqual(await template(1));
    expect((await template(1)).dns_template_records.at(-1)).toEqual({ id, ...record, ...edit });

    expect((await change('remove-record', { record_id: id })).json).toEqual(await template(1));
    expect((await template(1)).dns_template_records).toHaveLength(3);
  });

  it('can be added with a template', async () => {
    const records = [{ type: 'A', content: '203.0.113.1' }];
    const { json } = await change('add-template', { name: 'new', records });
    expect(await template(json.id)).toEqual({
      id: json.id,
      name: 'new',
      publicly_available: false,
      subdomains: 0,
      dns_template_records: [
        { id: expect.any(Number), type: 'A', content: '203.0.113.1', name: null, priority: null, ttl: 3600 },
      ],
    });
    const { json: shared } = await change('add-template', { name: 'new', publicly_available: true });
    expect(shared).toMatchObject({ publicly_available: true, subdomains: null, dns_template_records: [] });
  });
});

describe('a subdomain', () => {
  it('that no longer follows has missing, stale and foreign records until it follows again', async () => {
    const name = 'team.example.org';
    await change('set-subdomain', { name, follows: false });
    const before = await derived(name);
    await put(`${sandbox.url}/dns_templates/21/add_record`, { type: 'TXT', content: 'missing' });
    await change('edit-record', { record_id: 216, content: 'stale.example.com' });
    await change('remove-record', { record_id: 217 });
    expect(await derived(name)).toEqual(before);

    await change('set-subdomain', { name, follows: true });
    const { dns_template_records: records } = await template(21);
    expect(await derived(name)).toEqual(
      Object.fromEntries(records.map(({ id, content }: { id: number; content: string }) => [id, content])),
    );
  });

  it('that lags follows late', async () => {
    const name = 'team.example.org';
    await change('set-subdomain', { name, lag_ms: 300 });
    const before = await derived(name);
    await change('edit-record', { record_id: 216, content: 'late.example.com' });
    expect(await derived(name)).toEqual(before);
    await expect.poll(async () => derived(name)).toEqual({ ...before, 216: 'late.example.com' });
  });

  it('has its own records, which can be changed without the template', async () => {
    const name = 'team.example.org';
    const all = async () => (await get(`${sandbox.url}/dns_records`, { subdomain: name })).json;
    const before = await all();
    const record = { type: 'TXT', content: 'by hand', name: 'note', priority: null, ttl: 60 };
    const added = await change('add-dns-record', { subdomain: 'Team.example.org', ...record });
    const made = added.json.dns_records.at(-1);
    expect(await all()).toEqual([...before, { ...record, id: made.id, dns_template_record_id: null }]);
    await change('add-dns-record', { subdomain: name, ...record, dns_template_record_id: 4711 });
    expect((await derived(name))[4711]).toBe('by hand');

    const [one, other] = before.filter(
      (each: Record<string, unknown>) => each['dns_template_record_id'] !== null,
    );
    await change('edit-dns-record', { record_id: one.id, content: 'edited.example.com', ttl: 1 });
    await change('remove-dns-record', { record_id: other.id });
    expect(await all()).toContainEqual({ ...one, content: 'edited.example.com', ttl: 1 });
    expect(await derived(name)).not.toHaveProperty(String(other.dns_template_record_id));

    const { dns_template_records: records } = await template(21);
    await change('edit-record', { record_id: 216, content: 'new.example.com' });
    expect(Object.keys(await derived(name))).toEqual(records.map(({ id }: { id: number }) => String(id)));
    expect(await all()).toContainEqual({ ...record, id: made.id, dns_template_record_id: null });
  });

  it('that lags and is changed meanwhile still follows', async () => {
    const name = 'team.example.org';
    await change('set-subdomain', { name, lag_ms: 300 });
    await change('edit-record', { record_id: 216, content: 'late.example.com' });
    const { json } = await get(`${sandbox.url}/dns_records`, { subdomain: name });
    await change('remove-dns-record', { record_id: json.at(-1).id });
    await expect.poll(async () => (await derived(name))[216]).toBe('late.example.com');
    expect(await derived(name)).toHaveProperty(String(json.at(-1).dns_template_record_id));
  });

  it('can be new, or move to another template, and is counted there', async () => {
    const { json } = await change('set-subdomain', { name: 'New.example.net', dns_template_id: 23 });
    expect(json).toMatchObject({ name: 'new.example.net', follows: true });
    expect(Object.values(await derived('new.example.net'))).toContain('203.0.113.20');
    expect((await template(23)).subdomains).toBe(1);
    await change('set-subdomain', { name: 'new.example.net', dns_template_id: 1 });
    expect(Object.keys(await derived('new.example.net'))).toEqual(['10', '11', '12']);
    expect((await template(23)).subdomains).toBe(0);
    expect((await template(1)).subdomains).toBe(null);
  });
});

describe('refused are', () => {
  it.each([
    ['unheard-of', {}, 404],
    ['add-record', { dns_template_id: 999, type: 'A', content: 'x' }, 404],
    ['edit-record', { record_id: 999 }, 404],
    ['remove-record', { record_id: 999 }, 404],
    ['set-subdomain', { name: 'unknown.example.net' }, 404],
    ['set-subdomain', { name: 'team.example.org', lag: 5 }, 422],
    ['add-dns-record', { subdomain: 'unknown.example.net', type: 'A', content: 'x' }, 404],
    ['edit-dns-record', { record_id: 216 }, 404],
    ['remove-dns-record', { record_id: 216 }, 404],
    ['edit-record', { record_id: 216, ttl: '5' }, 422],
    ['add-template', [], 422],
  ])('%s with %j: %i', async (name, body, status) => {
    const before = await get(`${sandbox.url}/dns_templates`);
    expect(await change(name, body)).toMatchObject({ status, json: { error: expect.any(String) } });
    expect((await get(`${sandbox.url}/dns_templates`)).text).toBe(before.text);
  });

  const json = { 'content-type': 'application/json' };
  it.each([
    ['another method', 'PUT', json, 405],
    ['a text', 'POST', { 'content-type': 'text/plain' }, 415],
    ['no type', 'POST', {}, 415],
    ['a foreign host', 'POST', { ...json, host: 'evil.example.net' }, 403],
    ['a host that begins like one of ours', 'POST', { ...json, host: '127.0.0.1.example.net' }, 403],
    ['a host that ends like one of ours', 'POST', { ...json, host: 'not-localhost' }, 403],
  ])('%s', async (_, method, headers, status) => {
    const body = JSON.stringify({ record_id: 216 });
    expect(await send(method, `${sandbox.controlUrl}/remove-record`, { body, headers })).toMatchObject({
      status,
    });
    expect((await template(21)).dns_template_records).toHaveLength(8);
  });

  it('a body that is not JSON', async () => {
    const answer = await send('POST', `${sandbox.controlUrl}/remove-record`, {
      body: '{',
      headers: json,
    });
    expect(answer).toMatchObject({ status: 400, json: { error: 'The body is not JSON.' } });
  });
});
