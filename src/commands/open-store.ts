import type { Settings } from '../settings.ts';
import { postgresStore } from '../state/postgres/store.ts';
import { fileStore, type StateStore } from '../state/store.ts';

/** The store that the settings name. Nothing is opened before it is needed. */
export const openStore = (
  { store, leaseDuration }: Pick<Settings, 'store' | 'leaseDuration'>,
  mayBeSource = false,
): StateStore =>
  store === null ? fileStore : postgresStore({ url: () => store.read(), leaseDuration, mayBeSource });
