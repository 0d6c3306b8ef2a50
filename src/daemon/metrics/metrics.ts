import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';
import type { Status, Trigger } from '../../result.ts';
import type { PageRefusal } from '../http/refusals.ts';
import { clientGauges, gauge, type Seen } from './gauges.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Metrics for Prometheus. Labels are clients, templates and fixed words only. Events are counted; gauges are made at the
 * scrape. Of so many templates at most there are series of their own: each has eleven.
 */
export const createMetrics = (version: string, { maxTemplates = 1_000 } = {}) => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision });
  const ours = (name: string, labelNames: readonly string[], help: string) => ({
    name: `dns_template_sync_${name}`,
    help,
    labelNames,
    registers: [registry],
  });
  const counter = (name: string, labels: readonly string[], help: string) =>
    new Counter(ours(name, labels, help));
  const histogram = (name: string, labels: readonly string[], buckets: number[], help: string) =>
    new Histogram({ ...ours(name, labels, help), buckets });
  let seen: Seen = { clients: [], refused: [], queueDepth: 0 };
  let owned: number | null = null;
  let isDatabaseUp: boolean | null = null;
  gauge(registry, 'build_info', ['version'], 'Always 1; the version of this program is a label.', () => [
    [{ version }, 1],
  ]);
  clientGauges(registry, () => seen, maxTemplates);

  const passes = counter(
    'passes_total',
    ['client', 'trigger', 'result'],
    'Finished passes, by trigger and by the worst status of their templates.',
  );
  const duration = histogram('pass_duration_seconds', [], passBuckets, 'How long passes took.');
  const changes = counter(
    'changes_total',
    ['client', 'action', 'outcome'],
    'Writes sent to the service, by outcome.',
  );
  const requests = counter(
    'requests_total',
    ['operation', 'status'],
    'Requests to the service, by HTTP status; none if there was no answer.',
  );
  const requestDuration = histogram(
    'request_duration_seconds',
    ['operation'],
    [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    'How long requests to the service took.',
  );
  const notifications = counter(
    'notifications_total',
    ['receiver', 'outcome'],
    'Messages to receivers: delivered, retried after a failed attempt, or dropped.',
  );
  const refusals = counter(
    'refused_requests_total',
    ['token', 'reason'],
    'HTTP requests refused because a token was missing or wrong, or because another site sent them.',
  );
  for (const token of ['trigger', 'page'])
    for (const reason of ['missing', 'wrong']) refusals.inc({ token, reason }, 0);
  refusals.inc({ token: 'trigger', reason: 'foreign' }, 0);

  // Where processes share a store.
  const lateness = histogram(
    'pass_lateness_seconds',
    [],
    [0.1, 0.25, 0.5, 0.75, 1, 1.5, 2.5, 5, 10, 30, 60, 120, 300, 600],
    'How long passes waited after their time had come.',
  );
  const takenOver = counter(
    'clients_taken_over_total',
    [],
    'Clients that this process took over from one that had not given them up.',
  );
  const lost = counter(
    'clients_lost_total',
    [],
    'Clients that this process lost, since it did not renew its lease in time.',
  );

  return {
    contentType: registry.contentType,
    /** All metrics in the text format. */
    text: (found: Seen): Promise<string> => {
      seen = found;
      return registry.metrics();
    },
    /** Creates the series of this client at 0, so that the first event shows as an increase. */
    addClient: (client: string): void => {
      for (const action of ['add', 'update', 'park'])
        for (const outcome of ['applied', 'failed', 'unknown']) changes.inc({ client, action, outcome }, 0);
    },
    /** Removes the series of a client that is no longer configured. */
    removeClient: async (client: string): Promise<void> => {
      for (const one of [passes, changes])
        for (const { labels } of (await one.get()).values) if (labels.client === client) one.remove(labels);
    },
    countPass: ({ client, trigger, status, durationMs }: CountedPass): void => {
      passes.inc({ client, trigger, result: status });
      duration.observe(durationMs / 1_000);
    },
    countChange: (client: string, { action, outcome }: { action: string; outcome: string }): void =>
      changes.inc({ client, action, outcome }),
    /** How long a pass waited after its time had come, in milliseconds, where processes share passes. */
    countLateness: (milliseconds: number): void => lateness.observe(milliseconds / 1_000),
    /** `status`: null if there was no answer. */
    countRequest: ({
      operation,
      status,
      durationMs,
    }: {
      readonly operation: string;
      readonly status: number | null;
      readonly durationMs: number;
    }): void => {
      requests.inc({ operation, status: status ?? 'none' });
      requestDuration.observe({ operation }, durationMs / 1_000);
    },
    countNotification: (receiver: string, outcome: 'delivered' | 'retried' | 'dropped'): void =>
      notifications.inc({ receiver, outcome }),
    countRefusal: ({ token, reason }: Pick<PageRefusal, 'token' | 'reason'>): void =>
      refusals.inc({ token, reason }),
    /** How many clients this process owns; how many it took over, or lost, that nobody had given up. */
    countOwned: (count: number, how: { takenOver?: number; lost?: number }): void => {
      if (owned === null)
        gauge(registry, 'clients_owned', [], 'Clients whose passes this process makes.', () => [
          [{}, Number(owned)],
        ]);
      owned = count;
      takenOver.inc(how.takenOver ?? 0);
      lost.inc(how.lost ?? 0);
    },
    /** Whether the shared store can be used. */
    showDatabase: (isUp: boolean): void => {
      if (isDatabaseUp === null)
        gauge(registry, 'database_up', [], 'Whether PostgreSQL can be used: 1 or 0.', () => [
          [{}, Number(isDatabaseUp)],
        ]);
      isDatabaseUp = isUp;
    },
  };
};

interface CountedPass {
  readonly client: string;
  readonly trigger: Trigger;
  readonly status: Status;
  readonly durationMs: number;
}

const passBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/**
 * Milliseconds between two looks at the event loop. The default of 10 wakes an idle daemon a hundred times a second, and
 * is a third of what it does.
 */
const eventLoopMonitoringPrecision = 50;
