import { createMetrics, type Seen } from '../../src/daemon/metrics.ts';
import { KnownState } from '../../src/daemon/clients/known.ts';
import type { PassResult, Status } from '../../src/result.ts';
import { parseScrape, type Scrape } from './scrape.ts';

/** Clients that have passes, as a scrape shows them. */
export const shownClients = (version = '1', options: Parameters<typeof createMetrics>[1] = {}) => {
  const metrics = createMetrics(version, options);
  const found = new Map<string, KnownState>();
  const add = (client: string): KnownState => {
    const one = found.get(client) ?? new KnownState();
    if (!found.has(client)) metrics.addClient(client);
    found.set(client, one);
    return one;
  };
  /** A pass that ended; without a result, it could not begin. */
  const pass = (status: Status, result: PassResult | null, client = 'acme'): void => {
    const known = add(client);
    const durationMs = result?.durationMs ?? 0;
    const error = result === null ? 'Why.' : result.holdReason;
    const startedAt = Date.now() - durationMs;
    const left = { written: 0, left: null };
    const entry = { client, trigger: 'schedule', startedAt, durationMs, status, error, ...left } as const;
    metrics.countPass(entry);
    known.add(result, error);
    known.end(entry);
  };
  const remove = async (client: string): Promise<void> => {
    found.delete(client);
    await metrics.removeClient(client);
  };
  /** `waiting`: clients whose pass waits; `refused`: clients whose settings are not in use. */
  const text = (waiting: readonly string[] = [], refused: readonly string[] = []): Promise<string> => {
    const clients: Seen['clients'] = [...found].map(([name, known]) => ({
      name,
      known,
      state: { waiting: waiting.includes(name) ? 'schedule' : null },
    }));
    return metrics.text({ clients, problems: refused.map((client) => ({ client })) });
  };
  const scrape = async (...seen: Parameters<typeof text>): Promise<Scrape> =>
    parseScrape(await text(...seen));
  return { metrics, add, pass, remove, text, scrape };
};
