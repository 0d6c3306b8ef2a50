import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { groupBy } from '../model/group.ts';
import { answersIn } from '../report/answers.ts';
import { statuses, worstOf, type PassResult, type TemplateResult } from '../result.ts';
import type { PassEntry } from '../status-page/facts.ts';
import type { PageRefusal } from './http/sign-in.ts';

/** When passes ended, in ms since the epoch; null or 0: never. */
export interface PassTimes {
  readonly lastPass: number | null;
  /** Without a failure. */
  readonly lastSuccess: number;
  /** Everything was read, and writing did not stop early. */
  readonly lastComplete: number;
}

export const noPass: PassTimes = { lastPass: null, lastSuccess: 0, lastComplete: 0 };

export const timesAfter = (
  { lastSuccess, lastComplete }: PassTimes,
  { startedAt, durationMs, status, error }: PassEntry,
): PassTimes => {
  const lastPass = startedAt + durationMs;
  return {
    lastPass,
    lastSuccess: status === 'failed' ? lastSuccess : lastPass,
    lastComplete: error === null ? lastPass : lastComplete,
  };
};

/** What gauges show at a scrape. */
export interface Seen {
  readonly clients: readonly SeenClient[];
  /** Clients whose settings are not in use as they are; empty: all of them, or some that nobody knows. */
  readonly refused: readonly string[];
  /** Passes that wait. */
  readonly queueDepth: number;
}

interface SeenClient extends PassTimes {
  readonly client: string;
  /** With the answers of name servers; null before the first pass. */
  readonly latest: PassResult | null;
}

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Metrics for Prometheus. Labels are clients, templates and fixed words only. Events are counted; gauges are made at the
 * scrape. Of so many templates at most there are series of their own: each has eleven.
 */
