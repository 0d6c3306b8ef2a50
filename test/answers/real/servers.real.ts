import { describe, expect, it } from 'vitest';
import { cases } from '../cases.ts';
import { apex, check, shown, told, type CheckOptions } from '../checked.ts';
import { launch, launchResolver, serverKinds } from './launch.ts';

const checkAt = (
  records: Parameters<typeof check>[0],
  servers: readonly { readonly place: string }[],
  options: CheckOptions = {},
) => check(records, [], { nameservers: servers.map(({ place }) => place), ...options });

describe.each(serverKinds)('%s', (kind) => {
  it.each(cases)('shows $title', async ({ shown: records, zone, told: expected }) => {
    const found = await checkAt(records, [await launch(kind, apex, zone)]);
    expect(told(found)).toEqual(expected);
    expect(found.status).toBe(expected.length === 0 ? 'in-sync' : 'drifted');
    expect(found.servers[0]?.serial).toBe(1);
  });

  it('that does not serve the zone is silent beside one that does', async () => {
    const zone = ['www 3600 A 192.0.2.1'];
    const other = await launch(kind, 'other.example.org', zone);
    const found = await checkAt([shown('A', 'www', '192.0.2.1')], [await launch(kind, apex, zone), other]);
    expect(found).toMatchObject({
      status: 'drifted',
      servers: [{ status: 'in-sync' }, { status: 'silent', message: 'it refuses to answer' }],
    });
  });

  it('says which target does not exist, as a resolver would', async () => {
    const own = [
      'a 60 CNAME here.example.org.',
      'b 60 CNAME gone.example.org.',
      'c 60 CNAME text.example.org.',
    ];
    const server = await launch(kind, apex, own);
    const records = ['a here', 'b gone', 'c text'].map((text) => {
      const [name = '', target] = text.split(' ');
      return shown('CNAME', name, `${target}.example.org`);
    });
    const world = ['here 3600 A 192.0.2.2', 'text 3600 TXT "no address"'];
    const resolver = await launch(kind, 'example.org', world);
    const found = await checkAt(records, [server], { resolver: resolver.place });
    expect(found).toMatchObject({
      status: 'drifted',
      servers: [{ status: 'in-sync' }],
      differences: [{ kind: 'dangling', name: `b.${apex}`, message: 'gone.example.org does not exist' }],
    });
  });
});

it('unbound as the resolver finds a name server, and that an alias leads nowhere', async () => {
  const records = ['www 3600 A 192.0.2.1', 'chain 3600 CNAME gone', `old 3600 CNAME chain.${apex}.`];
  const origin = await launch('knot', apex, records);
  const nameserver = `ns1.${apex}:${origin.port}`;
  const found = await check(
    [shown('A', 'www', '192.0.2.1'), shown('MX', 'x', `chain.${apex}`, { priority: 1 })],
    [],
    { nameservers: [nameserver], resolver: (await launchResolver(origin, apex)).place },
  );
  expect(found).toMatchObject({
    servers: [{ name: nameserver, address: origin.place }],
    differences: [{ kind: 'missing' }, { kind: 'dangling', message: `chain.${apex} does not exist` }],
  });
});
