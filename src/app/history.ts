import type { ClientSettings } from '../settings/client.ts';
import type { HistoryEntry } from '../state/memory.ts';
import { storeLocation, type StoreLocation } from '../state/store-location.ts';
import type { StateStore } from '../state/store-handle.ts';

/** One write, as commands and API show it; `at` is ISO 8601. */
export type ShownEntry = { readonly at: string; readonly client: string } & Omit<HistoryEntry, 'at'>;

export const outcomes = ['applied', 'failed', 'unknown', 'duplicate'] as const;

/** A query of the history of writes. */
export interface HistoryQuery {
  /** Empty: all. */
  readonly templates: readonly string[];
  /** Ms since the epoch. */
  readonly since: number;
  /** Null: any. */
  readonly outcome: (typeof outcomes)[number] | null;
  /** At most this many, the newest. */
  readonly limit: number;
}

interface HistoryRequest {
  readonly clients: readonly ClientSettings[];
  readonly isSandbox: boolean;
  readonly query: HistoryQuery;
  /** Replaces every secret in the writes. */
  readonly redact: <T>(value: T) => T;
}

/** The newest writes of these clients, the oldest first. */
export const newestWrites = async (
  { clients, isSandbox, query, redact }: HistoryRequest,
  store: StateStore,
): Promise<readonly ShownEntry[]> => {
  const { since, limit } = query;
  let newest: ShownEntry[] = [];
  for (const settings of clients) {
    // What is older than all of so many others is not among them.
    const from = newest.length < limit ? since : Math.max(since, Date.parse(newest[0]!.at));
    const found = await store.read(
      locationOf(settings, isSandbox),
      async (memory) => (await memory?.history({ ...query, since: from })) ?? [],
    );
    const own = redact(found).map(({ at, ...entry }) => ({
      at: new Date(at).toISOString(),
      client: settings.name,
      ...entry,
    }));
    newest = [...newest, ...own]
      .sort((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)))
      .slice(-limit);
  }
  return newest;
};

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
