import { isIP, isIPv6 } from 'node:net';

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
