import type { Suspension } from '../model/suspension.ts';
import type { ClientSettings } from '../settings/client.ts';
import { storeLocation, type StoreLocation } from '../state/store-location.ts';
import type { StateStore } from '../state/store.ts';

/** What is suspended of each of these clients at the moment, by client. Leaves out those whose tokens cannot be read. */
export const suspendedClients = async (
  clients: readonly ClientSettings[],
  isSandbox: boolean,
  store: Pick<StateStore, 'suspended'>,
): Promise<ReadonlyMap<string, readonly Suspension[]>> => {
  const locations = clients.flatMap((client) => locationOf(client, isSandbox) ?? []);
  const found = await store.suspended(locations);
  return new Map(locations.map(({ name }, at) => [name, found[at]!]));
};

const locationOf = (client: ClientSettings, isSandbox: boolean): StoreLocation | null => {
  try {
    return storeLocation(client, client.tokens.read().clientToken, isSandbox);
  } catch {
    return null;
  }
};
