import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { KnownAnswers } from '../report/with-answers.ts';
import type { PassResult, Status, Trigger } from '../result.ts';
import { answersGauges } from './answers-gauges.ts';
import { leaseMetrics, type LeaseChange } from './lease-metrics.ts';
import type { PageRefusal } from './refusals.ts';
import { prefix, templateGauges } from './template-gauges.ts';

/** Metrics for Prometheus. Labels are clients, templates and fixed words only. */
export interface Metrics {
  readonly contentType: string;
  /** All metrics in the text format, with the number of waiting passes. */
  readonly text: (queueDepth: number) => Promise<string>;
  /** Grows with each change of a metric. */
  readonly revision: () => number;
  /** Creates the series of this client at 0, so that the first event shows as an increase. */
  readonly addClient: (client: string) => void;
  /** Removes the series of a client that is no longer configured. */
  readonly removeClient: (client: string) => Promise<void>;
  readonly countRequest: (request: RequestFacts) => void;
  readonly countChange: (client: string, change: ChangeFacts) => void;
  readonly countNotification: (receiver: string, outcome: DeliveryOutcome) => void;
  /** The result of a round over the name servers. */
  readonly countAnswers: (client: string, known: KnownAnswers) => void;
  readonly countRefusal: (refusal: Pick<PageRefusal, 'token' | 'reason'>) => void;
  /** `newest`: the latest results of the client; null if the pass compared nothing. */
  readonly countPass: (pass: PassFacts, latest: PassResult | null) => void;
  /** How long a pass waited after its time had come, in milliseconds, where processes share passes. */
  readonly countLateness: (lateness: number) => void;
  /** What became of a lease of this process, where processes share a store. */
  readonly countLease: (lease: string, change: LeaseChange) => void;
  /** The same of a pass that another process has counted. */
  readonly showPass: (pass: ShownPass, latest: PassResult | null) => void;
}

interface RequestFacts {
  readonly operation: string;
  /** Null if there was no answer. */
  readonly status: number | null;
  readonly durationMs: number;
}

interface ChangeFacts {
  readonly action: (typeof actions)[number];
  readonly outcome: (typeof outcomes)[number];
}

type DeliveryOutcome = 'delivered' | 'retried' | 'dropped';

interface PassFacts {
  readonly client: string;
  readonly trigger: Trigger;
  readonly status: Status;
  readonly durationMs: number;
}

