import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UserError } from '../../src/errors.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { get, put, send, tokens } from './requests.ts';

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await startSandbox({});
});
afterEach(async () => {
  await sandbox.close();
});

describe('failures', () => {
  it('never repeat a token', async () => {
    const url = `${sandbox.url}/dns_templates/23/add_record`;
    const { user_token: secret } = tokens;
    const answers = await Promise.all([
      put(url, { type: secret, content: secret }),
      put(url, { type: 'MX', content: 'a', priority: secret }),
      get(`${sandbox.url}/accounts/${secret}`),
      get(`${sandbox.url}/databases`, { account_id: secret }),
      get(`${sandbox.url}/dns_records`, { subdomain: secret }),
      send('PUT', url, { body: JSON.stringify(tokens), headers: { 'content-type': 'application/json' } }),
      send('GET', `${sandbox.url}/accounts`, { query: { user_token: secret } }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([422, 422, 404, 422, 404, 415, 401]);
    for (const { text } of answers) {
      expect(text).not.toContain(secret);
    }
  });
});

it('names the address on which it cannot listen', async () => {
  const port = Number(new URL(sandbox.url).port);
  const second = startSandbox({ port });
  await expect(second).rejects.toThrow(UserError);
  await expect(second).rejects.toThrow(`127.0.0.1:${port}`);
});

describe('close', () => {
  it('ends connections that are idle, silent, or stuck inside a body', async () => {
    const kept = await connected();
    kept.write('GET /api/v1/accounts HTTP/1.1\r\nhost: x\r\n\r\n');
    await once(kept, 'data');
    const silent = await connected();
    const stuck = await connected();
    stuck.write('PUT /api/v1/dns_templates/23/add_record HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n');
    stuck.write('expect: 100-continue\r\n\r\n');
    expect(String(await once(stuck, 'data'))).toContain('100 Continue');
    stuck.write('user');
    const gone = [kept, silent, stuck].map(
      async (socket) => new Promise((resolve) => socket.on('close', resolve)),
    );
    await sandbox.close();
    await Promise.all(gone);
  });

  const connected = async () => {
    const { hostname, port } = new URL(sandbox.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket.resume();
  };
});
