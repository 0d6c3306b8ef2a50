import { existsSync } from 'node:fs';
import type { ClientSettings } from '../settings/client.ts';
import { memoryPlace } from '../state/memory-place.ts';
import type { HistoryEntry, HistoryFilter, MemoryReader } from '../state/memory.ts';
import { openForReading } from '../state/read-copy.ts';

/** One write, as commands and API show it; `at` is ISO 8601. */
export type ShownEntry = { readonly at: string; readonly client: string } & Omit<HistoryEntry, 'at'>;

export const shownEntry = (client: string, { at, ...entry }: HistoryEntry): ShownEntry => ({
  at: new Date(at).toISOString(),
  client,
  ...entry,
});

/** The history of writes of a client, the oldest first; empty if there is no saved state yet. */
export const readHistory = async (
  settings: ClientSettings,
  isSandbox: boolean,
  filter: HistoryFilter,
): Promise<ShownEntry[]> => {
  return withMemory(settings, isSandbox, async (memory) =>
    (await memory.history(filter)).map((entry) => shownEntry(settings.name, entry)),
  );
};

/** The names of all templates that have been managed. */
export const managedTemplates = (settings: ClientSettings, isSandbox: boolean): Promise<string[]> =>
  withMemory(settings, isSandbox, async (memory) =>
    (await memory.templates()).map(({ template }) => template),
  );

const withMemory = async <T>(
  settings: ClientSettings,
  isSandbox: boolean,
  task: (memory: MemoryReader) => Promise<T[]>,
): Promise<T[]> => {
  const { file, digest } = memoryPlace(settings, settings.tokens.read().clientToken, isSandbox);
  if (!existsSync(file)) return [];
  const memory = await openForReading(file, digest);
  try {
    return await task(memory);
  } finally {
    await memory.close('later');
  }
};
