import { describe, expect, it } from 'vitest';
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

interface Case {
  readonly title: string;
  readonly shown: Parameters<typeof check>[0];
  readonly zone: readonly string[];
  readonly told: readonly string[];
}

const cases: readonly Case[] = [
  {
    title: 'every type, however it is spelled and whatever its TTL',
    shown: [
      shown('A', null, '192.0.2.1'),
      shown('AAAA', 'www', '2001:DB8:0::1'),
      shown('CNAME', 'alias', 'Target.Example.COM.'),
      shown('MX', '@', 'mx1.example.com.', { priority: 10 }),
      shown('MX', 'none', '.', { priority: 0 }),
      shown('SRV', '_sip._tcp', '5 5060 Sip.Example.NET', { priority: 1 }),
      shown('PTR', '7', 'host.example.net'),
      shown('TXT', null, '"v=spf1 " "mx -all"'),
      shown('TXT', 'text', 'grün'),
      shown('NS', null, `NS1.${apex}.`),
      shown('A', 'bücher', '192.0.2.1'),
      shown('A', '*', '192.0.2.1'),
    ],
    zone: [
      '@ 60 A 192.0.2.1',
      'WWW 3600 AAAA 2001:db8::1',
      'alias 3600 CNAME target.example.com.',
      '@ 3600 MX 10 MX1.example.com.',
      'none 3600 MX 0 .',
      '_sip._tcp 3600 SRV 1 5 5060 sip.example.net.',
      '7 3600 PTR host.example.net.',
      '@ 3600 TXT "v=spf1 mx" " -all"',
      'text 3600 TXT "gr\\195\\188n"',
      'xn--bcher-kva 3600 A 192.0.2.1',
      '* 3600 A 192.0.2.1',
    ],
    told: [],
  },
  {
    title: 'what is missing, and what is another one',
    shown: [
      shown('A', null, '192.0.2.1'),
      shown('A', 'gone', '192.0.2.1'),
      shown('MX', null, 'mx1.example.com', { priority: 10 }),
      shown('TXT', null, 'one'),
    ],
    zone: ['@ 3600 A 192.0.2.9', '@ 3600 MX 20 mx1.example.com.', '@ 3600 TXT "one"'],
    told: [
      `missing gone.${apex} A: 192.0.2.1 → none`,
      `stale ${apex} A: 192.0.2.1 → 192.0.2.9`,
      `stale ${apex} MX: 10 mx1.example.com → 20 mx1.example.com`,
    ],
  },
  {
    title: 'an alias to another zone',
    shown: [shown('CNAME', 'www', 'other.example.org'), shown('CNAME', 'old', 'gone.example.org')],
    zone: ['www 60 CNAME other.example.org.', 'old 60 CNAME other.example.org.'],
    told: [`stale old.${apex} CNAME: gone.example.org → other.example.org`],
  },
  {
    title: 'a zone of its own below, as its name server and the address of that',
    shown: [shown('NS', 'dev', `ns.dev.${apex}`), shown('A', 'ns.dev', '192.0.2.53')],
    zone: ['dev 3600 NS ns.dev', 'ns.dev 3600 A 192.0.2.53'],
    told: [],
  },
  {
    title: 'names with a slash, as in reverse zones of fewer than 256 addresses',
    shown: [
      shown('CNAME', '7', `7.0/25.${apex}`),
      shown('PTR', '7.0/25', 'host.example.net'),
      shown('PTR', '8.0/25', 'host.example.net'),
    ],
    zone: [`7 3600 CNAME 7.0/25.${apex}.`, '7.0/25 3600 PTR host.example.net.'],
    told: [`missing 8.0/25.${apex} PTR: host.example.net → none`],
  },
  {
    title: 'an answer that fits into no packet',
    shown: Array.from({ length: 40 }, (_, index) => shown('TXT', null, `${index} ${'x'.repeat(100)}`)),
    zone: Array.from({ length: 40 }, (_, index) => `@ 3600 TXT "${index} ${'x'.repeat(100)}"`),
    told: [],
  },
];

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
    const found = await checkAt([shown('A', 'www', '192.0.2.1')], [await serve(kind, zone), other]);
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
    const records = ['a here', 'b gone', 'c text'].map((text) => {
      const [name = '', target] = text.split(' ');
      return shown('CNAME', name, `${target}.example.org`);
    });
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
    const found = await check(
      [shown('A', 'www', '192.0.2.1'), shown('MX', 'x', `chain.${apex}`, { priority: 1 })],
      [],
      { nameservers: [`ns1.${apex}:${origin.port}`], resolver: front.place },
    );
    expect(found).toMatchObject({
      servers: [{ name: `ns1.${apex}:${origin.port}`, address: origin.place }],
      differences: [{ kind: 'missing' }, { kind: 'dangling', message: `chain.${apex} does not exist` }],
    });
  },
);
