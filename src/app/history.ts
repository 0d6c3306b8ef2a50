import { setImmediate } from 'node:timers/promises';
import type { HistoryRequest } from '../daemon/context.ts';
import type { ClientSettings } from '../settings/client.ts';
import type { FoundSlice, HistoryEntry, HistoryPlace, HistorySlice } from '../state/memory.ts';
import { storeLocation, type StoreLocation } from '../state/store-location.ts';
import type { StateStore } from '../state/store-handle.ts';

/** One write, as commands and API show it; `at` is ISO 8601. */
export type ShownEntry = { readonly at: string; readonly client: string } & Omit<HistoryEntry, 'at'>;

/** The newest writes of these clients, the oldest first. It yields to other tasks, and ends when the caller is gone. */
export const newestWrites = async (
  { clients, isSandbox, query, redact, signal }: HistoryRequest,
  store: StateStore,
): Promise<readonly ShownEntry[]> => {
  const { templates, since, outcome, limit } = query;
  const filter = { templates, ...(outcome === null ? {} : { outcome }), rows: rowsAtOnce };
  let newest: PlacedEntry[] = [];
  for (const settings of clients) {
    const location = locationOf(settings, isSandbox);
    // What is older than all of so many others is not among them.
    const slice = { ...filter, since: newest.length < limit ? since : Math.max(since, newest[0]!.at) };
    const found: PlacedEntry[] = [];
    let before: HistoryPlace | null = { at: Number.MAX_SAFE_INTEGER, id: 0 };
    while (before !== null && found.length < limit) {
      if (signal?.aborted === true) return [];
      const next: HistorySlice = { ...slice, before };
      const read: FoundSlice | null = await store.read(
        location,
        async (memory) => (await memory?.historySlice(next)) ?? null,
      );
      for (const { id: _, at, ...entry } of redact(read?.entries ?? []))
        found.push({ at, entry: { at: new Date(at).toISOString(), client: settings.name, ...entry } });
      before = read?.end ?? null;
      await setImmediate();
    }
    newest = [...newest, ...found.toReversed()].sort(byTime).slice(-limit);
  }
  return newest.map(({ entry }) => entry);
};

interface PlacedEntry {
  /** Ms since the epoch. */
  readonly at: number;
  readonly entry: ShownEntry;
}

/** Rows that take a few milliseconds. */
const rowsAtOnce = 100;

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
