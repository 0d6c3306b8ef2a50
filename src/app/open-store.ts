import type { Settings } from '../settings.ts';
import { postgresStore, type PostgresStore, type PostgresStoreOptions } from '../cluster/postgres/store.ts';
import { fileStore, type StateStore } from '../state/store.ts';

/** The store that the settings name. Nothing is opened before it is needed. */
export const openStore = (
  { store, leaseDuration, storeConnections }: Pick<Settings, 'store' | 'leaseDuration' | 'storeConnections'>,
  more: Pick<PostgresStoreOptions, 'mayBeSource' | 'onLeaseChange'> = {},
): StateStore | PostgresStore =>
  store === null
    ? fileStore
    : postgresStore({ ...more, url: () => store.read(), connections: storeConnections, leaseDuration });
