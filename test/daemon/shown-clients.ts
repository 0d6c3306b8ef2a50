import { createMetrics, noPass, timesAfter, type Seen } from '../../src/daemon/metrics.ts';
import { Results } from '../../src/daemon/clients/client-state.ts';
import type { PassResult, Status } from '../../src/result.ts';
import { parseScrape, type Scrape } from './scrape.ts';

/** Clients that have passes, as a scrape shows them. */
export const shownClients = (version = '1', options: Parameters<typeof createMetrics>[1] = {}) => {
  const metrics = createMetrics(version, options);
  const found = new Map<string, { times: typeof noPass; readonly results: Results }>();
  const add = (client: string) => {
    const one = found.get(client) ?? { times: noPass, results: new Results() };
    if (!found.has(client)) metrics.addClient(client);
    found.set(client, one);
    return one;
  };
  /** A pass that ended; without a result, it could not begin. */
  const pass = (status: Status, result: PassResult | null, client = 'acme'): void => {
    const one = add(client);
    const trigger = 'schedule';
    const durationMs = result?.durationMs ?? 0;
    const error = result === null ? 'Why.' : result.holdReason;
    metrics.countPass({ client, trigger, status, durationMs });
    const startedAt = Date.now() - durationMs;
    const entry = { client, trigger, startedAt, durationMs, status, written: 0, left: null, error } as const;
    one.times = timesAfter(one.times, entry);
    if (result !== null) one.results.add(result);
  };
  const remove = async (client: string): Promise<void> => {
    found.delete(client);
    await metrics.removeClient(client);
  };
  const text = (more: Partial<Seen> = {}): Promise<string> => {
    const clients = [...found].map(([client, { times, results }]) => ({
      client,
      latest: results.latest,
      ...times,
    }));
    return metrics.text({ clients, refused: [], queueDepth: 0, ...more });
  };
  const scrape = async (more?: Partial<Seen>): Promise<Scrape> => parseScrape(await text(more));
  return { metrics, add, pass, remove, text, scrape };
};
