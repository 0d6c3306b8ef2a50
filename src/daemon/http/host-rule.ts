import { isIP } from 'node:net';

/**
 * Whether this Host header names us. A foreign web page can make a browser send requests here under its own
 * host name (DNS rebinding), but not under an address or a name that we know.
 */
export const isKnownHost = (header: string | undefined, allowed: readonly string[]): boolean => {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::\d{1,5})?$/.exec(header ?? '');
  const host = (match?.[1] ?? match?.[2] ?? '').toLowerCase();
  return isIP(host) !== 0 || host === 'localhost' || allowed.includes(host);
};