export const createMetrics = (version: string, { maxTemplates = 1_000 } = {}) => {
  const counted = new Registry();
  collectDefaultMetrics({ register: counted, eventLoopMonitoringPrecision });
  const of = (name: string, labelNames: readonly string[], help: string) => ({
    name: prefix + name,
    help,
    labelNames,
    registers: [counted],
  });
  const passes = new Counter(
    of(
      'passes_total',
      ['client', 'trigger', 'result'],
      'Finished passes, by trigger and by the worst status of their templates.',
    ),
  );
  const changes = new Counter(
    of('changes_total', ['client', 'action', 'outcome'], 'Writes sent to the service, by outcome.'),
  );
  const requests = new Counter(
    of(
      'requests_total',
      ['operation', 'status'],
      'Requests to the service, by HTTP status; none if there was no answer.',
    ),
  );
  const notifications = new Counter(
    of(
      'notifications_total',
      ['receiver', 'outcome'],
      'Messages to receivers: delivered, retried after a failed attempt, or dropped.',
    ),
  );
  const refusals = new Counter(
    of(
      'refused_requests_total',
      ['token', 'reason'],
      'HTTP requests refused because a token was missing or wrong, or because another site sent them.',
    ),
  );
  const takenOver = new Counter(
    of(
      'clients_taken_over_total',
      [],
      'Clients that this process took over from one that had not given them up.',
    ),
  );
  const lost = new Counter(
    of('clients_lost_total', [], 'Clients that this process lost, since it did not renew its lease in time.'),
  );
  const duration = new Histogram({
    ...of('pass_duration_seconds', [], 'How long passes took.'),
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600],
  });
  const requestDuration = new Histogram({
    ...of('request_duration_seconds', ['operation'], 'How long requests to the service took.'),
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  });
  const lateness = new Histogram({
    ...of('pass_lateness_seconds', [], 'How long passes waited after their time had come.'),
    buckets: [0.1, 0.25, 0.5, 0.75, 1, 1.5, 2.5, 5, 10, 30, 60, 120, 300, 600],
  });
  for (const token of ['trigger', 'page'])
    for (const reason of ['missing', 'wrong']) refusals.inc({ token, reason }, 0);
  refusals.inc({ token: 'trigger', reason: 'foreign' }, 0);
  // Where processes share a store.
  let owned: number | null = null;
  let isDatabaseUp: boolean | null = null;

  return {
    contentType: counted.contentType,
    /** All metrics in the text format. */
    text: async (seen: Seen): Promise<string> => {
      const shown = new Registry();
      const make: MakeGauge = (name, help, samples) => {
        if (samples.length === 0) return;
        const labelNames = Object.keys(samples[0]?.[0] ?? {});
        const one = new Gauge({ name: prefix + name, help, labelNames, registers: [shown] });
        for (const [labels, value] of samples) one.set(labels, value);
      };
      make('build_info', 'Always 1; the version of this program is a label.', [[{ version }, 1]]);
      if (owned !== null) make('clients_owned', 'Clients whose passes this process makes.', [[{}, owned]]);
      if (isDatabaseUp !== null)
        make('database_up', 'Whether PostgreSQL can be used: 1 or 0.', [[{}, Number(isDatabaseUp)]]);
      clientGauges(make, seen);
      templateGauges(make, seen.clients, maxTemplates);
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

const prefix = 'dns_template_sync_';

/**
 * Milliseconds between two looks at the event loop. The default of 10 wakes an idle daemon a hundred times a second, and
 * is a third of what it does.
 */
const eventLoopMonitoringPrecision = 50;

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

/** Makes one gauge; all its samples have the same labels. */
type MakeGauge = (name: string, help: string, samples: readonly Sample[]) => void;

const clientGauges = (make: MakeGauge, { clients, refused, queueDepth }: Seen): void => {
  const ofClients = (of: (client: SeenClient) => number | null): Sample[] =>
    clients.flatMap((one) => {
      const value = of(one);
      return value === null ? [] : [[{ client: one.client }, value] as const];
    });
  const names = new Set([...clients.map(({ client }) => client), ...refused]);
  make('queue_depth', 'Passes that wait to start.', [[{}, queueDepth]]);
  make(
    'settings_valid',
    'Whether the settings of a client, as its file has them, are in use: 1 or 0.',
    Array.from(names, (client) => [{ client }, refused.includes(client) ? 0 : 1]),
  );
  make(
    'last_pass_timestamp_seconds',
    'When the last pass ended.',
    ofClients(({ lastPass }) => lastPass && lastPass / 1_000),
  );
  make(
    'last_success_timestamp_seconds',
    'When the last pass without a failure ended; 0 before the first one.',
    ofClients(({ lastSuccess }) => lastSuccess / 1_000),
  );
  make(
    'last_complete_pass_timestamp_seconds',
    'When the last pass ended that read files and service and did not stop early, even if templates failed; 0 before the first one.',
    ofClients(({ lastComplete }) => lastComplete / 1_000),
  );
  make(
    'template_files_valid',
    'Whether the template files are free of errors: 1 or 0.',
    ofClients(
      ({ latest }) => latest && Number(latest.problems.every(({ severity }) => severity !== 'error')),
    ),
  );
  // One set of series a client: its subdomains are too many for their own series.
  const answered = clients.flatMap(({ client, latest }) => {
    const answers = latest === null ? [] : [...answersIn(latest).values()];
    return answers.length === 0 ? [] : [{ client, answers }];
  });
  make(
    'answers_subdomains',
    'Subdomains by the result of comparing the answers of their name servers with the service.',
    answered.flatMap(({ client, answers }) => {
      const found = answers.map(({ status, message }) => (message === undefined ? status : 'failed'));
      return tally({ client }, 'status', ['in-sync', 'pending', 'drifted', 'failed'], found);
    }),
  );
  make(
    'last_answers_timestamp_seconds',
    'When the name servers were last asked.',
    answered.flatMap(({ client, answers }) => {
      const times = answers.flatMap(({ askedAt }) => (askedAt === undefined ? [] : Date.parse(askedAt)));
      return times.length === 0 ? [] : [[{ client }, Math.max(...times) / 1_000] as const];
    }),
  );
};

const templateGauges = (make: MakeGauge, clients: readonly SeenClient[], maxTemplates: number): void => {
  // Those with the same name and different ids are one.
  const all = clients.flatMap(({ client, latest }) =>
    [...groupBy(latest?.templates ?? [], ({ template }) => template)].map(([template, ofName]) => ({
      labels: { client, template },
      status: worstOf(ofName.map((one) => one.status)),
      counts: recordsOf(ofName),
    })),
  );
  // If they are too many, those that need somebody.
  const few = all.length <= maxTemplates ? all : all.filter(({ status }) => status !== 'in-sync');
  const shown = few.slice(0, maxTemplates);
  make(
    'records',
    'Records of a template by state, as last seen.',
    shown.flatMap(({ labels, counts }) =>
      counts === null ? [] : recordStates.map((state): Sample => [{ ...labels, state }, counts[state]]),
    ),
  );
  make(
    'template_status',
    'The status of a template: 1 for the current one, 0 for the others.',
    shown.flatMap(({ labels, status }) => tally(labels, 'status', statuses, [status])),
  );
  const found = all.map(({ status }) => status);
  make('fleet_templates', 'Templates of all clients by status.', tally({}, 'status', statuses, found));
  make(
    'fleet_records',
    'Records of the templates of all clients by state, as last seen.',
    recordStates.map((state) => [
      { state },
      all.reduce((sum, { counts }) => sum + (counts?.[state] ?? 0), 0),
    ]),
  );
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
