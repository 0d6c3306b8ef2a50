import { describe, expect, it } from 'vitest';
import type { SubdomainRecord } from '../../src/model/template.ts';
import { apex, check, serve, shown, told } from './checked.ts';
import type { ZoneLine } from './zone-server.ts';

interface Case {
  readonly title: string;
  readonly shown: readonly SubdomainRecord[];
  readonly served: readonly ZoneLine[];
  readonly told: readonly string[];
  readonly status?: string;
}

const www = `www.${apex}`;
const target = { preference: 10, exchange: 'MX1.example.com' };

const cases: readonly Case[] = [
  {
    title: 'every type, however it is spelled',
    shown: [
      shown('A', null, '192.0.2.1'),
      shown('aaaa', 'www', '2001:DB8:0::1'),
      shown('CNAME', 'alias', 'Target.Example.COM.'),
      shown('MX', '@', 'mx1.example.com.', { priority: 10 }),
      shown('SRV', '_sip._tcp', '5  5060  Sip.Example.NET', { priority: 1 }),
      shown('PTR', '7', 'host.example.net'),
      shown('TXT', null, '"v=spf1 " "mx -all"'),
      shown('TXT', null, 'grüße'),
      shown('NS', null, 'NS1.shop.example.net.'),
    ],
    served: [
      [apex, 'A', '192.0.2.1'],
      [www, 'AAAA', '2001:db8::1'],
      [`alias.${apex}`, 'CNAME', 'target.example.com'],
      [apex, 'MX', target],
      [`_sip._tcp.${apex}`, 'SRV', { priority: 1, weight: 5, port: 5060, target: 'sip.example.net' }],
      [`7.${apex}`, 'PTR', 'HOST.example.net'],
      [apex, 'TXT', ['v=spf1 mx', ' -all']],
      [apex, 'TXT', ['grüße']],
      [apex, 'NS', `ns1.${apex}`],
    ],
    told: [],
  },
  {
    title: 'the order of a set does not matter, nor a record that the service holds twice',
    shown: [shown('A', null, '192.0.2.1'), shown('A', null, '192.0.2.2'), shown('A', null, '192.0.2.2')],
    served: [
      [apex, 'A', '192.0.2.2'],
      [apex, 'A', '192.0.2.1'],
    ],
    told: [],
  },
  {
    title: 'missing: no record set, or no such name',
    shown: [shown('A', null, '192.0.2.1'), shown('A', 'www', '192.0.2.1')],
    served: [],
    told: [`missing ${apex} A: 192.0.2.1 → none`, `missing ${www} A: 192.0.2.1 → none`],
  },
  {
    title: 'stale: another value, a value too few, one too many, another priority',
    shown: [
      shown('A', null, '192.0.2.1'),
      shown('A', 'www', '192.0.2.1'),
      shown('A', 'www', '192.0.2.2'),
      shown('TXT', null, 'one'),
      shown('MX', null, 'mx1.example.com', { priority: 20 }),
    ],
    served: [
      [apex, 'A', '192.0.2.9'],
      [www, 'A', '192.0.2.1'],
      [apex, 'TXT', 'one'],
      [apex, 'TXT', 'ONE'],
      [apex, 'MX', target],
    ],
    told: [
      `stale ${apex} A: 192.0.2.1 → 192.0.2.9`,
      `stale ${apex} MX: 20 mx1.example.com → 10 mx1.example.com`,
      `stale ${apex} TXT: one → ONE|one`,
      `stale ${www} A: 192.0.2.1|192.0.2.2 → 192.0.2.1`,
    ],
  },
  {
    title: 'a TTL counts where the service states one, and may be the rest of it in a cache',
    shown: [
      shown('A', null, '192.0.2.1', { ttl: 300 }),
      shown('A', 'www', '192.0.2.1', { ttl: null }),
      shown('A', 'both', '192.0.2.1', { ttl: 60 }),
      shown('A', 'both', '192.0.2.2', { ttl: 300 }),
    ],
    served: [
      [apex, 'A', '192.0.2.1', 60],
      [www, 'A', '192.0.2.1', 60],
      [`both.${apex}`, 'A', '192.0.2.1', 60],
      [`both.${apex}`, 'A', '192.0.2.2', 60],
    ],
    told: [],
  },
  {
    title: 'a TTL that is higher than the stated one',
    shown: [shown('A', null, '192.0.2.1', { ttl: 300 })],
    served: [[apex, 'A', '192.0.2.1', 301]],
    told: [`stale ${apex} A: 192.0.2.1 → 192.0.2.1`],
  },
  {
    title: 'addresses in place of an ALIAS, which no query asks for',
    shown: [shown('ALIAS', null, 'lb.example.com'), shown('A', 'www', '192.0.2.1')],
    served: [
      [apex, 'A', '192.0.2.1'],
      [apex, 'AAAA', '2001:db8::1'],
      [www, 'A', '192.0.2.1'],
    ],
    told: [],
  },
  {
    title: 'foreign: an address, a text or an alias that the service does not show',
    shown: [shown('A', 'www', '192.0.2.1'), shown('A', 'blog', '192.0.2.1')],
    served: [
      [apex, 'TXT', 'left over'],
      [www, 'A', '192.0.2.1'],
      [www, 'AAAA', '2001:db8::1'],
      [`blog.${apex}`, 'CNAME', 'blog.example.org'],
    ],
    told: [
      `foreign blog.${apex} CNAME: none → blog.example.org`,
      `foreign ${apex} TXT: none → left over`,
      `foreign ${www} AAAA: none → 2001:db8::1`,
      `missing blog.${apex} A: 192.0.2.1 → none`,
    ],
  },
  {
    title: 'an alias at the apex that answers with addresses is flattened, and no drift',
    shown: [shown('CNAME', null, 'lb.example.com')],
    served: [
      [apex, 'A', '192.0.2.1'],
      [apex, 'AAAA', '2001:db8::1'],
    ],
    told: [`flattened ${apex} CNAME: lb.example.com → 192.0.2.1|2001:db8::1`],
    status: 'in-sync',
  },
  {
    title: 'an alias elsewhere is not flattened, and one at the apex without addresses is missing',
    shown: [shown('CNAME', null, 'lb.example.com'), shown('CNAME', 'www', 'lb.example.com')],
    served: [[www, 'A', '192.0.2.1']],
    told: [`missing ${apex} CNAME: lb.example.com → none`, `missing ${www} CNAME: lb.example.com → none`],
  },
  {
    title: 'a wildcard is asked for as the star that it is',
    shown: [shown('A', '*', '192.0.2.1'), shown('A', 'www', '192.0.2.2')],
    served: [
      [`*.${apex}`, 'A', '192.0.2.1'],
      [www, 'A', '192.0.2.2'],
    ],
    told: [],
  },
  {
    title: "a wildcard's answer is no record: another value, and the same",
    shown: [
      shown('A', '*', '192.0.2.1'),
      shown('A', 'other', '192.0.2.2'),
      shown('A', 'same', '192.0.2.1'),
      shown('A', 'there', '192.0.2.1'),
    ],
    served: [
      [`*.${apex}`, 'A', '192.0.2.1'],
      [`there.${apex}`, 'A', '192.0.2.1'],
    ],
    told: [`missing other.${apex} A: 192.0.2.2 → none`, `missing same.${apex} A: 192.0.2.1 → none`],
  },
  {
    title: 'a wildcard that the service does not show',
    shown: [shown('A', 'www', '192.0.2.1')],
    served: [
      [`*.${apex}`, 'CNAME', 'parked.example.org'],
      [www, 'A', '192.0.2.1'],
    ],
    told: [`foreign *.${apex} CNAME: none → parked.example.org`],
  },
  {
    title: 'names with letters beyond ASCII are asked for as A-labels',
    shown: [shown('A', 'bücher', '192.0.2.1'), shown('CNAME', 'laden', 'straße.example.net')],
    served: [
      [`xn--bcher-kva.${apex}`, 'A', '192.0.2.1'],
      [`laden.${apex}`, 'CNAME', 'xn--strae-oqa.example.net'],
    ],
    told: [],
  },
  {
    title: 'a name may end in the subdomain; types and names that cannot be asked for are left out',
    shown: [
      shown('A', `www.${apex}.`, '192.0.2.1'),
      shown('CAA', null, '0 issue "ca.example.net"'),
      shown('A', 'l'.repeat(64), '192.0.2.1'),
      shown('SOA', null, 'ns1.example.net hostmaster.example.net 1 2 3 4 5'),
    ],
    served: [[www, 'A', '192.0.2.1']],
    told: [],
  },
];

