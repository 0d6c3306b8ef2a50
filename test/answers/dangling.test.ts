import type { Packet } from 'dns-packet';
import { describe, expect, it, onTestFinished } from 'vitest';
import { claimableAt } from '../../src/answers/dangling.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { apex, check, serve, shown, type CheckOptions } from './checked.ts';
import type { ZoneLine, ZoneServerOptions } from './zone-server.ts';

/** The targets that exist; all else below `net` and `com` does not. */
const world: readonly ZoneLine[] = [
  ['here.example.net', 'A', '192.0.2.1'],
  ['mail.example.net', 'MX', { preference: 1, exchange: 'here.example.net' }],
  ['chain.example.net', 'CNAME', 'gone.azurewebsites.net'],
];

const resolver = (options: Partial<ZoneServerOptions> = {}) =>
  serve({ apex: 'net', lines: world, ...options });

const records = [
  shown('CNAME', 'www', 'Shop.AzureWebsites.NET.'),
  shown('CNAME', 'ok', 'here.example.net'),
  shown('CNAME', 'nodata', 'mail.example.net'),
  shown('CNAME', 'chain', 'chain.example.net'),
  shown('MX', null, 'here.example.net', { priority: 1 }),
  shown('MX', null, 'mx.old.net', { priority: 2 }),
  shown('MX', 'none', '.', { priority: 0 }),
  shown('SRV', '_sip._tcp', '5 5060 sip.deep.example.net', { priority: 1 }),
  shown('CNAME', '_parked-7', 'parked.invalid'),
  shown('CNAME', 'own', `www.${apex}`),
  shown('CNAME', 'opaque', 'two words.net'),
  shown('TXT', null, 'gone.net'),
];

/** What the name servers of the subdomain answer, so that nothing else differs. */
const lines: readonly ZoneLine[] = [
  [`www.${apex}`, 'CNAME', 'shop.azurewebsites.net'],
  [`ok.${apex}`, 'CNAME', 'here.example.net'],
  [`nodata.${apex}`, 'CNAME', 'mail.example.net'],
  [`chain.${apex}`, 'CNAME', 'chain.example.net'],
  [apex, 'MX', { preference: 1, exchange: 'here.example.net' }],
  [apex, 'MX', { preference: 2, exchange: 'mx.old.net' }],
  [`none.${apex}`, 'MX', { preference: 0, exchange: '.' }],
  [`_sip._tcp.${apex}`, 'SRV', { priority: 1, weight: 5, port: 5060, target: 'sip.deep.example.net' }],
  [`_parked-7.${apex}`, 'CNAME', 'parked.invalid'],
  [`own.${apex}`, 'CNAME', `www.${apex}`],
  [apex, 'TXT', ['gone.net']],
];

const look = async (place: string | null, options: CheckOptions = {}) => {
  const some = records.filter(({ name }) => name !== 'opaque');
  return check(some, [await serve({ lines })], { resolver: place, ...options });
};

const told = (answers: Awaited<ReturnType<typeof look>>): Record<string, string | undefined> =>
  Object.fromEntries(
    answers.differences.map(({ kind, name, type, message }) => [`${kind} ${name} ${type}`, message]),
  );

const found = {
  [`dangling www.${apex} CNAME`]:
    'shop.azurewebsites.net does not exist, and anybody can create it at Azure App Service: whoever does gets the traffic',
  [`dangling chain.${apex} CNAME`]:
    'chain.example.net is an alias of gone.azurewebsites.net, which does not exist, and anybody can create it at Azure App Service: whoever does gets the traffic',
  [`dangling ${apex} MX`]:
    'mx.old.net does not exist, and old.net is not delegated: if it is free, whoever registers it gets the traffic',
  [`dangling _sip._tcp.${apex} SRV`]:
    'sip.deep.example.net does not exist, and example.net is not delegated: if it is free, whoever registers it gets the traffic',
};

