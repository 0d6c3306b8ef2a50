import type { Answer, Packet } from 'dns-packet';
import { describe, expect, it, vi } from 'vitest';
import { openAnswers } from '../../src/answers/answers.ts';
import { resolverAt } from '../../src/answers/ask.ts';
import { delegatedServers } from '../../src/answers/find-servers.ts';
import { cases, lineOf, linesOf } from './cases.ts';
import { apex, check, serve, shown, told, type CheckOptions } from './checked.ts';

// A server that answers nothing is asked three times.
vi.setConfig({ testTimeout: 30_000 });

const www = `www.${apex}`;
const one = shown('www A 192.0.2.1');
const right = linesOf('www A 192.0.2.1');

const withCode =
  (code: number) =>
  (reply: Packet): Packet[] => [{ ...reply, flags: ((reply.flags ?? 0) & ~0xf) | code, answers: [] }];

/** What a server is like. */
const natures: Readonly<Record<string, (reply: Packet, query: Packet) => readonly Packet[]>> = {
  /** It knows that nothing is below `invalid`. */
  resolving: (reply, { questions }) =>
    questions?.[0]?.name.endsWith('.invalid') ? withCode(3)(reply) : [reply],
  silent: () => [],
  refusing: withCode(5),
  failing: withCode(2),
  /** It says of a name only once that it does not exist. */
  forgetful: (reply, { questions }) =>
    questions?.[0]?.type === 'A' ? [reply] : [{ ...reply, flags: (reply.flags ?? 0) & ~0xf }],
};

describe('each record set, at each name server', () => {
  it.each(cases)('shows $title', async ({ shown: records, zone, told: expected }) => {
    const server = await serve({ lines: zone.map(lineOf) });
    const found = await check(records, [server]);
    expect(told(found)).toEqual(expected);
    const status = expected.length === 0 ? 'in-sync' : 'drifted';
    expect(found).toMatchObject({
      status,
      servers: [{ name: server.place, address: server.place, serial: 1, status, message: null }],
    });
  });

  it('is asked for by its whole name, whatever domains the machine searches', async () => {
    vi.stubEnv('LOCALDOMAIN', 'search.example');
    const server = await serve({ lines: right });
    const found = await check(shown('www A 192.0.2.1 | gone A 192.0.2.1'), [server]);
    vi.unstubAllEnvs();
    expect(told(found)).toEqual([`missing gone.${apex} A: 192.0.2.1 → none`]);
    expect(server.questions.filter((question) => question.includes('search.example'))).toEqual([]);
  });
});

describe('a name server', () => {
  it.each([
    ['silent', 'no answer'],
    ['refusing', 'it refuses to answer'],
    ['failing', 'it answers with an error (ESERVFAIL)'],
  ])(
    'that is %s is drift beside one that answers, and is not asked for each set',
    async (nature, message) => {
      const [good, bad] = [
        await serve({ lines: right }),
        await serve({ lines: right, replies: natures[nature]! }),
      ];
      expect(await check(one, [good, bad])).toMatchObject({
        status: 'drifted',
        servers: [{ status: 'in-sync' }, { status: 'silent', message }],
        differences: [],
      });
      expect(new Set(bad.questions)).toEqual(new Set([`${apex} SOA`]));
    },
  );

  it('that has answered nothing is not asked again in the round, and says nothing about subdomains', async () => {
    const server = await serve({ lines: right, replies: natures['silent']! });
    const { signal } = new AbortController();
    const ask = openAnswers({ timeout: 100, resolver: null, grace: 0, now: Date.now, signal });
    const about = { records: one, nameservers: [server.place], lastWriteAt: null, previous: null };
    const failed = { status: 'failed', servers: [{ status: 'silent' }], differences: [] };
    expect(await ask({ ...about, subdomain: apex })).toMatchObject(failed);
    const { length } = server.questions;
    expect(await ask({ ...about, subdomain: 'other.example.net' })).toMatchObject(failed);
    expect(server.questions).toEqual(Array.from({ length }, () => `${apex} SOA`));
  });

  it('that loses a question is asked again', async () => {
    let lost = 0;
    const replies = (reply: Packet): Packet[] => ((lost += 1) % 2 === 1 ? [] : [reply]);
    expect((await check(one, [await serve({ lines: right, replies })])).status).toBe('in-sync');
  });

  it('is pending for a while after a write, as long as the highest TTL, unless it was drift before', async () => {
    const server = await serve({ lines: linesOf('www A 192.0.2.9') });
    const previous = await check(one, [server]);
    const at = (secondsAgo: number): number => 1_000_000_000_000 - 1_000 * secondsAgo;
    expect(await check(one, [server], { lastWriteAt: at(1) })).toMatchObject({
      status: 'pending',
      servers: [{ status: 'pending' }],
      differences: [{ kind: 'stale' }],
    });
    const slow = shown('www 7200 A 192.0.2.1');
    for (const [records, more, status] of [
      [one, { lastWriteAt: at(1), previous }, 'drifted'],
      [one, { lastWriteAt: at(3_601) }, 'drifted'],
      [slow, { lastWriteAt: at(3_601) }, 'pending'],
      [slow, { lastWriteAt: at(7_201) }, 'drifted'],
    ] as const)
      expect((await check(records, [server], more)).status).toBe(status);
  });
});