describe('the answers of a server', () => {
  it.each(cases)('$title', async ({ shown: records, served, told: expected, status }) => {
    const server = await serve({ lines: served });
    const found = await check(records, [server]);
    expect(told(found)).toEqual(expected);
    expect(found.status).toBe(status ?? (expected.length === 0 ? 'in-sync' : 'drifted'));
    expect(found.servers).toEqual([
      {
        name: server.place,
        address: server.place,
        serial: 1,
        status: found.status,
        message: null,
      },
    ]);
    // What only a recursive server would know is not asked for.
    expect(new Set(server.recursion)).toEqual(new Set([false]));
  });

  it('names the server and its address, and has five keys in each record', async () => {
    const server = await serve({ lines: [[apex, 'A', '192.0.2.2', 60]] });
    const { differences } = await check([shown('A', null, '192.0.2.1')], [server]);
    expect(differences).toEqual([
      {
        kind: 'stale',
        server: server.place,
        address: server.place,
        name: apex,
        type: 'A',
        desired: [{ type: 'A', name: null, content: '192.0.2.1', priority: null, ttl: 3_600 }],
        current: [{ type: 'A', name: null, content: '192.0.2.2', priority: null, ttl: 60 }],
      },
    ]);
  });

  it('for a delegated name counts as far as a referral goes', async () => {
    const dev = `dev.${apex}`;
    const server = await serve({
      lines: [[dev, 'A', '192.0.2.1']],
      udp: (reply) => [
        reply.questions?.[0]?.name.endsWith(dev) === true
          ? {
              ...reply,
              flags: 0,
              answers: [],
              authorities: [{ type: 'NS', name: dev, data: `ns.${dev}`, ttl: 3_600 }],
              additionals: [{ type: 'A', name: `ns.${dev}`, data: '192.0.2.53', ttl: 3_600 }],
            }
          : reply,
      ],
    });
    const referred = [shown('NS', 'dev', `ns.${dev}`), shown('A', 'ns.dev', '192.0.2.53')];
    expect(told(await check(referred, [server]))).toEqual([]);
    expect(told(await check([...referred, shown('A', 'dev', '192.0.2.1')], [server]))).toEqual([
      `missing ${dev} A: 192.0.2.1 → none`,
    ]);
  });

  it('without authority counts as none, whatever it says of a delegated name', async () => {
    const server = await serve({
      lines: [[`dev.${apex}`, 'A', '192.0.2.1']],
      udp: (reply) => [reply.questions?.[0]?.name === `dev.${apex}` ? { ...reply, flags: 0 } : reply],
    });
    const found = await check([shown('A', 'dev', '192.0.2.1')], [server]);
    expect(told(found)).toEqual([`missing dev.${apex} A: 192.0.2.1 → none`]);
  });

  it('for an alias to a zone on other servers is read in the zone of the name', async () => {
    const lines: ZoneLine[] = [
      [www, 'CNAME', 'web.example.net'],
      [apex, 'A', '192.0.2.1'],
    ];
    const server = await serve({
      lines,
      udp: (reply) => {
        const isAlias = reply.answers?.some(({ type }) => type === 'CNAME');
        const soa = { mname: 'ns.example.net', rname: 'hostmaster.example.net', serial: 7 };
        return [
          isAlias ? { ...reply, authorities: [{ type: 'SOA', name: 'example.net', data: soa }] } : reply,
        ];
      },
    });
    const found = await check([shown('CNAME', null, 'web.example.net')], [server], { subdomain: www });
    expect(found).toMatchObject({ status: 'in-sync', servers: [{ serial: 1 }], differences: [] });
  });

  it('without a SOA record anywhere is compared all the same', async () => {
    const server = await serve({
      lines: [[www, 'A', '192.0.2.1']],
      udp: (reply) => [
        { ...reply, answers: (reply.answers ?? []).filter(({ type }) => type !== 'SOA'), authorities: [] },
      ],
    });
    const found = await check([shown('A', null, '192.0.2.1')], [server], { subdomain: www });
    expect(found).toMatchObject({ status: 'in-sync', servers: [{ serial: null }], differences: [] });
  });
});
