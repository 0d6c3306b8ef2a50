import { createSocket } from 'node:dgram';
import { decode, encode } from 'dns-packet';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDnsServer } from '../../src/answers/dns-server.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import { check, shown, told } from '../answers/checked.ts';
import { get, post } from './requests.ts';

const bakery = 'bakery.example.net';

const open = async (): Promise<Sandbox & { readonly place: string }> => {
  const sandbox = await startSandbox({ dns: { host: '127.0.0.1', port: 0 } });
  onTestFinished(() => sandbox.close());
  return { ...sandbox, place: sandbox.dns ?? '' };
};

const recordsOf = async ({ url }: Sandbox, subdomain: string): Promise<ReturnType<typeof shown>[]> => {
  const { json } = await get(`${url}/dns_records`, { subdomain });
  return json.map(({ type, name, content, priority, ttl }: ReturnType<typeof shown>) =>
    shown(type, name, content, { ttl, ...(priority === null ? {} : { priority }) }),
  );
};

const answersOf = async (sandbox: Sandbox & { readonly place: string }, subdomain: string) =>
  check(await recordsOf(sandbox, subdomain), [], { subdomain, nameservers: [sandbox.place] });

describe('the embedded service over DNS', () => {
  it.each([bakery, 'cafe.example.net', 'team.example.org', '100.51.198.in-addr.arpa'])(
    'serves %s with its records',
    async (subdomain) => {
      const found = await answersOf(await open(), subdomain);
      expect(found).toMatchObject({ status: 'in-sync', differences: [], servers: [{ serial: 2025111801 }] });
    },
  );

  it('follows each change, and counts it in the serial', async () => {
    const sandbox = await open();
    const before = await answersOf(sandbox, bakery);
    const old = await recordsOf(sandbox, bakery);
    await post(`${sandbox.controlUrl}/edit-record`, { record_id: 171, content: '203.0.113.77' });
    const after = await check(old, [], { subdomain: bakery, nameservers: [sandbox.place] });
    expect(told(after)).toEqual([`stale www.${bakery} A: 203.0.113.9 → 203.0.113.77`]);
    expect(after.servers[0]?.serial).toBe((before.servers[0]?.serial ?? 0) + 1);
    expect((await answersOf(sandbox, bakery)).status).toBe('in-sync');
  });

  it('answers the old data for a while if zones are loaded late', async () => {
    const sandbox = await startSandbox({ dns: { host: '127.0.0.1', port: 0, lag: 3_600_000 } });
    onTestFinished(() => sandbox.close());
    const late = { ...sandbox, place: sandbox.dns ?? '' };
    await answersOf(late, bakery);
    await post(`${sandbox.controlUrl}/edit-record`, { record_id: 171, content: '203.0.113.77' });
    const found = await answersOf(late, bakery);
    expect(told(found)).toEqual([`stale www.${bakery} A: 203.0.113.77 → 203.0.113.9`]);
    expect(found.servers[0]?.serial).toBe(2025111801);
  });

  it('has long texts, wildcards and non-ASCII letters, and leaves out what no message can contain', async () => {
    const sandbox = await open();
    const add = (body: object): Promise<unknown> =>
      post(`${sandbox.controlUrl}/add-record`, { dns_template_id: 17, ttl: 60, ...body });
    await add({ type: 'TXT', name: 'long', content: 'x'.repeat(3_000) });
    await add({ type: 'TXT', name: 'quoted', content: '"one; " "two \\"words\\""' });
    await add({ type: 'A', name: '*.wild', content: '192.0.2.1' });
    await add({ type: 'A', name: 'bücher', content: '192.0.2.1' });
    const found = await answersOf(sandbox, bakery);
    expect(told(found)).toEqual([]);
    await add({ type: 'A', name: 'broken', content: 'no address' });
    expect(told(await answersOf(sandbox, bakery))).toEqual([`missing broken.${bakery} A: no address → none`]);
  });

  it('refuses other zones, and survives malformed messages', async () => {
    const { place } = await open();
    const port = Number(place.split(':')[1]);
    const socket = createSocket('udp4');
    onTestFinished(() => void socket.close());
    socket.send(Buffer.from('nonsense'), port, '127.0.0.1');
    socket.send(encode({ type: 'response', id: 1 }), port, '127.0.0.1');
    socket.send(encode({ type: 'query', id: 2 }), port, '127.0.0.1');
    const reply = await new Promise<Buffer>((resolve) => socket.once('message', resolve));
    expect(decode(reply)).toMatchObject({ id: 2, flags: 5 });
    const signal = new AbortController().signal;
    const server = await openDnsServer({ address: '127.0.0.1', port }, false, { timeout: 1_000, signal });
    onTestFinished(() => server?.close());
    expect(await server?.ask({ name: 'example.com', type: 'A' })).toMatchObject({ rcode: 'REFUSED' });
  });

  it('says if it cannot listen', async () => {
    const { place } = await open();
    const port = Number(place.split(':')[1]);
    await expect(startSandbox({ dns: { host: '127.0.0.1', port } })).rejects.toThrow(
      /cannot serve DNS on 127/,
    );
  });
});