describe('the name servers of a zone', () => {
  const world = [
    'example.net. NS ns1.example.net. | example.net. NS ns2.example.net. | ns1.example.net. A 198.51.100.53',
    'ns2.example.net. A 10.0.0.53 | @ A 192.0.2.1 | alias.example.net. CNAME other.test.net.',
    'other.test.net. NS ns.elsewhere.net. | test.net. NS ns3.example.net. | lonely.net. A 192.0.2.7',
  ].flatMap(linesOf);
  const elsewhere: Answer = { type: 'NS', name: 'other.test.net', data: 'ns.elsewhere.net' };
  const serversOf = async (name: string) => {
    const { place } = await serve({
      apex: 'net',
      lines: world,
      // As a resolver, it follows an alias.
      replies: (reply, { questions: [asked] = [] }) =>
        asked?.name === 'alias.example.net' && asked.type === 'NS'
          ? [{ ...reply, answers: [...(reply.answers ?? []), elsewhere] }]
          : [reply],
    });
    return delegatedServers(name, resolverAt(place, 200));
  };
  const own = [
    { name: 'ns1.example.net', address: '198.51.100.53', refusal: null },
    { name: 'ns2.example.net', address: '10.0.0.53', refusal: expect.stringContaining('private') },
  ];

  it.each<[name: string, servers: unknown]>([
    [apex, own],
    [`no.such.name.${apex}`, own],
    // Not those of another zone that an alias leads to.
    ['alias.example.net', own],
    ['a.test.net', [{ name: 'ns3.example.net', address: '', refusal: 'it has no address' }]],
    ['lonely.net', 'no zone of the public DNS holds lonely.net'],
  ])('are those that the nearest zone above is delegated to, at all addresses: %s', async (name, servers) => {
    expect(await serversOf(name)).toEqual(servers);
  });

  it('are unknown if the resolver does not answer, which is no fault of theirs', async () => {
    const resolver = await serve({ apex: 'net', lines: world, replies: natures['silent']! });
    const found = await check(one, [], { nameservers: [], resolver: resolver.place });
    expect(found).toMatchObject({
      status: 'failed',
      servers: [{ status: 'failed', message: 'the resolver: no answer' }],
      differences: [],
    });
  });
});

describe('targets that do not exist', () => {
  const records = [
    'www CNAME Gone.Example.NET. | ok CNAME here.example.net | nodata CNAME mail.example.net',
    '@ MX 1 here.example.net | @ MX 2 mx.old.net | none MX 0 . | _sip._tcp SRV 1 5 5060 sip.old.net',
    `_parked-7 CNAME parked.invalid | own CNAME ${www} | @ TXT gone.net`,
  ].flatMap(shown);
  const lines = [
    'www CNAME gone.example.net. | ok CNAME here.example.net. | nodata CNAME mail.example.net.',
    '@ MX 1 here.example.net. | @ MX 2 mx.old.net. | none MX 0 . | _sip._tcp SRV 1 5 5060 sip.old.net.',
    '_parked-7 CNAME parked.invalid. | own CNAME www | @ TXT "gone.net"',
  ].flatMap(linesOf);
  const resolver = (replies = natures['resolving']!) =>
    serve({
      apex: 'net',
      lines: linesOf('here.example.net. A 192.0.2.1 | mail.example.net. TXT "no address"'),
      replies,
    });
  const look = async (place: string | null, options: CheckOptions = {}) =>
    check(records, [await serve({ lines })], { resolver: place, ...options });
  const gone = ['gone.example.net does not exist', 'mx.old.net does not exist', 'sip.old.net does not exist'];
  const messages = ({ differences }: Awaited<ReturnType<typeof look>>) =>
    differences.flatMap(({ message }) => message ?? []).sort();

  it('are dangling, which is drift', async () => {
    const { place } = await resolver();
    const found = await look(place);
    expect(messages(found)).toEqual(gone);
    expect(found).toMatchObject({ status: 'drifted', servers: [{ status: 'in-sync' }] });
    expect(found.differences.find(({ type }) => type === 'MX')).toMatchObject({
      kind: 'dangling',
      server: `resolver ${place}`,
      desired: [{ content: 'mx.old.net' }],
    });
  });

  it.each(['silent', 'failing', 'refusing', 'forgetful'])(
    'are nobody’s fault if the resolver is %s',
    async (nature) => {
      const found = await look((await resolver(natures[nature])).place);
      expect([messages(found), found.status]).toEqual([[], 'in-sync']);
    },
  );

  it('are left alone where name servers are given and no resolver, and under a rule of `ignore`', async () => {
    expect(messages(await look(null))).toEqual([]);
    const { place } = await resolver();
    const ignores: CheckOptions['ignores'] = ({ content }) => content === 'mx.old.net';
    expect(messages(await look(place, { ignores }))).toEqual([gone[0], gone[2]]);
  });

  it('are pending after a write', async () => {
    const { place } = await resolver();
    expect((await look(place, { lastWriteAt: 1_000_000_000_000 - 1_000 })).status).toBe('pending');
  });
});