interface ShownPass extends Pick<PassFacts, 'client' | 'status'> {
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
}

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
  const registers = [registry];
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision });
  const templates = templateGauges(registers, maxTemplates);
  const answers = answersGauges(registers);
  const leases = leaseMetrics(registers);

  const buildInfo = new Gauge({
    name: `${prefix}build_info`,
    help: 'Always 1; the version of this program is a label.',
    labelNames: ['version'],
    registers,
  });
  buildInfo.set({ version }, 1);
  const passes = new Counter({
    name: `${prefix}passes_total`,
    help: 'Finished passes, by trigger and by the worst status of their templates.',
    labelNames: ['client', 'trigger', 'result'],
    registers,
  });
  const passDuration = new Histogram({
    name: `${prefix}pass_duration_seconds`,
    help: 'How long passes took.',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600],
    registers,
  });
  const lastPass = new Gauge({
    name: `${prefix}last_pass_timestamp_seconds`,
    help: 'When the last pass ended.',
    labelNames: ['client'],
    registers,
  });
  const lastSuccess = new Gauge({
    name: `${prefix}last_success_timestamp_seconds`,
    help: 'When the last pass without a failure ended; 0 before the first one.',
    labelNames: ['client'],
    registers,
  });
  const changes = new Counter({
    name: `${prefix}changes_total`,
    help: 'Writes sent to the service, by outcome.',
    labelNames: ['client', 'action', 'outcome'],
    registers,
  });
  const requests = new Counter({
    name: `${prefix}requests_total`,
    help: 'Requests to the service, by HTTP status; none if there was no answer.',
    labelNames: ['operation', 'status'],
    registers,
  });
  const requestDuration = new Histogram({
    name: `${prefix}request_duration_seconds`,
    help: 'How long requests to the service took.',
    labelNames: ['operation'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  const notifications = new Counter({
    name: `${prefix}notifications_total`,
    help: 'Messages to receivers: delivered, retried after a failed attempt, or dropped.',
    labelNames: ['receiver', 'outcome'],
    registers,
  });
  const refusals = new Counter({
    name: `${prefix}refused_requests_total`,
    help: 'HTTP requests refused because a token was missing or wrong.',
    labelNames: ['token', 'reason'],
    registers,
  });
  for (const token of ['trigger', 'page'])
    for (const reason of ['missing', 'wrong']) refusals.inc({ token, reason }, 0);
  const filesValid = new Gauge({
    name: `${prefix}template_files_valid`,
    help: 'Whether the template files are free of errors: 1 or 0.',
    labelNames: ['client'],
    registers,
  });
  const waiting = new Gauge({
    name: `${prefix}queue_depth`,
    help: 'Passes that wait to start.',
    registers,
  });

  let lateness: Histogram | null = null;
  /** Only where passes are shared. */
  const latenessOf = (): Histogram =>
    (lateness ??= new Histogram({
      name: `${prefix}pass_lateness_seconds`,
      help: 'How long passes waited after their time had come.',
      buckets: [0.1, 0.25, 0.5, 0.75, 1, 1.5, 2.5, 5, 10, 30, 60, 120, 300, 600],
      registers,
    }));
  let revision = 0;
  const showPass: Metrics['showPass'] = ({ client, status, endedAt }, latest) => {
    revision += 1;
    lastPass.set({ client }, endedAt / 1_000);
    if (status !== 'failed') lastSuccess.set({ client }, endedAt / 1_000);
    if (latest === null) return;
    templates.show(client, latest.templates);
    filesValid.set({ client }, latest.problems.some(({ severity }) => severity === 'error') ? 0 : 1);
  };
  return {
    contentType: registry.contentType,
    text: (queueDepth) => {
      waiting.set(queueDepth);
      return registry.metrics();
    },
    revision: () => revision,
    addClient: (client) => {
      revision += 1;
      lastSuccess.set({ client }, 0);
      for (const action of actions)
        for (const outcome of outcomes) changes.inc({ client, action, outcome }, 0);
    },
    removeClient: async (client) => {
      templates.show(client, []);
      answers.remove(client);
      for (const gauge of [lastPass, lastSuccess, filesValid]) gauge.remove({ client });
      await Promise.all([forget(passes, client), forget(changes, client)]);
      revision += 1;
    },
    countRequest: ({ operation, status, durationMs }) => {
      revision += 1;
      requests.inc({ operation, status: status ?? 'none' });
      requestDuration.observe({ operation }, durationMs / 1_000);
    },
    countChange: (client, { action, outcome }) => {
      revision += 1;
      changes.inc({ client, action, outcome });
    },
    countNotification: (receiver, outcome) => {
      revision += 1;
      notifications.inc({ receiver, outcome });
    },
    countAnswers: (client, known) => {
      revision += 1;
      answers.show(client, known);
    },
    countRefusal: ({ token, reason }) => {
      revision += 1;
      refusals.inc({ token, reason });
    },
    countPass: ({ client, trigger, status, durationMs }, latest) => {
      passes.inc({ client, trigger, result: status });
      passDuration.observe(durationMs / 1_000);
      showPass({ client, status, endedAt: Date.now() }, latest);
    },
    countLateness: (milliseconds) => {
      revision += 1;
      latenessOf().observe(milliseconds / 1_000);
    },
    countLease: (lease, change) => {
      revision += 1;
      leases(lease, change);
    },
    showPass,
  };
};

const forget = async <Label extends string>(
  counter: Counter<Label | 'client'>,
  client: string,
): Promise<void> => {
  const { values } = await counter.get();
  for (const { labels } of values) if (labels.client === client) counter.remove(labels);
};

const actions = ['add', 'update', 'park'] as const;
const outcomes = ['applied', 'failed', 'unknown'] as const;
