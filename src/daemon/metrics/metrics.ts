import { collectDefaultMetrics, Registry, type Gauge } from 'prom-client';
import type { KnownAnswers } from '../../report/with-answers.ts';
import { answersGauges } from './answers-gauges.ts';
import { ownedMetrics, type OwnedCounter } from './owned-metrics.ts';
import { metricMaker, type MetricMaker } from './metric-maker.ts';
import { passMetrics, type PassMetrics } from './pass-metrics.ts';
import type { PageRefusal } from '../http/refusals.ts';
import { templateGauges } from './template-gauges.ts';
import type { ClientProblem } from '../../settings/client-files.ts';

/** Metrics for Prometheus. Labels are clients, templates and fixed words only. */
export interface Metrics extends PassMetrics, RequestMetrics, Pick<SettingsMetrics, 'showSettings'> {
  readonly contentType: string;
  /** All metrics in the text format, with the number of waiting passes. */
  readonly text: (queueDepth: number) => Promise<string>;
  /** Grows with each change of a metric. */
  readonly revision: () => number;
  /** The result of a round over the name servers. */
  readonly countAnswers: (client: string, known: KnownAnswers) => void;
  /** How many clients this process owns, where processes share a store. */
  readonly countOwned: OwnedCounter;
  /** Whether the shared store can be used. */
  readonly showDatabase: (isUp: boolean) => void;
}

interface RequestMetrics {
  readonly countRequest: (request: RequestFacts) => void;
  readonly countNotification: (receiver: string, outcome: DeliveryOutcome) => void;
  readonly countRefusal: (refusal: Pick<PageRefusal, 'token' | 'reason'>) => void;
}

interface RequestFacts {
  readonly operation: string;
  /** Null if there was no answer. */
  readonly status: number | null;
  readonly durationMs: number;
}

type DeliveryOutcome = 'delivered' | 'retried' | 'dropped';

/**
 * Milliseconds between two looks at the event loop. The default of 10 wakes an idle daemon a hundred times a second, and
 * is a third of what it does.
 */
const eventLoopMonitoringPrecision = 50;

/** Series of single templates: of so many. */
interface MetricsBounds {
  readonly maxTemplates?: number;
}

export const createMetrics = (version: string, { maxTemplates }: MetricsBounds = {}): Metrics => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision });
  const make = metricMaker(registry);
  make
    .gauge('build_info', ['version'], 'Always 1; the version of this program is a label.')
    .set({ version }, 1);
  const waiting = make.gauge('queue_depth', [], 'Passes that wait to start.');
  const passes = passMetrics(make, templateGauges(make, maxTemplates));
  const answers = answersGauges(make);
  const requests = requestMetrics(make);
  const countOwned = ownedMetrics(make);
  const settings = settingsMetrics(make);

  let revision = 0;
  const noted =
    <Facts extends unknown[]>(change: (...facts: Facts) => void) =>
    (...facts: Facts): void => {
      revision += 1;
      change(...facts);
    };
  return {
    contentType: registry.contentType,
    text: (queueDepth) => {
      waiting.set(queueDepth);
      return registry.metrics();
    },
    revision: () => revision,
    addClient: noted(passes.addClient),
    removeClient: async (client) => {
      answers.remove(client);
      await passes.removeClient(client);
      revision += 1;
    },
    countRequest: noted(requests.countRequest),
    countChange: noted(passes.countChange),
    countNotification: noted(requests.countNotification),
    countAnswers: noted(answers.show),
    countRefusal: noted(requests.countRefusal),
    countPass: noted(passes.countPass),
    countLateness: noted(passes.countLateness),
    countOwned: noted(countOwned),
    showDatabase: noted(databaseGauge(make)),
    showPass: noted(passes.showPass),
    showSettings: noted(settings.showSettings),
  };
};

/** A metric only where processes share a store. */
const databaseGauge = ({ gauge }: MetricMaker): Metrics['showDatabase'] => {
  let metric: Gauge | null = null;
  return (isUp) => {
    metric ??= gauge('database_up', [], 'Whether PostgreSQL can be used: 1 or 0.');
    metric.set(isUp ? 1 : 0);
  };
};

const requestMetrics = ({ counter, histogram }: MetricMaker): RequestMetrics => {
  const requests = counter(
    'requests_total',
    ['operation', 'status'],
    'Requests to the service, by HTTP status; none if there was no answer.',
  );
  const duration = histogram(
    'request_duration_seconds',
    ['operation'],
    'How long requests to the service took.',
    [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
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
  return {
    countRequest: ({ operation, status, durationMs }) => {
      requests.inc({ operation, status: status ?? 'none' });
      duration.observe({ operation }, durationMs / 1_000);
    },
    countNotification: (receiver, outcome) => notifications.inc({ receiver, outcome }),
    countRefusal: ({ token, reason }) => refusals.inc({ token, reason }),
  };
};

interface SettingsMetrics {
  /** The clients in use, and what is wrong with the settings. */
  readonly showSettings: (clients: readonly string[], problems: readonly ClientProblem[]) => void;
}

/** A problem without a client concerns all of them, or some that nobody knows. */
const settingsMetrics = ({ gauge }: MetricMaker): SettingsMetrics => {
  const valid = gauge(
    'settings_valid',
    ['client'],
    'Whether the settings of a client, as its file has them, are in use: 1 or 0.',
  );
  return {
    showSettings: (clients, problems) => {
      valid.reset();
      for (const client of clients) valid.set({ client }, 1);
      for (const { client } of problems) valid.set({ client }, 0);
    },
  };
};
