import { decode, encode } from 'dns-packet';
import { describe, expect, it, vi } from 'vitest';
import { openAnswers } from '../../../src/answers/answers.ts';
import { apex, check, shown, told } from '../checked.ts';
import { frontKinds, serverKinds, type RealServer, type ServerKind } from './commands.ts';
import { askAt, launch, launchFront, sendTo } from './launch.ts';

type Records = Parameters<typeof check>[0];

const www = `www.${apex}`;

const serve = (kind: ServerKind, records: readonly string[], serial = 1): Promise<RealServer> =>
  launch(kind, [{ apex, serial, records }]);

const placeOf = ({ port }: RealServer) => ({ address: '127.0.0.1', port });

const checkAt = (
  records: Records,
  servers: readonly RealServer[],
  options: Parameters<typeof check>[2] = {},
) => check(records, [], { nameservers: servers.map(({ place }) => place), ...options });

interface Case {
  readonly title: string;
  readonly shown: Records;
  readonly zone: readonly string[];
  readonly told: readonly string[];
  readonly status?: string;
}

const cases: readonly Case[] = [
  {
    title: 'every type, however it is spelled',
    shown: [
      shown('A', null, '192.0.2.1'),
      shown('AAAA', 'www', '2001:DB8:0::1'),
      shown('CNAME', 'alias', 'Target.Example.COM.'),
      shown('MX', '@', 'mx1.example.com.', { priority: 10 }),
      shown('SRV', '_sip._tcp', '5 5060 Sip.Example.NET', { priority: 1 }),
      shown('PTR', '7', 'host.example.net'),
      shown('TXT', null, '"v=spf1 " "mx -all"'),
      shown('NS', null, `NS1.${apex}.`),
      shown('A', 'bücher', '192.0.2.1'),
    ],
    zone: [
      '@ 3600 A 192.0.2.1',
      'WWW 3600 AAAA 2001:db8::1',
      'alias 3600 CNAME target.example.com.',
      '@ 3600 MX 10 MX1.example.com.',
      '_sip._tcp 3600 SRV 1 5 5060 sip.example.net.',
      '7 3600 PTR host.example.net.',
      '@ 3600 TXT "v=spf1 mx" " -all"',
      'xn--bcher-kva 3600 A 192.0.2.1',
    ],
    told: [],
  },
  {
    title: 'what is missing, stale and foreign, and a TTL',
    shown: [
      shown('A', null, '192.0.2.1'),
      shown('A', 'www', '192.0.2.1'),
      shown('A', 'gone', '192.0.2.1'),
      shown('TXT', null, 'one', { ttl: 300 }),
      shown('A', 'open', '192.0.2.1', { ttl: null }),
    ],
    zone: [
      '@ 3600 A 192.0.2.9',
      'www 3600 A 192.0.2.1',
      'www 60 AAAA 2001:db8::1',
      '@ 3600 TXT "one"',
      'open 5 A 192.0.2.1',
    ],
    told: [
      `foreign ${www} AAAA: none → 2001:db8::1`,
      `missing gone.${apex} A: 192.0.2.1 → none`,
      `stale ${apex} A: 192.0.2.1 → 192.0.2.9`,
      `stale ${apex} TXT: one → one`,
    ],
  },
  {
    title: 'an alias that the service does not show',
    shown: [shown('A', 'www', '192.0.2.1')],
    zone: ['www 60 CNAME other.example.org.'],
    told: [`foreign ${www} CNAME: none → other.example.org`, `missing ${www} A: 192.0.2.1 → none`],
  },
  {
    title: 'an alias at the apex that is flattened',
    shown: [shown('CNAME', null, 'lb.example.com')],
    zone: ['@ 60 A 192.0.2.1'],
    told: [`flattened ${apex} CNAME: lb.example.com → 192.0.2.1`],
    status: 'in-sync',
  },
  {
    title: 'a wildcard as the star that it is, and no answer of it for a record',
    shown: [
      shown('A', '*', '192.0.2.1'),
      shown('A', 'other', '192.0.2.2'),
      shown('A', 'same', '192.0.2.1'),
      shown('A', 'there', '192.0.2.1'),
    ],
    zone: ['* 3600 A 192.0.2.1', 'there 3600 A 192.0.2.1'],
    told: [`missing other.${apex} A: 192.0.2.2 → none`, `missing same.${apex} A: 192.0.2.1 → none`],
  },
  {
    title: 'a wildcard that the service does not show',
    shown: [shown('A', 'www', '192.0.2.1')],
    zone: ['* 60 CNAME parked.example.org.', 'www 3600 A 192.0.2.1'],
    told: [`foreign *.${apex} CNAME: none → parked.example.org`],
  },
  {
    title: 'a name that is delegated away',
    shown: [shown('A', 'dev', '192.0.2.1')],
    zone: ['dev 3600 NS ns.example.org.'],
    told: [`missing dev.${apex} A: 192.0.2.1 → none`],
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
  it.each(cases)('shows $title', async ({ shown: records, zone, told: expected, status }) => {
    const found = await checkAt(records, [await serve(kind, zone)]);
    expect(told(found)).toEqual(expected);
    expect(found.status).toBe(status ?? (expected.length === 0 ? 'in-sync' : 'drifted'));
    expect(found.servers[0]?.serial).toBe(1);
  });

  it('refuses a zone that it does not serve', async () => {
    const server = await launch(kind, [{ apex: 'other.example.org', records: [] }]);
    const found = await checkAt([shown('A', null, '192.0.2.1')], [server]);
    expect(found).toMatchObject({ status: 'drifted', servers: [{ status: 'refused' }] });
  });

  it('is lame for a zone that it should serve and does not have', async () => {
    const server = await launch(kind, [
      { apex: 'other.example.org', records: [] },
      { apex, records: null },
    ]);
    const found = await checkAt([shown('A', null, '192.0.2.1')], [server]);
    expect(found).toMatchObject({ status: 'drifted', servers: [{ status: 'lame' }] });
  });

  it('is pending beside one that has another serial', async () => {
    const zones = [['@ 3600 A 192.0.2.1'], ['@ 3600 A 192.0.2.9']] as const;
    const servers = await Promise.all(zones.map((zone, index) => serve(kind, zone, 2 - index)));
    const found = await checkAt([shown('A', null, '192.0.2.1')], servers);
    expect(found).toMatchObject({
      status: 'pending',
      servers: [
        { status: 'in-sync', serial: 2 },
        { status: 'pending', serial: 1 },
      ],
    });
  });

  it('answers for 200 records', async () => {
    const names = Array.from({ length: 200 }, (_, index) => `host${index}`);
    const server = await serve(
      kind,
      names.map((name, index) => `${name} 3600 A 192.0.2.${index}`),
    );
    const records = names.map((name, index) => shown('A', name, `192.0.2.${index}`));
    const times: number[] = [];
    for (let round = 0; round < 10; round += 1) {
      const started = performance.now();
      expect(await checkAt(records, [server])).toMatchObject({ status: 'in-sync' });
      times.push(performance.now() - started);
    }
    const [best = 0, , , , , median = 0] = times.toSorted((one, other) => one - other);
    process.stdout.write(
      `${kind}: 200 records in ${best.toFixed(0)} ms at best, ${median.toFixed(0)} ms mostly\n`,
    );
  });
});

