import { UserError } from '../errors.ts';
import type { ClientSettings } from './client.ts';

/** A client, and where it is set: a file, or a key of the settings file. */
export interface NamedClient {
  readonly file: string;
  readonly client: ClientSettings;
}

export interface Twin<One> {
  readonly other: One;
  /** What both have. */
  readonly same: string;
}

/**
 * Which of the clients are the same as an earlier one, and which are the same as a later one: two with the same templates
 * would undo each other's writes.
 */
export const findTwins = <One extends NamedClient>(
  clients: readonly One[],
  hasTokens: boolean,
): ReadonlyMap<One, Twin<One>> => {
  const twins = new Map<One, Twin<One>>();
  const first = new Map<string, One>();
  for (const one of clients) {
    const identity = hasTokens ? identityOf(one.client) : null;
    for (const [key, same] of [
      [`name ${one.client.name}`, `the same client name, ${one.client.name},`],
      [identity, 'the same base URL and client token'],
    ] as const) {
      const other = key === null ? one : (first.get(key) ?? one);
      if (other === one) {
        if (key !== null) first.set(key, one);
        continue;
      }
      twins.set(one, { other, same });
      if (!twins.has(other)) twins.set(other, { other: one, same });
    }
  }
  return twins;
};

/** Of clients that stay, token files are not read each time that another one changes. */
const identities = new WeakMap<ClientSettings, string>();

/** Null if its token cannot be read any more. */
const identityOf = (client: ClientSettings): string | null => {
  const known = identities.get(client);
  if (known !== undefined) return known;
  try {
    const identity = JSON.stringify([client.baseUrl, client.tokens.read().clientToken]);
    identities.set(client, identity);
    return identity;
  } catch (error) {
    if (error instanceof UserError) return null;
    throw error;
  }
};
