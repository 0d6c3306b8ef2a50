import { Gauge, type Registry } from 'prom-client';
import { statuses, type AnswerDifference, type ServerResult } from '../../result.ts';
import { countsOf } from '../passes/answers-rounds.ts';
import { recordStates, type KnownClient } from './known-clients.ts';

/** What gauges show at a scrape. */
export interface Seen {
  readonly clients: ReadonlyMap<string, KnownClient>;
  /** Whether the settings of each client are in use. */
  readonly settings: ReadonlyMap<string, boolean>;
  /** Passes that wait. */
  readonly queueDepth: number;
}

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

/** A gauge is made anew at each scrape, so that nothing has to be removed from it. */
export const gauge = (
  registry: Registry,
  name: string,
  labelNames: readonly string[],
  help: string,
  values: () => readonly Sample[],
): void =>
  void new Gauge({
    name: `dns_template_sync_${name}`,
    help,
    labelNames,
    registers: [registry],
    collect() {
      this.reset();
      for (const [labels, value] of values()) this.set(labels, value);
    },
  });

/** Of so many templates at most there are series of their own; totals are of all. */
export const clientGauges = (registry: Registry, seen: () => Seen, maxTemplates: number): void => {
  const make: Make = (...of) => gauge(registry, ...of);
  const ofClients = (of: (known: KnownClient) => readonly (number | null)[]): Sample[] =>
    [...seen().clients].flatMap(([client, known]) =>
      of(known).flatMap((value): Sample[] => (value === null ? [] : [[{ client }, value]])),
    );
  make('queue_depth', [], 'Passes that wait to start.', () => [[{}, seen().queueDepth]]);
  make(
    'settings_valid',
    ['client'],
    'Whether the settings of a client, as its file has them, are in use: 1 or 0.',
    () => [...seen().settings].map(([client, isValid]) => [{ client }, isValid ? 1 : 0]),
  );
  make('last_pass_timestamp_seconds', ['client'], 'When the last pass ended.', () =>
    ofClients(({ lastPass }) => [seconds(lastPass)]),
  );
  make(
    'last_success_timestamp_seconds',
    ['client'],
    'When the last pass without a failure ended; 0 before the first one.',
    () => ofClients(({ lastSuccess }) => [seconds(lastSuccess)]),
  );
  make(
    'last_complete_pass_timestamp_seconds',
    ['client'],
    'When the last pass ended that read files and service and did not stop early, even if templates failed; 0 before the first one.',
    () => ofClients(({ lastComplete }) => [seconds(lastComplete)]),
  );
  make('template_files_valid', ['client'], 'Whether the template files are free of errors: 1 or 0.', () =>
    ofClients(({ areFilesValid }) => [areFilesValid === null ? null : Number(areFilesValid)]),
  );
  templateGauges(make, seen, maxTemplates);
  answersGauges(make, seen);
};

type Make = (name: string, labels: readonly string[], help: string, values: () => readonly Sample[]) => void;

const templateGauges = (make: Make, seen: () => Seen, maxTemplates: number): void => {
  const all = () =>
    [...seen().clients].flatMap(([client, { templates }]) =>
      [...templates].map(([template, known]) => ({ client, template, ...known })),
    );
  /** If they are too many, those that need somebody. */
  const shown = () => {
    const known = all();
    if (known.length <= maxTemplates) return known;
    return known.filter(({ status }) => status !== 'in-sync').slice(0, maxTemplates);
  };
  make('records', ['client', 'template', 'state'], 'Records of a template by state, as last seen.', () =>
    shown().flatMap(({ client, template, counts }) =>
      counts === null
        ? []
        : recordStates.map((state): Sample => [{ client, template, state }, counts[state]]),
    ),
  );
  make(
    'template_status',
    ['client', 'template', 'status'],
    'The status of a template: 1 for the current one, 0 for the others.',
    () =>
      shown().flatMap(({ client, template, status: current }) =>
        statuses.map((status): Sample => [{ client, template, status }, status === current ? 1 : 0]),
      ),
  );
  make('fleet_templates', ['status'], 'Templates of all clients by status.', () => {
    const known = all();
    return statuses.map((status) => [{ status }, known.filter((one) => one.status === status).length]);
  });
  make('fleet_records', ['state'], 'Records of the templates of all clients by state, as last seen.', () => {
    const known = all();
    return recordStates.map((state) => [
      { state },
      known.reduce((sum, { counts }) => sum + (counts?.[state] ?? 0), 0),
    ]);
  });
};

/** One set of series a client: its subdomains are too many for their own series. */
const answersGauges = (make: Make, seen: () => Seen): void => {
  const asked = () =>
    [...seen().clients].flatMap(([client, { answers, askedAt }]) =>
      answers === null || askedAt === null ? [] : { client, answers, askedAt },
    );
  make(
    'answers_subdomains',
    ['client', 'status'],
    'Subdomains by the result of comparing the answers of their name servers with the service.',
    () =>
      asked().flatMap(({ client, answers }) =>
        Object.entries(countsOf(answers)).map(([status, count]): Sample => [{ client, status }, count]),
      ),
  );
  make(
    'answers_servers',
    ['client', 'status'],
    'Name servers by how they answer, once for each subdomain.',
    () =>
      asked().flatMap(({ client, answers }) => {
        const found = [...answers.values()].flatMap(({ servers }) => servers);
        return serverStates.map((status): Sample => [
          { client, status },
          found.filter((one) => one.status === status).length,
        ]);
      }),
  );
  make(
    'answers_differences',
    ['client', 'kind'],
    "Record sets for which a name server's answer differs from the service, or whose target does not exist.",
    () =>
      asked().flatMap(({ client, answers }) => {
        const found = [...answers.values()].flatMap(({ differences }) => differences);
        return kinds.map((kind): Sample => [
          { client, kind },
          found.filter((one) => one.kind === kind).length,
        ]);
      }),
  );
  make('last_answers_timestamp_seconds', ['client'], 'When the name servers were last asked.', () =>
    asked().map(({ client, askedAt }) => [{ client }, askedAt / 1_000]),
  );
};

const serverStates: readonly ServerResult['status'][] = ['in-sync', 'pending', 'drifted', 'silent', 'failed'];
const kinds: readonly AnswerDifference['kind'][] = ['missing', 'stale', 'dangling'];

const seconds = (time: number | null): number | null => (time === null ? null : time / 1_000);
