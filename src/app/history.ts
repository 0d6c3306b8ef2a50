import type { HistoryEntry } from '../state/memory.ts';
import type { Client } from './client.ts';

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

/** The newest writes of these clients, the oldest first, without secrets. */
export const newestWrites = async (
  clients: readonly HistoryClient[],
  query: HistoryQuery,
  redact: <T>(value: T) => T,
): Promise<readonly ShownEntry[]> => {
  const { since, limit } = query;
  let newest: ShownEntry[] = [];
  for (const client of clients) {
    // What is older than all of so many others is not among them.
    const from = newest.length < limit ? since : Math.max(since, Date.parse(newest[0]!.at));
    const found = await client.saved(
      async (memory) => (await memory?.history({ ...query, since: from })) ?? [],
    );
    const own = redact(found).map(({ at, ...entry }) => ({
      at: new Date(at).toISOString(),
      client: client.settings.name,
      ...entry,
    }));
    newest = [...newest, ...own]
      .sort((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)))
      .slice(-limit);
  }
  return newest;
};

type HistoryClient = Pick<Client, 'saved'> & { readonly settings: { readonly name: string } };
