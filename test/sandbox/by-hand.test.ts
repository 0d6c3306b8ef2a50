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

  it('reach the subdomains that follow it at once', async () => {
    const at = async (subdomain: string) => (await get(`${sandbox.url}/dns_records`, { subdomain })).json;
    const before = await at('team.example.org');
    await change('edit-record', { record_id: 216, content: 'new.example.com' });
    await put(`${sandbox.url}/dns_templates/21/add_record`, { type: 'TXT', content: 'more' });
    const after = await at('team.example.org');
    expect(after).toHaveLength(before.length + 1);
    for (const one of before)
      expect(after).toContainEqual(
        one.dns_template_record_id === 216 ? { ...one, content: 'new.example.com' } : one,
      );
  });
});

it('a template is created, and a domain follows it', async () => {
  const { json: made } = await change('add-template', { name: 'shop' });
  expect(made).toEqual(await template(made.id));
  expect(made).toMatchObject({ name: 'shop', subdomains: 0, dns_template_records: [] });
  await put(`${sandbox.url}/dns_templates/${made.id}/add_record`, { type: 'A', content: '192.0.2.1' });
  for (const name of ['example.net', 'Cafe.example.net'])
    expect(await change('set-subdomain', { name, dns_template_id: made.id })).toMatchObject({ status: 200 });
  expect(await template(made.id)).toMatchObject({ subdomains: 2 });
  expect((await get(`${sandbox.url}/dns_records`, { subdomain: 'cafe.example.net' })).json).toHaveLength(4);
});

describe('refused are', () => {
  it.each([
    ['unheard-of', {}, 404],
    ['add-record', { dns_template_id: 999, type: 'A', content: 'x' }, 404],
    ['edit-record', { record_id: 999 }, 404],
    ['remove-record', { record_id: 999 }, 404],
    ['edit-record', { record_id: 216, ttl: '5' }, 422],
    ['add-record', [], 422],
    ['add-template', { name: '' }, 422],
    ['set-subdomain', { name: 'example.net', dns_template_id: 999 }, 404],
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
