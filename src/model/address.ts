import { isIP, isIPv4, isIPv6 } from 'node:net';

/** Also with a zone index, as copied from a machine. */
export const isAddress = (text: string): boolean =>
  isIPv4(text) || (text.includes(':') && canonicalIPv6(text.split('%', 1)[0]!) !== null);

/** Whether the host of a URL is this machine. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' ||
  host.endsWith('.localhost') ||
  host === '[::1]' ||
  (isIPv4(host) && host.startsWith('127.'));

/**
 * An IPv6 address (RFC 4291 §2.2) in the form of RFC 5952; null if the text is not one. A zone index has no
 * meaning in the DNS, so a text with one is not an address.
 */
export const canonicalIPv6 = (text: string): string | null => {
  if (!isIPv6(text) || text.includes('%')) return null;
  // A third of the time that `SocketAddress` takes, and a plan asks this of each record.
  return new URL(`http://[${text}]`).hostname.slice(1, -1).replace(mapped, withDots);
};

/** URLs have no dots; RFC 5952 §5 has them for an address of IPv4 in one of IPv6. */
const mapped = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/;

const withDots = (_: string, ...groups: readonly string[]): string => {
  const bytes = groups.slice(0, 2).flatMap((group) => [...Buffer.from(group.padStart(4, '0'), 'hex')]);
  return `::ffff:${bytes.join('.')}`;
};

/** The address or host name of a DNS server, and its port. */
export interface NameServerPlace {
  readonly host: string;
  readonly port: number;
}

/** Reads `192.0.2.53`, `192.0.2.53:5353`, `2001:db8::53`, `[2001:db8::53]:5353`, `ns1.example.net`; null for others. */
export const parseNameServer = (text: string): NameServerPlace | null => {
  if (isIP(text) !== 0) return { host: text, port: 53 };
  const match = /^(?:\[([^\]]+)\]|([^:[\]/\s]+?)\.?)(?::(\d{1,5}))?$/.exec(text);
  const [, inBrackets, plain, port = '53'] = match ?? [];
  const host = inBrackets ?? plain?.toLowerCase() ?? '';
  const isHost = inBrackets === undefined ? isIP(host) !== 0 || hostName.test(host) : isIPv6(host);
  return isHost && Number(port) >= 1 && Number(port) <= 65_535 ? { host, port: Number(port) } : null;
};

/** With a letter in its last label, so that an invalid address is not a name. */
const hostName = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,62})\.)*[a-z0-9-]*[a-z][a-z0-9-]*$/;
