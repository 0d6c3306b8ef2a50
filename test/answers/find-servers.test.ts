import type { Answer, Packet } from 'dns-packet';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serverFinder, type ServerFinder } from '../../src/answers/find-servers.ts';
import { openResolvers } from '../../src/answers/resolvers.ts';
import { isPrivateAddress } from '../../src/answers/private-address.ts';
import { parseNameServer } from '../../src/model/name-server.ts';
import { apex, check, serve, shown } from './checked.ts';
import type { ZoneLine, ZoneServerOptions } from './zone-server.ts';

const world: readonly ZoneLine[] = [
  [apex, 'NS', 'ns1.example.net'],
  [apex, 'NS', 'ns2.example.net'],
  ['ns1.example.net', 'A', '198.51.100.53'],
  ['ns1.example.net', 'AAAA', '2001:db8::53'],
  ['ns2.example.net', 'A', '10.0.0.53'],
];

/** With an alias comes the SOA record of the zone that holds its target. */
const authoritiesOf = ({ questions = [], answers = [], authorities = [] }: Packet): Answer[] => {
  if (answers.some(({ type }) => type === 'CNAME')) return [soaOf('example.org')];
  return authorities.map(() => soaOf(questions[0]?.name.endsWith(apex) ? apex : 'example.net'));
};

const soaOf = (name: string): Answer => ({
  type: 'SOA',
  name,
  data: { mname: 'ns1.example.net', rname: 'hostmaster.example.net', serial: 1 },
});

/** Stands for a recursive server: it knows all names that end in `net`, and which zone each is of. */
const resolve = async (
  lines: readonly ZoneLine[] = world,
  options: Partial<ZoneServerOptions> = {},
  before: readonly string[] = [],
): Promise<{ finder: ServerFinder; place: string; recursion: boolean[]; questions: string[] }> => {
  const resolver = await serve({
    apex: 'net',
    lines,
    udp: (reply) => [{ ...reply, authorities: authoritiesOf(reply) }],
    ...options,
  });
  const { place, recursion, questions } = resolver;
  const { signal } = new AbortController();
  const server = openResolvers([...before, place], { timeout: 1_000, signal });
  onTestFinished(() => server.close());
  return { finder: serverFinder(server), place, recursion, questions };
};

