import { setImmediate } from 'node:timers/promises';
import type { HistoryRequest } from '../daemon/context.ts';
import type { HistoryCursor, HistoryPage } from '../daemon/http/history-query.ts';
import type { ClientSettings } from '../settings/client.ts';
import { storeLocation } from '../state/store-location.ts';
import type { FoundSlice, HistoryPlace, HistorySlice } from '../state/memory.ts';
import type { StateStore } from '../state/store.ts';
import { shownEntry, type ShownEntry } from './history-entries.ts';

/**
 * The newest writes of these clients before a position, the oldest of them first. It yields to other tasks,
 * and ends when the caller is gone.
 */
export const readHistoryPage = async (
  request: HistoryRequest,
  store: StateStore,
): Promise<HistoryPage<ShownEntry>> => {
  const { clients, query } = request;
  const sources = clients.map((client) => backwards(client, request, store));
  const found: PlacedEntry[] = [];
  try {
    const heads = await Promise.all(sources.map(nextOf));
    while (found.length <= query.limit) {
      const newest = heads.reduce(newer, null);
      if (newest === null) break;
      found.push(newest);
      const index = heads.indexOf(newest);
      heads[index] = await nextOf(sources[index]);
    }
  } finally {
    await Promise.all(sources.map((source) => source.return(undefined)));
  }
  const page = found.slice(0, query.limit);
  const last = page.at(-1);
  return {
    entries: page.toReversed().map(({ entry }) => entry),
    next: last === undefined || found.length === page.length ? null : last,
  };
};

/** A write, and its position in the history of all clients. */
interface PlacedEntry extends HistoryCursor {
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
  const { templates, since, outcome, before } = query;
  const filter = { templates, since, ...(outcome === null ? {} : { outcome }), rows: rowsAtOnce };
  let place: HistoryPlace | null = startIn(client, before);
  while (place !== null) {
    if (signal?.aborted === true) return;
    const slice: HistorySlice = { ...filter, before: place };
    const found: FoundSlice | null = await store.read(
      location,
      async (memory) => (await memory?.historySlice(slice)) ?? null,
    );
    for (const { id, ...entry } of redact(found?.entries ?? []))
      yield { client, at: entry.at, id, entry: shownEntry(client, entry) };
    place = found?.end ?? null;
    await setImmediate();
  }
}

/** Rows that take a few milliseconds. */
const rowsAtOnce = 100;

/** Writes of the same millisecond are ordered by client. */
const startIn = (client: string, before: HistoryCursor | null): HistoryPlace => {
  if (before === null) return { at: Number.MAX_SAFE_INTEGER, id: 0 };
  const { at } = before;
  if (client === before.client) return { at, id: before.id };
  return { at, id: client < before.client ? Number.MAX_SAFE_INTEGER : 0 };
};

const nextOf = async (
  source: AsyncGenerator<PlacedEntry, undefined> | undefined,
): Promise<PlacedEntry | null> => (await source?.next())?.value ?? null;

const newer = (one: PlacedEntry | null, other: PlacedEntry | null): PlacedEntry | null => {
  if (one === null || other === null) return one ?? other;
  if (one.at !== other.at) return one.at > other.at ? one : other;
  return one.client > other.client ? one : other;
};
