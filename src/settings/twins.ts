import { UserError } from '../errors.ts';
import type { ClientSettings } from './client.ts';

/** A client, and where it is set. */
export interface NamedClient {
  /** A file, or a key of the settings file. */
  readonly file: string;
  readonly client: ClientSettings;
}

/**
 * Which of the new clients are the same as another one, and why that cannot be: two with the same templates would undo
 * each other's writes.
 */
export const findTwins = <One extends NamedClient>(
  known: readonly One[],
  added: readonly One[],
  hasTokens: boolean,
): ReadonlyMap<One, string> => {
  const problems = new Map<One, string>();
  const isNew = new Set(added);
  const first = new Map<string, One>();
  for (const one of [...known, ...added]) {
    for (const [key, what] of keysOf(one.client, hasTokens)) {
      const other = first.get(key);
      if (other === undefined) first.set(key, one);
      else {
        if (isNew.has(one)) problems.set(one, `${what} as ${other.file}`);
        if (isNew.has(other) && !problems.has(other)) problems.set(other, `${what} as ${one.file}`);
      }
    }
  }
  return problems;
};

const keysOf = (client: ClientSettings, hasTokens: boolean): [string, string][] => {
  const identity = hasTokens ? identityOf(client) : null;
  return [
    [`name ${client.name}`, `the same client name, ${client.name},`],
    ...(identity === null
      ? []
      : [[identity, 'the same base URL and client token'] satisfies [string, string]]),
  ];
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
