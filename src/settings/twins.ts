import { UserError } from '../errors.ts';
import type { ClientSettings } from './client.ts';

type Placed = readonly (readonly [place: string, client: ClientSettings])[];

/**
 * What is wrong with clients, by their places, that are the same as one at another place: two with the same templates
 * would undo each other's writes. `inUse` come first.
 */
export const findTwins = (
  clients: Placed,
  hasTokens: boolean,
  inUse: Placed = [],
): ReadonlyMap<string, string> => {
  const twins = new Map<string, string>();
  const taken = new Map(
    inUse.flatMap(([place, client]) => identitiesOf(client, hasTokens).map(({ key }) => [key, place])),
  );
  const first = new Map<string, string>();
  for (const [place, client] of clients)
    for (const { key, same } of identitiesOf(client, hasTokens)) {
      const other = taken.get(key) ?? first.get(key) ?? place;
      if (!first.has(key)) first.set(key, place);
      if (other === place) continue;
      twins.set(place, `${same} as ${other}: keep one of them`);
      if (!taken.has(key)) twins.set(other, twins.get(other) ?? `${same} as ${place}: keep one of them`);
    }
  return twins;
};

const identitiesOf = (client: ClientSettings, hasTokens: boolean) => {
  const name = { key: client.name, same: `the same client name, ${client.name},` };
  const access = hasTokens ? accessOf(client) : null;
  return access === null ? [name] : [name, { key: access, same: 'the same base URL and client token' }];
};

/** Of clients that stay, token files are not read each time that another one changes. */
const known = new WeakMap<ClientSettings, string>();

/** Null if its token cannot be read any more. */
const accessOf = (client: ClientSettings): string | null => {
  try {
    const access = known.get(client) ?? JSON.stringify([client.baseUrl, client.tokens.read().clientToken]);
    known.set(client, access);
    return access;
  } catch (error) {
    if (error instanceof UserError) return null;
    throw error;
  }
};