describe('the targets of the records', () => {
  it('that do not exist are drift, each asked twice and once for all records', async () => {
    const server = await resolver({
      udp: (reply, query) => [
        // The alias of which the rest of the chain is elsewhere, as a recursive server answers it.
        query.questions?.[0]?.name === 'chain.example.net'
          ? { ...reply, flags: (reply.flags ?? 0) | 3 }
          : reply,
      ],
    });
    const answers = await look(server.place);
    expect(told(answers)).toEqual(found);
    expect(answers.status).toBe('drifted');
    expect(answers.servers).toMatchObject([{ status: 'in-sync' }]);
    const mx = answers.differences.find(({ type }) => type === 'MX');
    expect(mx).toMatchObject({
      server: `resolver ${server.place}`,
      address: '',
      desired: [{ content: 'mx.old.net' }],
    });
    expect(server.questions.toSorted()).toEqual(
      [
        'chain.example.net',
        'chain.example.net',
        'here.example.net',
        'mail.example.net',
        'mx.old.net',
        'mx.old.net',
        'shop.azurewebsites.net',
        'shop.azurewebsites.net',
        'sip.deep.example.net',
        'sip.deep.example.net',
      ].map((name) => `udp ${name} A`),
    );
    expect(new Set(server.recursion)).toEqual(new Set([true]));
  });

  it.each<[title: string, udp: (reply: Packet, asked: number) => Packet[]]>([
    ['silent', () => []],
    ['failing', (reply) => [{ ...reply, flags: ((reply.flags ?? 0) & ~0xf) | 2 }]],
    ['refusing', (reply) => [{ ...reply, flags: ((reply.flags ?? 0) & ~0xf) | 5 }]],
    // The first answer to each name is wrong.
    ['unsure', (reply, asked) => [asked === 1 ? reply : { ...reply, flags: (reply.flags ?? 0) & ~0xf }]],
  ])('are not reported by a resolver that is %s', async (_, udp) => {
    const asked = new Map<string, number>();
    const { place } = await resolver({
      udp: (reply, query) => {
        const name = query.questions?.[0]?.name ?? '';
        asked.set(name, (asked.get(name) ?? 0) + 1);
        return udp(reply, asked.get(name)!);
      },
      tcp: () => null,
    });
    const answers = await look(place, { timeout: 300 });
    expect(told(answers)).toEqual({});
    expect(answers.status).toBe('in-sync');
  });

  it('are found with the embedded name server as the resolver', async () => {
    const sandbox = await startSandbox({ dns: { host: '127.0.0.1', port: 0, lag: 0 } });
    onTestFinished(() => sandbox.close());
    const targets = [
      shown('CNAME', 'a', 'bakery.example.net', { ttl: 60 }),
      shown('CNAME', 'b', 'no-such-name.bakery.example.net', { ttl: 60 }),
    ];
    const server = await serve({
      lines: targets.map(({ name, content }) => [`${name}.${apex}`, 'CNAME', content, 60]),
    });
    expect(told(await check(targets, [server], { resolver: sandbox.dns ?? '' }))).toEqual({
      [`dangling b.${apex} CNAME`]: 'no-such-name.bakery.example.net does not exist (NXDOMAIN)',
    });
  });

  it('are left alone where name servers are given and no resolver', async () => {
    expect(told(await look(null))).toEqual({});
  });

  it('are left alone under a rule of `ignore`', async () => {
    const { place } = await resolver();
    const answers = await look(place, {
      ignores: ({ type, content }) => type !== 'MX' || content === 'mx.old.net',
    });
    expect([answers.status, told(answers)]).toEqual(['in-sync', {}]);
  });

  it('are pending after a write, unless they were drift before it', async () => {
    const { place } = await resolver();
    const before = await look(place);
    const fresh = { lastWriteAt: 1_000_000_000_000 - 1_000 };
    expect((await look(place, fresh)).status).toBe('pending');
    expect((await look(place, { ...fresh, previous: before })).status).toBe('drifted');
  });
});

it('a name that does not exist can be claimed at some providers, below their domain', () => {
  expect(claimableAt('a.b.cloudapp.azure.com')).toBe('Azure');
  for (const name of ['azurewebsites.net', 'notazurewebsites.net', 'a.example.com'])
    expect(claimableAt(name)).toBeNull();
});
