import { SocketAddress } from 'node:net';

/**
 * An IPv6 address (RFC 4291 §2.2) in the form of RFC 5952; null if the text is not one. A zone index has no
 * meaning in the DNS, so a text with one is not an address.
 */
export const canonicalIPv6 = (text: string): string | null => {
  if (text.includes('%') || !text.includes(':')) return null;
  try {
    return new SocketAddress({ address: text, family: 'ipv6' }).address;
  } catch {
    return null;
  }
};
