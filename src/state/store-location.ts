import { createHash } from 'node:crypto';
import path from 'node:path';
import type { SavedAt } from '../model/suspension.ts';

/** Where the state of one client is, and whose it is. */
export interface StoreLocation extends SavedAt {
  /** Normalised; null for the embedded service, where no client can be another one. */
  readonly baseUrl: string | null;
  readonly name: string;
  /** The digest of base URL and client token; the token itself is not stored. */
  readonly token: string;
  /** The names of all configured clients: none of them was renamed. */
  readonly names: readonly string[];
}

export const storeLocation = (
  { stateDir, baseUrl, name }: Pick<StoreLocation, 'stateDir' | 'name'> & { readonly baseUrl: string },
  clientToken: string,
  isSandbox: boolean,
  names: readonly string[] = [],
): StoreLocation => {
  const address = isSandbox ? null : normalBaseUrl(baseUrl);
  return {
    file: path.join(stateDir, isSandbox ? 'sandbox-memory.db' : 'memory.db'),
    stateDir,
    scope: digestOf(address === null ? `sandbox ${name}` : `${address}\n${name}`),
    baseUrl: address,
    name,
    token: digestOf(address === null ? `sandbox ${name}` : `${address} ${clientToken}`),
    names,
    isSandbox,
  };
};

/** Scheme and host in lower case, without the default port, the host's final dot and slashes at the end. */
const normalBaseUrl = (baseUrl: string): string => {
  if (!URL.canParse(baseUrl)) return baseUrl;
  const { protocol, hostname, port, pathname } = new URL(baseUrl);
  const host = hostname.replace(/\.$/, '');
  return `${protocol}//${host}${port === '' ? '' : `:${port}`}${pathname}`.replace(/\/+$/, '');
};

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);
