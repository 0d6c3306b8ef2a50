import { setImmediate } from 'node:timers/promises';
import type { HistoryRequest } from '../daemon/context.ts';
import type { ClientSettings } from '../settings/client.ts';
import type { FoundSlice, HistoryEntry, HistoryPlace, HistorySlice } from '../state/memory.ts';
import { storeLocation, type StoreLocation } from '../state/store-location.ts';
import type { StateStore } from '../state/store-handle.ts';

/** One write, as commands and API show it; `at` is ISO 8601. */
export type ShownEntry = { readonly at: string; readonly client: string } & Omit<HistoryEntry, 'at'>;

/** The newest writes of these clients, the oldest first. It yields to other tasks. */
export const newestWrites = async (
  { clients, isSandbox, query, redact }: HistoryRequest,
  store: StateStore,
): Promise<readonly ShownEntry[]> => {
  const { templates, since, outcome, limit } = query;
  const filter = { templates, ...(outcome === null ? {} : { outcome }), rows: rowsAtOnce };
  let newest: ShownEntry[] = [];
  for (const settings of clients) {
    const location = locationOf(settings, isSandbox);
    // What is older than all of so many others is not among them.
    const from = newest.length < limit ? since : Math.max(since, Date.parse(newest[0]!.at));
    const found: ShownEntry[] = [];
    let before: HistoryPlace | null = { at: Number.MAX_SAFE_INTEGER, id: 0 };
    while (before !== null && found.length < limit) {
      const next: HistorySlice = { ...filter, since: from, before };
      const read: FoundSlice | null = await store.read(
        location,
        async (memory) => (await memory?.historySlice(next)) ?? null,
      );
      for (const { id: _, at, ...entry } of redact(read?.entries ?? []))
        found.push({ at: new Date(at).toISOString(), client: settings.name, ...entry });
      before = read?.end ?? null;
      await setImmediate();
    }
    newest = [...newest, ...found.toReversed()]
      .sort((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)))
      .slice(-limit);
  }
  return newest;
};

/** Rows that take a few milliseconds. */
const rowsAtOnce = 100;

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
