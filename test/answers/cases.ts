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

const caseOf = (text: string): Case => {
  const [title = '', ...lines] = text.split('\n').map((line) => line.trim());
  const of = (key: string): string[] =>
    lines.flatMap((line) => (line.startsWith(`${key}: `) ? line.slice(key.length + 2).split(' | ') : []));
  return { title, shown: shown(of('shown').join(' | ')), zone: of('zone'), told: of('told') };
};

export const cases: readonly Case[] = `
every type, however it is spelled and whatever its TTL
  shown: @ A 192.0.2.1 | www AAAA 2001:DB8:0::1 | alias CNAME Target.Example.COM. | "@" MX 10 mx1.example.com.
  shown: none MX 0 . | _sip._tcp SRV 1 5 5060 Sip.Example.NET | _none._tcp SRV 0 0 0 . | 7 PTR host.example.net
  shown: @ TXT "v=spf1 " "mx -all" | text TXT grün | whole.${apex} TXT by its whole name
  shown: @ NS NS1.${apex}. | @ CAA 0 issue "ca.example.net" | bücher A 192.0.2.1 | * A 192.0.2.1
  zone: @ 60 A 192.0.2.1 | WWW 3600 AAAA 2001:db8::1 | alias 3600 CNAME target.example.com. | @ 3600 MX 10 MX1.example.com.
  zone: none 3600 MX 0 . | _sip._tcp 3600 SRV 1 5 5060 sip.example.net. | _none._tcp 3600 SRV 0 0 0 . | 7 3600 PTR host.example.net.
  zone: @ 3600 TXT "v=spf1 mx" " -all" | text 3600 TXT "gr\\195\\188n" | whole 3600 TXT "by its whole name"
  zone: xn--bcher-kva 3600 A 192.0.2.1 | * 3600 A 192.0.2.1

what is missing, and what is another one
  shown: @ A 192.0.2.1 | gone A 192.0.2.1 | @ MX 10 mx1.example.com | @ TXT one
  zone: @ 3600 A 192.0.2.9 | @ 3600 MX 20 mx1.example.com. | @ 3600 TXT "one"
  told: missing gone.${apex} A: 192.0.2.1 → none | stale ${apex} A: 192.0.2.1 → 192.0.2.9
  told: stale ${apex} MX: 10 mx1.example.com → 20 mx1.example.com

a text in quotation marks, and octets that are no UTF-8
  shown: @ TXT "\\"a\\"" | b TXT "\\200"
  zone: @ 60 TXT "\\034a\\034" | b 60 TXT "\\200"

an alias to another zone
  shown: www CNAME other.example.org | old CNAME gone.example.org | alias A 192.0.2.1
  zone: www 60 CNAME other.example.org. | old 60 CNAME other.example.org. | alias 60 CNAME other.example.org.
  told: missing alias.${apex} A: 192.0.2.1 → none | stale old.${apex} CNAME: gone.example.org → other.example.org

a zone of its own below, as its name server and the address of that
  shown: dev NS ns.dev.${apex} | ns.dev A 192.0.2.53 | www.dev A 192.0.2.1
  zone: dev 3600 NS ns.dev | ns.dev 3600 A 192.0.2.53

names with a slash, as in reverse zones of fewer than 256 addresses
  shown: 7 CNAME 7.0/25.${apex} | 7.0/25 PTR host.example.net | 8.0/25 PTR host.example.net
  zone: 7 3600 CNAME 7.0/25.${apex}. | 7.0/25 3600 PTR host.example.net.
  told: missing 8.0/25.${apex} PTR: host.example.net → none`
  .trim()
  .split('\n\n')
  .map(caseOf);

/** A line of a zone for the embedded server: a name with a final dot is whole. */
export const lineOf = (text: string): ZoneLine => {
  const [, owner = '', ttl, type = '', data = ''] = /^(\S+) (?:(\d+) )?(\S+) (.*)$/.exec(text) ?? [];
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
  const name = owner === '@' ? apex : absolute(owner.toLowerCase());
  return [name, type, forms[type] ?? absolute(data), Number(ttl ?? 3_600)];
};

/** Several, with ` | ` between them. */
export const linesOf = (text: string): ZoneLine[] => text.split(' | ').map(lineOf);
