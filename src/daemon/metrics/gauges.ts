import { groupBy } from '../../model/group.ts';
import { answersIn } from '../../report/answers.ts';
import { statuses, worstOf, type PassResult, type TemplateResult } from '../../result.ts';
import type { PassEntry } from '../../status-page/facts.ts';

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

export type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

/** Makes one gauge; all its samples have the same labels. */
export type MakeGauge = (name: string, help: string, samples: readonly Sample[]) => void;

/** Of so many templates at most there are series of their own; totals are of all. */
export const makeGauges = (make: MakeGauge, seen: Seen, maxTemplates: number): void => {
  const { clients, refused, queueDepth } = seen;
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
  templateGauges(make, clients, maxTemplates);
  for (const { client, latest } of clients) if (latest !== null) answersGauges(make, client, latest);
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

/** One set of series a client: its subdomains are too many for their own series. */
const answersGauges = (make: MakeGauge, client: string, latest: PassResult): void => {
  const answers = [...answersIn(latest).values()];
  if (answers.length === 0) return;
  const times = answers.flatMap(({ askedAt }) => (askedAt === undefined ? [] : Date.parse(askedAt)));
  make(
    'answers_subdomains',
    'Subdomains by the result of comparing the answers of their name servers with the service.',
    tally(
      { client },
      'status',
      ['in-sync', 'pending', 'drifted', 'failed'],
      answers.map(({ status, message }) => (message === undefined ? status : 'failed')),
    ),
  );
  make(
    'answers_servers',
    'Name servers by how they answer, once for each subdomain.',
    tally(
      { client },
      'status',
      ['in-sync', 'pending', 'drifted', 'silent', 'failed'],
      answers.flatMap(({ servers }) => servers.map(({ status }) => status)),
    ),
  );
  make(
    'answers_differences',
    "Record sets for which a name server's answer differs from the service, or whose target does not exist.",
    tally(
      { client },
      'kind',
      ['missing', 'stale', 'dangling'],
      answers.flatMap(({ differences }) => differences.map(({ kind }) => kind)),
    ),
  );
  make(
    'last_answers_timestamp_seconds',
    'When the name servers were last asked.',
    times.length === 0 ? [] : [[{ client }, Math.max(...times) / 1_000]],
  );
};

/** How often each word was found. */
const tally = (
  labels: Sample[0],
  name: string,
  words: readonly string[],
  found: readonly string[],
): Sample[] => words.map((word) => [{ ...labels, [name]: word }, found.filter((one) => one === word).length]);