describe('powerdns', () => {
  it('answers with addresses in place of an ALIAS, which is no difference', async () => {
    const server = await serve('powerdns', [`@ 60 ALIAS lb.${apex}.`, 'lb 60 A 192.0.2.7']);
    const records = [shown('ALIAS', null, `lb.${apex}`), shown('A', 'lb', '192.0.2.7')];
    const found = await checkAt(records, [server]);
    expect(told(found)).toEqual([]);
    expect(found.status).toBe('in-sync');
    expect((await askAt(placeOf(server), { name: apex, type: 'A' }))?.answers).toMatchObject([
      { content: '192.0.2.7' },
    ]);
  });
});

describe('dnsdist', () => {
  it('counts the TTL of what it has cached down, which is no difference', async () => {
    const front = await launchFront('dnsdist', await serve('knot', ['www 3600 A 192.0.2.1']), apex);
    const ttl = async () =>
      (await askAt(placeOf(front), { name: www, type: 'A' }))?.answers.find(({ type }) => type === 'A')?.ttl;
    await vi.waitUntil(async () => (await ttl()) === 3_599, { timeout: 10_000 });
    const found = await checkAt([shown('A', 'www', '192.0.2.1')], [front]);
    expect(told(found)).toEqual([]);
    expect(found).toMatchObject({ status: 'in-sync', servers: [{ serial: 1 }] });
  });
});

