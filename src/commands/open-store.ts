import type { Settings } from '../settings.ts';
import { postgresStore, type PostgresStoreOptions } from '../state/postgres/store.ts';
import { fileStore, type StateStore } from '../state/store.ts';

/** The store that the settings name. Nothing is opened before it is needed. */
export const openStore = (
  { store, leaseDuration }: Pick<Settings, 'store' | 'leaseDuration'>,
  more: Pick<PostgresStoreOptions, 'mayBeSource' | 'onLeaseChange'> = {},
): StateStore =>
  store === null ? fileStore : postgresStore({ ...more, url: () => store.read(), leaseDuration });
