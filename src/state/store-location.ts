import { createHash } from 'node:crypto';
import path from 'node:path';
import type { SavedAt } from '../model/saved-at.ts';

/** Where the state of one client is, and whose it is. */
export interface StoreLocation extends SavedAt {
  /** Normalised; null for the embedded service, whose clients differ only by name. */
  readonly baseUrl: string | null;
  readonly name: string;
  /** The names of all configured clients: the others are different clients, whatever templates they show. */
  readonly names: readonly string[];
}

/** The owner of the state. */
interface Owner {
  readonly stateDir: string;
  readonly baseUrl: string;
  readonly name: string;
}

export const storeLocation = (
  { stateDir, baseUrl, name }: Owner,
  clientToken: string,
  isSandbox: boolean,
  names: readonly string[] = [],
): StoreLocation => {
  const address = isSandbox ? null : normalBaseUrl(baseUrl);
  return {
    file: isSandbox ? path.join(stateDir, 'sandbox-memory.db') : storeFileIn(stateDir),
    stateDir,
    digest: digestOf(address === null ? `sandbox ${name}` : `${address} ${clientToken}`),
    baseUrl: address,
    name,
    names,
    isSandbox,
  };
};

/** For all clients of a service. */
export const storeFileIn = (stateDir: string): string => path.join(stateDir, 'memory.db');

/** The lock for writing the state of a scope. */
export const scopeLockOf = (scope: string): string => `lock-${scope}`;

/** The lock for identifying an unknown token. */
export const identityLockOf = ({ baseUrl }: StoreLocation): string => `identity-${digestOf(baseUrl ?? '')}`;

/** Scheme and host in lower case, without the default port, the host's final dot and slashes at the end. */
const normalBaseUrl = (baseUrl: string): string => {
  if (!URL.canParse(baseUrl)) return baseUrl;
  const { protocol, hostname, port, pathname } = new URL(baseUrl);
  const host = hostname.replace(/\.$/, '');
  return `${protocol}//${host}${port === '' ? '' : `:${port}`}${pathname}`.replace(/\/+$/, '');
};

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);
