import type { HistoryRequest } from '../daemon/context.ts';
import type { ClientSettings } from '../settings/client.ts';
import type { HistoryEntry } from '../state/memory.ts';
import { storeLocation, type StoreLocation } from '../state/store-location.ts';
import type { StateStore } from '../state/store-handle.ts';

/** One write, as commands and API show it; `at` is ISO 8601. */
export type ShownEntry = { readonly at: string; readonly client: string } & Omit<HistoryEntry, 'at'>;

/** The newest writes of these clients, the oldest first. It yields to other tasks, and ends when the caller is gone. */
export const newestWrites = async (
  { clients, isSandbox, query, redact, signal }: HistoryRequest,
  store: StateStore,
): Promise<readonly ShownEntry[]> => {
  const { since, limit } = query;
  let newest: PlacedEntry[] = [];
  for (const settings of clients) {
    if (signal?.aborted === true) return [];
    // What is older than all of so many others is not among them.
    const from = newest.length < limit ? since : Math.max(since, newest[0]!.at);
    const found = await store.read(
      locationOf(settings, isSandbox),
      async (memory) => (await memory?.history({ ...query, since: from })) ?? [],
    );
    const placed = redact(found).map(({ at, ...entry }) => ({
      at,
      entry: { at: new Date(at).toISOString(), client: settings.name, ...entry },
    }));
    newest = [...newest, ...placed].sort(byTime).slice(-limit);
  }
  return newest.map(({ entry }) => entry);
};

interface PlacedEntry {
  /** Ms since the epoch. */
  readonly at: number;
  readonly entry: ShownEntry;
}

/** Writes of the same millisecond are ordered by client; those of one client stay in order. */
const byTime = (one: PlacedEntry, other: PlacedEntry): number =>
  one.at - other.at ||
  (one.entry.client < other.entry.client ? -1 : Number(one.entry.client > other.entry.client));

/** The names of all templates that have been managed. */
export const managedTemplates = async (
  clients: readonly ClientSettings[],
  isSandbox: boolean,
  store: StateStore,
): Promise<string[]> => {
  const found = await Promise.all(
    clients.map((settings) =>
      store.read(locationOf(settings, isSandbox), async (memory) => (await memory?.templates()) ?? []),
    ),
  );
  return found.flat().map(({ template }) => template);
};

const locationOf = (settings: ClientSettings, isSandbox: boolean): StoreLocation =>
  storeLocation(settings, settings.tokens.read().clientToken, isSandbox);
