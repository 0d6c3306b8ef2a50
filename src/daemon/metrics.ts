import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { groupBy } from '../model/group.ts';
import { answersIn } from '../report/answers.ts';
import { statuses, worstOf, type PassResult, type TemplateResult } from '../result.ts';
import type { PassEntry } from '../status-page/facts.ts';
import type { PageRefusal } from './http/sign-in.ts';

/** What gauges show at a scrape. */
export interface Seen {
  readonly clients: readonly SeenClient[];
  /** Those whose settings are not in use as they are; without a name: some that nobody knows. */
  readonly problems: readonly { readonly client: string }[];
}

interface SeenClient {
  readonly name: string;
  readonly state: { readonly waiting: string | null };
  readonly known: {
    /** With the answers of name servers; null before the first pass. */
    readonly newest: PassResult | null;
    readonly lastPass: PassEntry | null;
    /** Ms since the epoch; 0: never. */
    readonly lastSuccess: number;
    readonly lastComplete: number;
  };
}

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Metrics for Prometheus. Labels are clients, templates and fixed words only. Events are counted; gauges are made at the
 * scrape. Of so many templates at most there are series of their own: each has eleven.
 */
export const createMetrics = (version: string, { maxTemplates = 1_000 } = {}) => {
  const counted = new Registry();
  collectDefaultMetrics({ register: counted, eventLoopMonitoringPrecision });
  const of = (name: Name, labelNames: readonly string[], register = counted) => ({
    name: `dns_template_sync_${name}`,
    help: helps[name],
    labelNames,
    registers: [register],
  });
  const counter = (name: Name, ...labels: readonly string[]) => new Counter(of(name, labels));
  const histogram = (name: Name, labels: readonly string[], buckets: number[]) =>
    new Histogram({ ...of(name, labels), buckets });
  const passes = counter('passes_total', 'client', 'trigger', 'result');
  const changes = counter('changes_total', 'client', 'action', 'outcome');
  const requests = counter('requests_total', 'operation', 'status');
  const notifications = counter('notifications_total', 'receiver', 'outcome');
  const refusals = counter('refused_requests_total', 'token', 'reason');
  const takenOver = counter('clients_taken_over_total');
  const lost = counter('clients_lost_total');
  const long = [5, 10, 30, 60, 120, 300, 600];
  const duration = histogram('pass_duration_seconds', [], [0.05, 0.1, 0.25, 0.5, 1, 2.5, ...long]);
  const lateness = histogram('pass_lateness_seconds', [], [0.1, 0.25, 0.5, 0.75, 1, 1.5, 2.5, ...long]);
  const quick = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
  const requestDuration = histogram('request_duration_seconds', ['operation'], quick);
  for (const token of ['trigger', 'page'])
    for (const reason of ['missing', 'wrong']) refusals.inc({ token, reason }, 0);
  refusals.inc({ token: 'trigger', reason: 'foreign' }, 0);
  // Where processes share a store.
  let owned: number | null = null;
  let isDatabaseUp: boolean | null = null;

  return {
    contentType: counted.contentType,
    /** All metrics in the text format. */
    text: async ({ clients, problems }: Seen): Promise<string> => {
      const shown = new Registry();
      const gauges: Gauges = {
        build_info: [[{ version }, 1]],
        clients_owned: owned === null ? [] : [[{}, owned]],
        database_up: isDatabaseUp === null ? [] : [[{}, Number(isDatabaseUp)]],
        queue_depth: [[{}, clients.filter(({ state }) => state.waiting !== null).length]],
        ...clientGauges(clients, new Set(problems.map(({ client }) => client))),
        ...templateGauges(clients, maxTemplates),
      };
      for (const name of metrics) {
        const samples = gauges[name] ?? [];
        const [first] = samples;
        if (first === undefined) continue;
        const gauge = new Gauge(of(name, Object.keys(first[0]), shown));
        for (const [labels, value] of samples) gauge.set(labels, value);
      }
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
    countPass: (pass: Pick<PassEntry, 'client' | 'trigger' | 'status' | 'durationMs'>): void => {
      passes.inc({ client: pass.client, trigger: pass.trigger, result: pass.status });
      duration.observe(pass.durationMs / 1_000);
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

/**
 * Milliseconds between two looks at the event loop. The default of 10 wakes an idle daemon a hundred times a second, and
 * is a third of what it does.
 */
const eventLoopMonitoringPrecision = 50;

type Name = keyof typeof helps;
type Gauges = Partial<Record<Name, readonly Sample[]>>;
type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

const helps = {
  answers_subdomains:
    'Subdomains by the result of comparing the answers of their name servers with the service.',
  build_info: 'Always 1; the version of this program is a label.',
  changes_total: 'Writes sent to the service, by outcome.',
  clients_lost_total: 'Clients that this process lost, since it did not renew its lease in time.',
  clients_owned: 'Clients whose passes this process makes.',
  clients_taken_over_total: 'Clients that this process took over from one that had not given them up.',
  database_up: 'Whether PostgreSQL can be used: 1 or 0.',
  fleet_records: 'Records of the templates of all clients by state, as last seen.',
  fleet_templates: 'Templates of all clients by status.',
  last_answers_timestamp_seconds: 'When the name servers were last asked.',
  last_complete_pass_timestamp_seconds:
    'When the last pass ended that read files and service and did not stop early, even if templates failed; 0 before the first one.',
  last_pass_timestamp_seconds: 'When the last pass ended.',
  last_success_timestamp_seconds: 'When the last pass without a failure ended; 0 before the first one.',
  notifications_total: 'Messages to receivers: delivered, retried after a failed attempt, or dropped.',
  pass_duration_seconds: 'How long passes took.',
  pass_lateness_seconds: 'How long passes waited after their time had come.',
  passes_total: 'Finished passes, by trigger and by the worst status of their templates.',
  queue_depth: 'Passes that wait to start.',
  records: 'Records of a template by state, as last seen.',
  refused_requests_total:
    'HTTP requests refused because a token was missing or wrong, or because another site sent them.',
  request_duration_seconds: 'How long requests to the service took.',
  requests_total: 'Requests to the service, by HTTP status; none if there was no answer.',
  settings_valid: 'Whether the settings of a client, as its file has them, are in use: 1 or 0.',
  template_files_valid: 'Whether the template files are free of errors: 1 or 0.',
  template_status: 'The status of a template: 1 for the current one, 0 for the others.',
};

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- these are all
const metrics = Object.keys(helps) as readonly Name[];

const clientGauges = (clients: readonly SeenClient[], refused: ReadonlySet<string>): Gauges => {
  const ofClients = (of: (known: SeenClient['known']) => number | null): Sample[] =>
    clients.flatMap(({ name, known }) => {
      const value = of(known);
      return value === null ? [] : [[{ client: name }, value] as const];
    });
  const names = new Set([...clients.map(({ name }) => name), ...refused]);
  // One set of series a client: its subdomains are too many for their own series.
  const answered = clients.flatMap(({ name: client, known: { newest } }) => {
    const answers = newest === null ? [] : [...answersIn(newest).values()];
    return answers.length === 0 ? [] : [{ client, answers }];
  });
  return {
    settings_valid: Array.from(names, (client) => [{ client }, refused.has(client) ? 0 : 1]),
    last_pass_timestamp_seconds: ofClients(
      ({ lastPass }) => lastPass && (lastPass.startedAt + lastPass.durationMs) / 1_000,
    ),
    last_success_timestamp_seconds: ofClients(({ lastSuccess }) => lastSuccess / 1_000),
    last_complete_pass_timestamp_seconds: ofClients(({ lastComplete }) => lastComplete / 1_000),
    template_files_valid: ofClients(
      ({ newest }) => newest && Number(newest.problems.every(({ severity }) => severity !== 'error')),
    ),
    answers_subdomains: answered.flatMap(({ client, answers }) => {
      const found = answers.map(({ status, message }) => (message === undefined ? status : 'failed'));
      return tally({ client }, 'status', ['in-sync', 'pending', 'drifted', 'failed'], found);
    }),
    last_answers_timestamp_seconds: answered.flatMap(({ client, answers }) => {
      const times = answers.flatMap(({ askedAt }) => (askedAt === undefined ? [] : Date.parse(askedAt)));
      return times.length === 0 ? [] : [[{ client }, Math.max(...times) / 1_000] as const];
    }),
  };
};

const templateGauges = (clients: readonly SeenClient[], maxTemplates: number): Gauges => {
  // Those with the same name and different ids are one.
  const all = clients.flatMap(({ name: client, known: { newest } }) =>
    [...groupBy(newest?.templates ?? [], ({ template }) => template)].map(([template, ofName]) => ({
      labels: { client, template },
      status: worstOf(ofName.map((one) => one.status)),
      counts: recordsOf(ofName),
    })),
  );
  // If they are too many, those that need somebody.
  const few = all.length <= maxTemplates ? all : all.filter(({ status }) => status !== 'in-sync');
  const shown = few.slice(0, maxTemplates);
  const found = all.map(({ status }) => status);
  return {
    records: shown.flatMap(({ labels, counts }) =>
      counts === null ? [] : recordStates.map((state): Sample => [{ ...labels, state }, counts[state]]),
    ),
    template_status: shown.flatMap(({ labels, status }) => tally(labels, 'status', statuses, [status])),
    fleet_templates: tally({}, 'status', statuses, found),
    fleet_records: recordStates.map((state) => [
      { state },
      all.reduce((sum, { counts }) => sum + (counts?.[state] ?? 0), 0),
    ]),
  };
};

const recordStates = ['in_sync', 'add', 'update', 'park', 'surplus', 'blocked'] as const;

/** The records of some templates by state; null if service or file of one could not be read. */
const recordsOf = (
  results: readonly TemplateResult[],
): Record<(typeof recordStates)[number], number> | null => {
  const counts = { in_sync: 0, add: 0, update: 0, park: 0, surplus: 0, blocked: 0 };
  for (const { status, inSync, parked, ignored, differences } of results) {
    const isEmpty = inSync + parked + ignored + differences.length === 0;
    if (isEmpty && status !== 'in-sync' && status !== 'drifted') return null;
    counts.in_sync += inSync;
    for (const { action, outcome } of differences) if (outcome !== 'applied') counts[action] += 1;
  }
  return counts;
};

/** How often each word was found. */
const tally = (
  labels: Sample[0],
  name: string,
  words: readonly string[],
  found: readonly string[],
): Sample[] => words.map((word) => [{ ...labels, [name]: word }, found.filter((one) => one === word).length]);
