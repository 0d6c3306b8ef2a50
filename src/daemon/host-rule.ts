import { isIP } from 'node:net';

/**
 * Whether a request under this Host header is meant for us. A web page of somebody else can make a browser send
 * requests here under its own name (DNS rebinding), but never under an address or a name that we know.
 */
export const isKnownHost = (header: string | undefined, allowed: readonly string[]): boolean => {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::\d{1,5})?$/.exec(header ?? '');
  const host = (match?.[1] ?? match?.[2] ?? '').toLowerCase();
  return isIP(host) !== 0 || host === 'localhost' || allowed.includes(host);
};
