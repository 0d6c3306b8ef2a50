import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { PassEntry } from '../../status-page/facts.ts';
import type { PageRefusal } from '../http/refusals.ts';
import { makeGauges, type MakeGauge, type Seen } from './gauges.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Metrics for Prometheus. Labels are clients, templates and fixed words only. Events are counted; gauges are made at the
 * scrape. Of so many templates at most there are series of their own: each has eleven.
 */
export const createMetrics = (version: string, { maxTemplates = 1_000 } = {}) => {
  const counted = new Registry();
  collectDefaultMetrics({ register: counted, eventLoopMonitoringPrecision });
  const [passes, changes, requests, notifications, refusals, takenOver, lost] = countersIn(counted);
  const histogram = (name: string, labelNames: readonly string[], buckets: number[], help: string) =>
    new Histogram({ name: prefix + name, help, labelNames, buckets, registers: [counted] });
  const duration = histogram('pass_duration_seconds', [], passBuckets, 'How long passes took.');
  const requestDuration = histogram(
    'request_duration_seconds',
    ['operation'],
    [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    'How long requests to the service took.',
  );
  const lateness = histogram(
    'pass_lateness_seconds',
    [],
    [0.1, 0.25, 0.5, 0.75, 1, 1.5, 2.5, 5, 10, 30, 60, 120, 300, 600],
    'How long passes waited after their time had come.',
  );
  // Where processes share a store.
  let owned: number | null = null;
  let isDatabaseUp: boolean | null = null;

  return {
    contentType: counted.contentType,
    /** All metrics in the text format. */
    text: async (seen: Seen): Promise<string> => {
      const shown = new Registry();
      const made = new Map<string, Gauge>();
      const make: MakeGauge = (name, help, samples) => {
        if (samples.length === 0) return;
        const labelNames = Object.keys(samples[0]?.[0] ?? {});
        const one =
          made.get(name) ?? new Gauge({ name: prefix + name, help, labelNames, registers: [shown] });
        made.set(name, one);
        for (const [labels, value] of samples) one.set(labels, value);
      };
      make('build_info', 'Always 1; the version of this program is a label.', [[{ version }, 1]]);
      if (owned !== null) make('clients_owned', 'Clients whose passes this process makes.', [[{}, owned]]);
      if (isDatabaseUp !== null)
        make('database_up', 'Whether PostgreSQL can be used: 1 or 0.', [[{}, Number(isDatabaseUp)]]);
      makeGauges(make, seen, maxTemplates);
      return `${await counted.metrics()}${await shown.metrics()}`;
    },
    /** Creates the series of this client at 0, so that the first event shows as an increase. */
    addClient: (client: string): void => {
      for (const action of ['add', 'update', 'park'])
        for (const outcome of ['applied', 'failed', 'unknown']) changes.inc({ client, action, outcome }, 0);
    },
    /** Removes the series of a client that is no longer configured. */
    removeClient: async (client: string): Promise<void> => {
      for (const one of [passes, changes])
        for (const { labels } of (await one.get()).values)
          if (labels['client'] === client) one.remove(labels);
    },
    countPass: ({
      client,
      trigger,
      status,
      durationMs,
    }: Pick<PassEntry, 'client' | 'trigger' | 'status' | 'durationMs'>): void => {
      passes.inc({ client, trigger, result: status });
      duration.observe(durationMs / 1_000);
    },
    countChange: (client: string, { action, outcome }: { action: string; outcome: string }): void =>
      changes.inc({ client, action, outcome }),
    /** How long a pass waited after its time had come, in milliseconds, where processes share passes. */
    countLateness: (milliseconds: number): void => lateness.observe(milliseconds / 1_000),
    /** `status`: null if there was no answer. */
    countRequest: (request: { operation: string; status: number | null; durationMs: number }): void => {
      const { operation, status, durationMs } = request;
      requests.inc({ operation, status: status ?? 'none' });
      requestDuration.observe({ operation }, durationMs / 1_000);
    },
    countNotification: (receiver: string, outcome: 'delivered' | 'retried' | 'dropped'): void =>
      notifications.inc({ receiver, outcome }),
    countRefusal: ({ token, reason }: Pick<PageRefusal, 'token' | 'reason'>): void =>
      refusals.inc({ token, reason }),
    /** How many clients this process owns; how many it took over, or lost, that nobody had given up. */
    countOwned: (count: number, how: { takenOver?: number; lost?: number }): void => {
      owned = count;
      takenOver.inc(how.takenOver ?? 0);
      lost.inc(how.lost ?? 0);
    },
    /** Whether the shared store can be used. */
    showDatabase: (isUp: boolean): void => void (isDatabaseUp = isUp),
  };
};

const prefix = 'dns_template_sync_';

const countersIn = (registry: Registry) => {
  const counter = (name: string, labelNames: readonly string[], help: string): Counter =>
    new Counter({ name: prefix + name, help, labelNames, registers: [registry] });
  const refusals = counter(
    'refused_requests_total',
    ['token', 'reason'],
    'HTTP requests refused because a token was missing or wrong, or because another site sent them.',
  );
  for (const token of ['trigger', 'page'])
    for (const reason of ['missing', 'wrong']) refusals.inc({ token, reason }, 0);
  refusals.inc({ token: 'trigger', reason: 'foreign' }, 0);
  return [
    counter(
      'passes_total',
      ['client', 'trigger', 'result'],
      'Finished passes, by trigger and by the worst status of their templates.',
    ),
    counter('changes_total', ['client', 'action', 'outcome'], 'Writes sent to the service, by outcome.'),
    counter(
      'requests_total',
      ['operation', 'status'],
      'Requests to the service, by HTTP status; none if there was no answer.',
    ),
    counter(
      'notifications_total',
      ['receiver', 'outcome'],
      'Messages to receivers: delivered, retried after a failed attempt, or dropped.',
    ),
    refusals,
    counter(
      'clients_taken_over_total',
      [],
      'Clients that this process took over from one that had not given them up.',
    ),
    counter(
      'clients_lost_total',
      [],
      'Clients that this process lost, since it did not renew its lease in time.',
    ),
  ] as const;
};

const passBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/**
 * Milliseconds between two looks at the event loop. The default of 10 wakes an idle daemon a hundred times a second, and
 * is a third of what it does.
 */
const eventLoopMonitoringPrecision = 50;
