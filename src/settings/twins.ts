import { UserError } from '../errors.ts';
import type { ClientSettings } from './client.ts';

/** A client, and where it is set: a file, or a key of the settings file. */
interface NamedClient {
  readonly file: string;
  readonly client: ClientSettings;
}

/**
 * The clients that are the same as an earlier or else a later one, and what both have: two with the same templates would
 * undo each other's writes.
 */
export const findTwins = <One extends NamedClient>(
  clients: readonly One[],
  hasTokens: boolean,
): ReadonlyMap<One, { readonly other: One; readonly same: string }> => {
  const twins = new Map<One, { other: One; same: string }>();
  const first = new Map<string, One>();
  for (const one of clients) {
    const { name } = one.client;
    const keys = new Map([[`name ${name}`, `the same client name, ${name},`]]);
    const identity = hasTokens ? identityOf(one.client) : null;
    if (identity !== null) keys.set(identity, 'the same base URL and client token');
    for (const [key, same] of keys) {
      const other = first.get(key);
      if (other === undefined) first.set(key, one);
      else twins.set(one, { other, same });
      if (other !== undefined && !twins.has(other)) twins.set(other, { other: one, same });
    }
  }
  return twins;
};

/** Of clients that stay, token files are not read each time that another one changes. */
const identities = new WeakMap<ClientSettings, string>();

/** Null if its token cannot be read any more. */
const identityOf = (client: ClientSettings): string | null => {
  try {
    const identity =
      identities.get(client) ?? JSON.stringify([client.baseUrl, client.tokens.read().clientToken]);
    identities.set(client, identity);
    return identity;
  } catch (error) {
    if (error instanceof UserError) return null;
    throw error;
  }
};
