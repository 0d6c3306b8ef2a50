import { BlockList, isIPv6 } from 'node:net';

/** Whether an address belongs to this machine, a private network or no host (RFC 6890): no public server has it. */
export const isPrivateAddress = (address: string): boolean =>
  blocks.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');

/** The list checks mapped IPv4 addresses as IPv4; NAT64 addresses contain one too. */
const networks =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.168.0.0/16 ' +
  '198.18.0.0/15 224.0.0.0/3 ::/127 64:ff9b::/96 64:ff9b:1::/48 fc00::/7 fe80::/10 fec0::/10 ff00::/8';

const blocks = new BlockList();
for (const network of networks.split(' ')) {
  const [address = '', prefix] = network.split('/');
  blocks.addSubnet(address, Number(prefix), isIPv6(address) ? 'ipv6' : 'ipv4');
}
