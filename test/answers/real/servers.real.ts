import { describe, expect, it } from 'vitest';
import { cases } from '../cases.ts';
import { apex, check, shown, told } from '../checked.ts';
import { frontKinds, serverKinds, type RealServer, type ServerKind } from './commands.ts';
import { launch, launchFront } from './launch.ts';

const serve = (kind: ServerKind, records: readonly string[], serial = 1): Promise<RealServer> =>
  launch(kind, [{ apex, serial, records }]);

const checkAt = (
  records: Parameters<typeof check>[0],
  servers: readonly RealServer[],
  options: Parameters<typeof check>[2] = {},
) => check(records, [], { nameservers: servers.map(({ place }) => place), ...options });

describe.each(serverKinds)('%s', (kind) => {
  it.each(cases)('shows $title', async ({ shown: records, zone, told: expected }) => {
    const found = await checkAt(records, [await serve(kind, zone)]);
    expect(told(found)).toEqual(expected);
    expect(found.status).toBe(expected.length === 0 ? 'in-sync' : 'drifted');
    expect(found.servers[0]?.serial).toBe(1);
  });

  it('that does not serve the zone is silent beside one that does', async () => {
    const zone = ['www 3600 A 192.0.2.1'];
    const other = await launch(kind, [{ apex: 'other.example.org', records: zone }]);
    const found = await checkAt(shown('www A 192.0.2.1'), [await serve(kind, zone), other]);
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
    const server = await serve(kind, own);
    const records = shown('a CNAME here.example.org | b CNAME gone.example.org | c CNAME text.example.org');
    const world = { apex: 'example.org', records: ['here 3600 A 192.0.2.2', 'text 3600 TXT "no address"'] };
    const resolver = await launch(kind, [world]);
    const found = await checkAt(records, [server], { resolver: resolver.place });
    expect(found).toMatchObject({
      status: 'drifted',
      servers: [{ status: 'in-sync' }],
      differences: [{ kind: 'dangling', name: `b.${apex}`, message: 'gone.example.org does not exist' }],
    });
  });
});

it.each(frontKinds)(
  '%s as the resolver finds a name server, and that an alias leads nowhere',
  async (kind) => {
    const records = ['www 3600 A 192.0.2.1', 'chain 3600 CNAME gone', `old 3600 CNAME chain.${apex}.`];
    const origin = await serve('knot', records);
    const front = await launchFront(kind, origin, apex);
    const found = await check(shown(`www A 192.0.2.1 | x MX 1 chain.${apex}`), [], {
      nameservers: [`ns1.${apex}:${origin.port}`],
      resolver: front.place,
    });
    expect(found).toMatchObject({
      servers: [{ name: `ns1.${apex}:${origin.port}`, address: origin.place }],
      differences: [{ kind: 'missing' }, { kind: 'dangling', message: `chain.${apex} does not exist` }],
    });
  },
);
