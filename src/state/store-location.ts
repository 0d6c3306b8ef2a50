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
    scope: scopeOf(address, name),
    baseUrl: address,
    name,
    token: digestOf(address === null ? `sandbox ${name}` : `${address} ${clientToken}`),
    names,
    isSandbox,
  };
};

/** The key of a client's rows. `baseUrl`: normalised; null for the embedded service. */
const scopeOf = (baseUrl: string | null, name: string): string =>
  digestOf(baseUrl === null ? `sandbox ${name}` : `${baseUrl}\n${name}`);

/** For all clients of a service. */
const storeFileIn = (stateDir: string): string => path.join(stateDir, 'memory.db');

/** The lock of the name, under which the state is written. */
export const nameLockOf = ({ scope }: Pick<StoreLocation, 'scope'>): string => `name-${scope}`;

/** The lock of the token, which version 0.1 takes too. */
export const tokenLockOf = ({ token }: Pick<StoreLocation, 'token'>): string => `lock-${token}`;

/** Scheme and host in lower case, without the default port, the host's final dot and slashes at the end. */
const normalBaseUrl = (baseUrl: string): string => {
  if (!URL.canParse(baseUrl)) return baseUrl;
  const { protocol, hostname, port, pathname } = new URL(baseUrl);
  const host = hostname.replace(/\.$/, '');
  return `${protocol}//${host}${port === '' ? '' : `:${port}`}${pathname}`.replace(/\/+$/, '');
};

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);
