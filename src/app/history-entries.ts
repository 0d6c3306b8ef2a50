import type { ClientSettings } from '../settings/client.ts';
import { storeLocation } from '../state/store-location.ts';
import type { HistoryEntry, HistoryFilter, MemoryReader } from '../state/memory.ts';
import type { StateStore } from '../state/store.ts';

/** One write, as commands and API show it; `at` is ISO 8601. */
export type ShownEntry = { readonly at: string; readonly client: string } & Omit<HistoryEntry, 'at'>;

export const shownEntry = (client: string, { at, ...entry }: HistoryEntry): ShownEntry => ({
  at: new Date(at).toISOString(),
  client,
  ...entry,
});

/** The history of writes of a client, the oldest first; empty if there is no saved state yet. */
export const readHistory = async (
  store: StateStore,
  settings: ClientSettings,
  isSandbox: boolean,
  filter: HistoryFilter,
): Promise<ShownEntry[]> => {
  return withMemory(store, settings, isSandbox, async (memory) =>
    (await memory.history(filter)).map((entry) => shownEntry(settings.name, entry)),
  );
};

/** The names of all templates that have been managed. */
export const managedTemplates = (
  store: StateStore,
  settings: ClientSettings,
  isSandbox: boolean,
): Promise<string[]> =>
  withMemory(store, settings, isSandbox, async (memory) =>
    (await memory.templates()).map(({ template }) => template),
  );

const withMemory = async <T>(
  store: StateStore,
  settings: ClientSettings,
  isSandbox: boolean,
  task: (memory: MemoryReader) => Promise<T[]>,
): Promise<T[]> => {
  const location = storeLocation(settings, settings.tokens.read().clientToken, isSandbox);
  return store.read(location, async (memory) => (memory === null ? [] : task(memory)));
};
