import { createSocket } from 'node:dgram';
import { lookup, type Resolver } from 'node:dns/promises';
import { BlockList, isIP, isIPv6 } from 'node:net';
import { parseNameServer } from '../model/address.ts';
import { silenceWords, unlessAbsent } from './ask.ts';

export interface KnownServer {
  /** In the delegation or the setting. */
  readonly name: string;
  /** With its port unless that is 53. */
  readonly address: string;
  /** Why it is not asked; null if it is. */
  readonly refusal: string | null;
}

/** The servers of the zone that a name is in, or why there are none. */
export const delegatedServers = async (
  name: string,
  resolver: Resolver,
): Promise<readonly KnownServer[] | string> => {
  try {
    for (let zone = name; zone.includes('.'); zone = zone.slice(zone.indexOf('.') + 1)) {
      // The name servers of an alias would be those of its target.
      const isAlias = (await unlessAbsent(resolver.resolveCname(zone), [])).length > 0;
      const names = isAlias ? [] : await unlessAbsent(resolver.resolveNs(zone), []);
      if (names.length > 0)
        return (await Promise.all(names.map((one) => publicServers(one, resolver)))).flat();
    }
    return `no zone of the public DNS holds ${name}`;
  } catch (error) {
    return `the resolver: ${silenceWords(error)}`;
  }
};

/** Those of a setting, at private addresses too. */
export const givenServers = async (
  places: readonly string[],
  resolver: Resolver | null,
): Promise<readonly KnownServer[]> => {
  const found = places.map(async (name): Promise<readonly KnownServer[]> => {
    const { host, port } = parseNameServer(name)!;
    try {
      // The system's own way knows its hosts file too.
      const addresses = resolver && isIP(host) === 0 ? await addressesOf(host, resolver) : await lookUp(host);
      return (await reachable(addresses)).map((address) => serverAt(name, address, port));
    } catch {
      return [{ name, address: '', refusal: 'it has no address' }];
    }
  });
  return (await Promise.all(found)).flat();
};

const publicServers = async (name: string, resolver: Resolver): Promise<readonly KnownServer[]> => {
  const addresses = await addressesOf(name, resolver);
  if (addresses.length === 0) return [{ name, address: '', refusal: 'it has no address' }];
  const refusal = 'its address is private, and not among `nameservers`';
  return (await reachable(addresses)).map((address) => ({
    ...serverAt(name, address),
    refusal: isPrivateAddress(address) ? refusal : null,
  }));
};

const addressesOf = async (host: string, resolver: Resolver): Promise<readonly string[]> =>
  (
    await Promise.all([unlessAbsent(resolver.resolve4(host), []), unlessAbsent(resolver.resolve6(host), [])])
  ).flat();

const lookUp = async (host: string): Promise<readonly string[]> =>
  (await lookup(host, { all: true })).map(({ address }) => address);

const serverAt = (name: string, address: string, port = 53): KnownServer => ({
  name,
  address: port === 53 ? address : isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`,
  refusal: null,
});

/** Many machines have no route to any IPv6 address, which is not the fault of a server. */
const reachable = async (addresses: readonly string[]): Promise<readonly string[]> => {
  const routes = await Promise.all(addresses.map(hasRoute));
  return addresses.filter((_, index) => routes[index]);
};

const hasRoute = async (address: string): Promise<boolean> =>
  !isIPv6(address) ||
  new Promise((resolve) => {
    const socket = createSocket('udp6');
    const end = (isThere: boolean): void => {
      socket.close();
      resolve(isThere);
    };
    socket.once('error', () => end(false));
    socket.connect(53, address, () => end(true));
  });

/** Whether an address belongs to this machine, a private network or no host (RFC 6890): no public server has it. */
const isPrivateAddress = (address: string): boolean =>
  privateNetworks.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');

/** Mapped IPv4 addresses are checked as IPv4; NAT64 addresses contain one too. */
const privateNetworks = new BlockList();
const networks =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.168.0.0/16 ' +
  '198.18.0.0/15 224.0.0.0/3 ::/127 64:ff9b::/96 64:ff9b:1::/48 fc00::/7 fe80::/10 fec0::/10 ff00::/8';
for (const network of networks.split(' ')) {
  const [address = '', prefix] = network.split('/');
  privateNetworks.addSubnet(address, Number(prefix), isIPv6(address) ? 'ipv6' : 'ipv4');
}
