import { setImmediate } from 'node:timers/promises';
import type { HistoryRequest } from '../daemon/context.ts';
import type { ClientSettings } from '../settings/client.ts';
import { storeLocation } from '../state/store-location.ts';
import type { FoundSlice, HistoryPlace, HistorySlice } from '../state/memory.ts';
import type { StateStore } from '../state/store.ts';
import { shownEntry, type ShownEntry } from './history-entries.ts';

/** The newest writes of these clients, the oldest first. It yields to other tasks, and ends when the caller is gone. */
export const newestWrites = async (
  request: HistoryRequest,
  store: StateStore,
): Promise<readonly ShownEntry[]> => {
  const { clients, query } = request;
  const sources = clients.map((client) => backwards(client, request, store));
  const found: PlacedEntry[] = [];
  try {
    const heads = await Promise.all(sources.map(nextOf));
    while (found.length < query.limit) {
      const newest = heads.reduce(newer, null);
      if (newest === null) break;
      found.push(newest);
      const index = heads.indexOf(newest);
      heads[index] = await nextOf(sources[index]);
    }
  } finally {
    await Promise.all(sources.map((source) => source.return(undefined)));
  }
  return found.toReversed().map(({ entry }) => entry);
};

interface PlacedEntry {
  /** Ms since the epoch. */
  readonly at: number;
  readonly client: string;
  readonly entry: ShownEntry;
}

/** One after the other, the newest first. */
async function* backwards(
  settings: ClientSettings,
  { isSandbox, query, redact, signal }: HistoryRequest,
  store: StateStore,
): AsyncGenerator<PlacedEntry, undefined> {
  const location = storeLocation(settings, settings.tokens.read().clientToken, isSandbox);
  const client = settings.name;
  const { templates, since, outcome } = query;
  const filter = { templates, since, ...(outcome === null ? {} : { outcome }), rows: rowsAtOnce };
  let place: HistoryPlace | null = { at: Number.MAX_SAFE_INTEGER, id: 0 };
  while (place !== null) {
    if (signal?.aborted === true) return;
    const slice: HistorySlice = { ...filter, before: place };
    const found: FoundSlice | null = await store.read(
      location,
      async (memory) => (await memory?.historySlice(slice)) ?? null,
    );
    for (const { id: _, ...entry } of redact(found?.entries ?? []))
      yield { client, at: entry.at, entry: shownEntry(client, entry) };
    place = found?.end ?? null;
    await setImmediate();
  }
}

/** Rows that take a few milliseconds. */
const rowsAtOnce = 100;

const nextOf = async (
  source: AsyncGenerator<PlacedEntry, undefined> | undefined,
): Promise<PlacedEntry | null> => (await source?.next())?.value ?? null;

/** Writes of the same millisecond are ordered by client. */
const newer = (one: PlacedEntry | null, other: PlacedEntry | null): PlacedEntry | null => {
  if (one === null || other === null) return one ?? other;
  if (one.at !== other.at) return one.at > other.at ? one : other;
  return one.client > other.client ? one : other;
};
