import { SocketAddress } from 'node:net';

/**
 * An IPv6 address (RFC 4291 §2.2) in the form of RFC 5952; null if the text is not one. A zone index has no
 * meaning in the DNS, so a text with one is not an address.
 */
export const canonicalIPv6 = (text: string): string | null => {
  if (text.includes('%') || !text.includes(':')) return null;
  try {
    return new SocketAddress({ address: text, family: 'ipv6' }).address.replace(compatible, inGroups);
  } catch {
    return null;
  }
};

/** Node.js writes all of `::/96` with dots, where RFC 5952 §5 has them for known prefixes alone. */
const compatible = /^::(\d+)\.(\d+)\.(\d+)\.(\d+)$/;

const inGroups = (_: string, ...bytes: readonly string[]): string => {
  const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number);
  const groups = [a * 256 + b, c * 256 + d].map((group) => group.toString(16));
  return `::${groups.join(':').replace(/^0:/, '')}`;
};
