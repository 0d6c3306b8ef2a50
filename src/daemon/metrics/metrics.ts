import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';
import type { KnownAnswers } from '../../report/with-answers.ts';
import type { PassResult, Trigger } from '../../result.ts';
import type { ClientProblem } from '../../settings/client-files.ts';
import type { PageRefusal } from '../http/refusals.ts';
import { clientGauges, gauge } from './gauges.ts';
import { newClient, withPass, type EndedPass, type KnownClient } from './known-clients.ts';

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
  const clients = new Map<string, KnownClient>();
  let settings: ReadonlyMap<string, boolean> = new Map();
  let queueDepth = 0;
  let owned = 0;
  let isDatabaseUp = false;
  gauge(registry, 'build_info', ['version'], 'Always 1; the version of this program is a label.', () => [
    [{ version }, 1],
  ]);
  clientGauges(registry, () => ({ clients, settings, queueDepth }), maxTemplates);

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

  /** These exist only where processes share a store. */
  const lateness = once(() =>
    histogram(
      'pass_lateness_seconds',
      [],
      [0.1, 0.25, 0.5, 0.75, 1, 1.5, 2.5, 5, 10, 30, 60, 120, 300, 600],
      'How long passes waited after their time had come.',
    ),
  );
  const ownership = once(() => {
    gauge(registry, 'clients_owned', [], 'Clients whose passes this process makes.', () => [[{}, owned]]);
    const [overHelp, lostHelp] = [
      'Clients that this process took over from one that had not given them up.',
      'Clients that this process lost, since it did not renew its lease in time.',
    ];
    return {
      takenOver: counter('clients_taken_over_total', [], overHelp),
      lost: counter('clients_lost_total', [], lostHelp),
    };
  });
  const database = once(() =>
    gauge(registry, 'database_up', [], 'Whether PostgreSQL can be used: 1 or 0.', () => [
      [{}, isDatabaseUp ? 1 : 0],
    ]),
  );

  const change = (client: string, by: (known: KnownClient) => KnownClient): void =>
    void clients.set(client, by(clients.get(client) ?? newClient));
  const showPass = (pass: EndedPass & { readonly client: string }, latest: PassResult | null): void =>
    change(pass.client, (known) => withPass(known, pass, latest));
  return {
    contentType: registry.contentType,
    /** All metrics in the text format, with the number of waiting passes. */
    text: (waiting: number): Promise<string> => {
      queueDepth = waiting;
      return registry.metrics();
    },
    /** Creates the series of this client at 0, so that the first event shows as an increase. */
    addClient: (client: string): void => {
      change(client, (known) => known);
      for (const action of ['add', 'update', 'park'])
        for (const outcome of ['applied', 'failed', 'unknown']) changes.inc({ client, action, outcome }, 0);
    },
    /** Removes the series of a client that is no longer configured. */
    removeClient: async (client: string): Promise<void> => {
      clients.delete(client);
      for (const one of [passes, changes])
        for (const { labels } of (await one.get()).values) if (labels.client === client) one.remove(labels);
    },
    /** `latest`: the latest results of the client; null if the pass compared nothing. */
    countPass: (
      pass: Omit<EndedPass, 'endedAt'> & {
        readonly client: string;
        readonly trigger: Trigger;
        readonly durationMs: number;
      },
      latest: PassResult | null,
    ): void => {
      const { client, trigger, status, durationMs } = pass;
      passes.inc({ client, trigger, result: status });
      duration.observe(durationMs / 1_000);
      showPass({ ...pass, endedAt: Date.now() }, latest);
    },
    /** The same of a pass that another process has counted. */
    showPass,
    countChange: (client: string, { action, outcome }: { action: string; outcome: string }): void =>
      changes.inc({ client, action, outcome }),
    /** How long a pass waited after its time had come, in milliseconds, where processes share passes. */
    countLateness: (milliseconds: number): void => lateness().observe(milliseconds / 1_000),
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
    /** The result of a round over the name servers. */
    countAnswers: (client: string, answers: KnownAnswers): void =>
      change(client, (known) => ({ ...known, answers, askedAt: Date.now() })),
    /** How many clients this process owns; how many it took over, or lost, that nobody had given up. */
    countOwned: (count: number, { takenOver = 0, lost = 0 }: { takenOver?: number; lost?: number }): void => {
      owned = count;
      ownership().takenOver.inc(takenOver);
      ownership().lost.inc(lost);
    },
    /** Whether the shared store can be used. */
    showDatabase: (isUp: boolean): void => {
      isDatabaseUp = isUp;
      database();
    },
    /** The clients in use, and what is wrong with the settings: of all, or of some that nobody knows, if it names none. */
    showSettings: (names: readonly string[], problems: readonly ClientProblem[]): void => {
      settings = new Map([
        ...names.map((client) => [client, true] as const),
        ...problems.map(({ client }) => [client, false] as const),
      ]);
    },
  };
};

const passBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/**
 * Milliseconds between two looks at the event loop. The default of 10 wakes an idle daemon a hundred times a second, and
 * is a third of what it does.
 */
const eventLoopMonitoringPrecision = 50;

const once = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
};