describe.each(frontKinds)('%s', (kind) => {
  it('finds the address of a name server as the resolver', async () => {
    const origin = await serve('knot', ['www 3600 A 192.0.2.1']);
    const front = await launchFront(kind, origin, apex);
    const found = await check([shown('A', 'www', '192.0.2.1')], [], {
      nameservers: [`ns1.${apex}:${origin.port}`],
      resolver: front.place,
    });
    expect(found).toMatchObject({
      status: 'in-sync',
      servers: [{ name: `ns1.${apex}:${origin.port}`, address: origin.place }],
    });
  });

  it('says as the resolver which target does not exist', async () => {
    const at = {
      apex: 'example.org',
      records: ['here 3600 A 192.0.2.2', 'chain 3600 CNAME gone.example.org.'],
    };
    const origin = await launch('knot', [at]);
    const front = await launchFront(kind, origin, 'example.org');
    const own = await serve('knot', ['a 60 CNAME here.example.org.', 'b 60 CNAME chain.example.org.']);
    const records = [shown('CNAME', 'a', 'here.example.org'), shown('CNAME', 'b', 'chain.example.org')];
    const found = await check(records, [], { nameservers: [own.place], resolver: front.place });
    expect(found).toMatchObject({
      status: 'drifted',
      servers: [{ status: 'in-sync' }],
      differences: [
        {
          kind: 'dangling',
          name: `b.${apex}`,
          message: 'chain.example.org is an alias of gone.example.org, which does not exist (NXDOMAIN)',
        },
      ],
    });
  });
});

it('unbound refuses what it is asked as a name server', async () => {
  const front = await launchFront('unbound', await serve('knot', ['www 3600 A 192.0.2.1']), apex);
  const found = await checkAt([shown('A', 'www', '192.0.2.1')], [front]);
  expect(found).toMatchObject({ status: 'drifted', servers: [{ status: 'refused' }], differences: [] });
});

it('the next check sees a dynamic update of knot, with its serial', async () => {
  const server = await serve('knot', ['@ 3600 A 192.0.2.1']);
  const records = [shown('A', null, '192.0.2.1'), shown('A', 'www', '192.0.2.2')];
  expect(told(await checkAt(records, [server]))).toEqual([`missing ${www} A: 192.0.2.2 → none`]);
  const update = encode({
    type: 'query',
    id: 1,
    flags: 5 << 11,
    questions: [{ name: apex, type: 'SOA' }],
    authorities: [{ name: www, type: 'A', ttl: 3_600, data: '192.0.2.2' }],
  });
  const { flags = 0 } = decode(await sendTo(server, update));
  expect(flags & 15).toBe(0);
  expect(await checkAt(records, [server])).toMatchObject({ status: 'in-sync', servers: [{ serial: 2 }] });
});

it('10,000 record sets are asked for over one socket', async () => {
  const names = Array.from({ length: 10_000 }, (_, index) => `host${index}`);
  const server = await serve(
    'knot',
    names.map((name) => `${name} 3600 TXT "text"`),
  );
  const answers = openAnswers({
    timeout: 5_000,
    signal: new AbortController().signal,
    resolver: null,
    grace: 0,
    now: Date.now,
  });
  const sockets = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === 'UDPWRAP' || name === 'TCPSocketWrap').length;
  const before = [sockets(), process.memoryUsage().heapUsed] as const;
  const started = performance.now();
  const checked = answers.check({
    subdomain: apex,
    records: names.map((name) => shown('TXT', name, 'text')),
    nameservers: [server.place],
    lastWriteAt: null,
    previous: null,
  });
  let peak = 0;
  const timer = setInterval(() => (peak = Math.max(peak, sockets())), 10);
  expect(await checked).toMatchObject({ status: 'in-sync' });
  clearInterval(timer);
  answers.close();
  const grown = (process.memoryUsage().heapUsed - before[1]) / 1_048_576;
  process.stdout.write(
    `10,000 record sets in ${(performance.now() - started).toFixed(0)} ms, heap grown by ${grown.toFixed(0)} MiB\n`,
  );
  expect(peak - before[0]).toBeLessThanOrEqual(1);
});
