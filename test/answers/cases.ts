import type { SubdomainRecord } from '../../src/model/template.ts';
import { apex, shown } from './checked.ts';
import type { ZoneLine } from './zone-server.ts';

/** What a service shows of a subdomain, the zone that a name server has of it, and what differs: of any name server. */
interface Case {
  readonly title: string;
  readonly shown: readonly SubdomainRecord[];
  readonly zone: readonly string[];
  readonly told: readonly string[];
}

export const cases: readonly Case[] = [
  {
    title: 'every type, however it is spelled and whatever its TTL',
    shown: [
      shown('A', null, '192.0.2.1'),
      shown('AAAA', 'www', '2001:DB8:0::1'),
      shown('CNAME', 'alias', 'Target.Example.COM.'),
      shown('MX', '@', 'mx1.example.com.', { priority: 10 }),
      shown('MX', 'none', '.', { priority: 0 }),
      shown('SRV', '_sip._tcp', '5 5060 Sip.Example.NET', { priority: 1 }),
      shown('SRV', '_none._tcp', '0 0 .', { priority: 0 }),
      shown('PTR', '7', 'host.example.net'),
      shown('TXT', null, '"v=spf1 " "mx -all"'),
      shown('TXT', 'text', 'grün'),
      shown('TXT', `whole.${apex}`, 'by its whole name'),
      shown('NS', null, `NS1.${apex}.`),
      shown('CAA', null, '0 issue "ca.example.net"'),
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
      '_none._tcp 3600 SRV 0 0 0 .',
      '7 3600 PTR host.example.net.',
      '@ 3600 TXT "v=spf1 mx" " -all"',
      'text 3600 TXT "gr\\195\\188n"',
      'whole 3600 TXT "by its whole name"',
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
    shown: [
      shown('CNAME', 'www', 'other.example.org'),
      shown('CNAME', 'old', 'gone.example.org'),
      shown('A', 'alias', '192.0.2.1'),
    ],
    zone: [
      'www 60 CNAME other.example.org.',
      'old 60 CNAME other.example.org.',
      'alias 60 CNAME other.example.org.',
    ],
    told: [
      `missing alias.${apex} A: 192.0.2.1 → none`,
      `stale old.${apex} CNAME: gone.example.org → other.example.org`,
    ],
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
];

/** A line of such a zone for the embedded server. */
export const lineOf = (text: string): ZoneLine => {
  const [, owner = '', ttl, type = '', data = ''] = /^(\S+) (\d+) (\S+) (.*)$/.exec(text) ?? [];
  const [first, second, third, fourth] = data.split(' ');
  const absolute = (name = ''): string => (name.endsWith('.') ? name.slice(0, -1) || '.' : `${name}.${apex}`);
  const strings = [...data.matchAll(/"([^"]*)"/g)].map(([, string = '']) =>
    Buffer.from(
      string.replaceAll(/\\(\d{3})/g, (_, code) => String.fromCharCode(Number(code))),
      'latin1',
    ),
  );
  const forms: Readonly<Record<string, unknown>> = {
    A: data,
    AAAA: data,
    TXT: strings,
    MX: { preference: Number(first), exchange: absolute(second) },
    SRV: { priority: Number(first), weight: Number(second), port: Number(third), target: absolute(fourth) },
  };
  const name = owner === '@' ? apex : `${owner.toLowerCase()}.${apex}`;
  return [name, type, forms[type] ?? absolute(data), Number(ttl)];
};
