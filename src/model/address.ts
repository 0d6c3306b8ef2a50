import { isIPv4 } from 'node:net';
import { canonicalIPv6 } from './ipv6.ts';

/** Also with a zone index, as copied from a machine. */
export const isAddress = (text: string): boolean =>
  isIPv4(text) || (text.includes(':') && canonicalIPv6(text.split('%', 1)[0]!) !== null);

/** Whether the host of a URL is this machine. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' ||
  host.endsWith('.localhost') ||
  host === '[::1]' ||
  (isIPv4(host) && host.startsWith('127.'));
