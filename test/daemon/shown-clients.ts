import type { Seen } from '../../src/daemon/metrics/gauges.ts';
import { createMetrics } from '../../src/daemon/metrics/metrics.ts';
import { LatestResults } from '../../src/daemon/passes/latest-results.ts';
import { PassHistory } from '../../src/daemon/passes/pass-history.ts';
import type { PassResult, Status } from '../../src/result.ts';
import { parseScrape, type Scrape } from './scrape.ts';

/** Clients that have passes, as a scrape shows them. */
export const shownClients = (version = '1', options: Parameters<typeof createMetrics>[1] = {}) => {
  const metrics = createMetrics(version, options);
  const passHistory = new PassHistory();
  const found = new Map<string, LatestResults>();
  const add = (client: string): LatestResults => {
    const latest = found.get(client) ?? new LatestResults();
    if (!found.has(client)) metrics.addClient(client);
    found.set(client, latest);
    return latest;
  };
  /** A pass that ended; without a result, it could not begin. */
  const pass = (status: Status, result: PassResult | null, client = 'acme'): void => {
    const latest = add(client);
    const trigger = 'schedule';
    const durationMs = result?.durationMs ?? 0;
    const error = result === null ? 'Why.' : result.holdReason;
    metrics.countPass({ client, trigger, status, durationMs });
    const startedAt = Date.now() - durationMs;
    passHistory.add({ client, trigger, startedAt, durationMs, status, written: 0, left: null, error });
    if (result !== null) latest.add(result);
  };
  const remove = async (client: string): Promise<void> => {
    found.delete(client);
    passHistory.forget(client);
    await metrics.removeClient(client);
  };
  const text = (more: Partial<Seen> = {}): Promise<string> => {
    const clients = [...found].map(([client, { result }]) => ({
      client,
      latest: result,
      ...passHistory.timesOf(client),
    }));
    return metrics.text({ clients, refused: [], queueDepth: 0, ...more });
  };
  const scrape = async (more?: Partial<Seen>): Promise<Scrape> => parseScrape(await text(more));
  return { metrics, add, pass, remove, text, scrape };
};