describe('the servers that a zone is delegated to', () => {
  it('are all addresses of all of them; private ones are not asked', async () => {
    const { finder, recursion } = await resolve();
    const servers = [
      { name: 'ns1.example.net', address: '198.51.100.53', port: 53, refusal: null },
      { name: 'ns1.example.net', address: '2001:db8::53', port: 53, refusal: null },
      {
        name: 'ns2.example.net',
        address: '10.0.0.53',
        port: 53,
        refusal: 'a private address: asked only if it is in `nameservers`',
      },
    ];
    expect(await finder.delegated(apex)).toEqual({ servers });
    expect(await finder.delegated(`deep.www.${apex}`)).toEqual({ servers });
    expect(new Set(recursion)).toEqual(new Set([true]));
  });

  it('are in one order, however the resolver rotates them', async () => {
    const [one, other] = [await resolve(), await resolve(world.toReversed())];
    expect(await one.finder.delegated(apex)).toEqual(await other.finder.delegated(apex));
  });

  it('are searched once for each zone', async () => {
    const { finder, questions } = await resolve();
    await Promise.all([finder.delegated(apex), finder.delegated(apex), finder.delegated(`www.${apex}`)]);
    expect(questions.filter((one) => one === `udp ${apex} NS`)).toHaveLength(1);
  });

  it('are those of the zone of an alias, not of its target', async () => {
    const { finder } = await resolve([...world, [`www.${apex}`, 'CNAME', 'elsewhere.example.org']]);
    expect(await finder.delegated(`www.${apex}`)).toMatchObject({
      servers: [{ name: 'ns1.example.net' }, {}, {}],
    });
  });

  it('are those of the zone of an alias also where its target is in the zone above', async () => {
    const { finder } = await resolve([...world, [`www.${apex}`, 'CNAME', 'web.example.net']], {
      udp: (reply) => {
        const isAlias = reply.answers?.some(({ type }) => type === 'CNAME');
        return [{ ...reply, authorities: isAlias ? [soaOf('example.net')] : authoritiesOf(reply) }];
      },
    });
    expect(await finder.delegated(`www.${apex}`)).toEqual(await finder.delegated(apex));
  });

  it('are found by the second resolver if the first one is silent or fails', async () => {
    const silent = await serve({ udp: () => [], tcp: () => null });
    const failing = await serve({ udp: (reply) => [{ ...reply, flags: 2 }] });
    const { finder } = await resolve(world, {}, [silent.place, failing.place]);
    expect(await finder.delegated(apex)).toMatchObject({ servers: [{ name: 'ns1.example.net' }, {}, {}] });
  });

  it('without an address are reported one by one', async () => {
    const { finder } = await resolve([[apex, 'NS', 'gone.example.net']]);
    expect(await finder.delegated(apex)).toMatchObject({ servers: [{ refusal: 'it has no address' }] });
  });

  it('are found although the resolver is silent about many other zones', async () => {
    const isBroken = (one: Packet): boolean => one.questions?.[0]?.name.endsWith('broken.net') === true;
    const { finder } = await resolve(world, {
      udp: (reply) => (isBroken(reply) ? [] : [{ ...reply, authorities: authoritiesOf(reply) }]),
      tcp: (reply) => (isBroken(reply) ? null : reply),
    });
    const broken = Array.from({ length: 40 }, (_, index) => finder.delegated(`${index}.broken.net`));
    for (const one of broken) expect(await one).toMatchObject({ reason: { status: 'silent' } });
    expect(await finder.delegated(apex)).toMatchObject({ servers: [{ name: 'ns1.example.net' }, {}, {}] });
  });

  it('are not found if no zone contains the name', async () => {
    const { finder } = await resolve(world, {});
    expect(await finder.delegated('example.org')).toMatchObject({ reason: { status: 'failed' } });
  });

  it('are not asked if all addresses are private', async () => {
    const { place } = await resolve([
      [apex, 'NS', 'ns2.example.net'],
      ['ns2.example.net', 'A', '127.0.0.1'],
    ]);
    const found = await check([shown('A', null, '192.0.2.1')], [], { resolver: place });
    expect(found).toMatchObject({
      status: 'failed',
      servers: [{ name: 'ns2.example.net', address: '127.0.0.1', status: 'failed' }],
    });
  });

  it('cannot be found by a resolver that is silent or fails', async () => {
    const silent = await serve({ udp: () => [], tcp: () => null });
    const failing = await serve({ udp: (reply) => [{ ...reply, flags: 2 }] });
    for (const [{ place }, status] of [
      [silent, 'silent'],
      [failing, 'failed'],
    ] as const)
      expect(await check([], [], { resolver: place, timeout: 300 })).toMatchObject({
        status: 'failed',
        servers: [{ name: `resolver ${place}`, status }],
      });
  });
});

describe('servers that the settings name', () => {
  it('are asked at every address of their name, private ones too', async () => {
    const { finder } = await resolve();
    expect(await finder.fixed(['ns2.example.net:5353', '192.0.2.53'])).toEqual({
      servers: [
        { name: 'ns2.example.net:5353', address: '10.0.0.53', port: 5_353, refusal: null },
        { name: '192.0.2.53', address: '192.0.2.53', port: 53, refusal: null },
      ],
    });
  });
});

it.each([
  '0.0.0.0',
  '10.1.2.3',
  '127.0.0.1',
  '169.254.1.1',
  '172.31.0.1',
  '192.168.0.1',
  '100.64.0.1',
  '224.0.0.251',
  '::1',
  '::',
  'fe80::1',
  'fd00::1',
  '::ffff:10.0.0.1',
  '64:ff9b::a00:1',
  'ff02::1',
])('%s is private', (address) => expect(isPrivateAddress(address)).toBe(true));

it.each(['192.0.2.1', '203.0.113.53', '172.32.0.1', '2001:db8::1', '2a00::1'])('%s is not', (address) =>
  expect(isPrivateAddress(address)).toBe(false),
);

it.each([
  ['192.0.2.53', '192.0.2.53', 53],
  ['192.0.2.53:5353', '192.0.2.53', 5_353],
  ['2001:db8::53', '2001:db8::53', 53],
  ['[2001:db8::53]:5353', '2001:db8::53', 5_353],
  ['NS1.Example.net', 'ns1.example.net', 53],
  ['ns1.example.net:5353', 'ns1.example.net', 5_353],
])('%s is a place', (text, host, port) => expect(parseNameServer(text)).toEqual({ host, port }));

it.each([
  '',
  '192.0.2.256',
  '192.0.2.53:0',
  '192.0.2.53:70000',
  'a b',
  '[192.0.2.1]:53',
  '-',
  '1.2.3',
  'http://x',
])('"%s" is none', (text) => expect(parseNameServer(text)).toBeNull());
