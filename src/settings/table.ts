import { answersChoices, modes, surplusPolicies } from '../model/template.ts';
import {
  absolutePath,
  address,
  commitAddress,
  cron,
  duration,
  hostName,
  list,
  listenAddress,
  nameServer,
  oneOf,
  proxyAddress,
  resolverAddress,
  shownPath,
  size,
  timezone,
  whole,
  yesOrNo,
  type Kind,
} from './kind.ts';

/** One setting. Its key in the settings file is that of its row. */
export interface Setting<T> {
  readonly about: string;
  readonly kind: Kind<T>;
  readonly fallback: T;
  /** Its environment variable: `DNS_SYNC_` and the key, unless the row says otherwise; null: none. */
  readonly env: string | null;
  /** Its flag, as the argument parser names it. */
  readonly flag?: FlagName;
  /** The default as help shows it, where it depends on the environment. */
  readonly shownDefault?: string;
}

export type Table = Readonly<Record<string, Setting<unknown>>>;

export type FlagName =
  | 'baseUrl'
  | 'templates'
  | 'stateDir'
  | 'schedule'
  | 'timezone'
  | 'dryRun'
  | 'listen'
  | 'logLevel';

/** The values of the settings of a table. */
export type Values<T> = { readonly [Key in keyof T]: T[Key] extends Setting<infer Value> ? Value : never };

/** The environment variable of a key: `DNS_SYNC_MAX_ADDS` of `maxAdds`. */
export const variableOf = (key: string): string =>
  `DNS_SYNC_${key.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`;

/** A flag as it is typed. */
export const flagText = (flag: string): string =>
  `--${flag.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

type Row<T> = Omit<Setting<T>, 'env'> & { readonly env?: string | null };

const row = <T>(about: string, kind: Kind<T>, fallback: T, more: Partial<Row<T>> = {}): Row<T> => ({
  about,
  kind,
  fallback,
  ...more,
});

const tableOf = <Rows extends Readonly<Record<string, Row<unknown>>>>(rows: Rows) =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same keys, each row with its variable
  Object.fromEntries(Object.entries(rows).map(([key, one]) => [key, { env: variableOf(key), ...one }])) as {
    readonly [Key in keyof Rows]: Rows[Key] extends Row<infer Value> ? Setting<Value> : never;
  };

const second = 1_000;
const minute = 60 * second;
/** Timers cannot exceed 24 days; a day is more than any of these needs. */
const timer = { max: 24 * 60 * minute };
const mebibyte = 1_024 ** 2;

/** Settings that each client may have. */
export const clientTable = tableOf({
  baseUrl: row('Base address of the service, ending in /api/v1.', address, null, { flag: 'baseUrl' }),
  allowInsecure: row('Allow http: to other machines, which sends the tokens unencrypted.', yesOrNo, false, {
    env: null,
  }),
  templates: row('Directories with template files, or template files.', list(shownPath, ':'), ['templates'], {
    flag: 'templates',
    shownDefault: './templates',
  }),
  stateDir: row('Directory for the saved state.', absolutePath, null, {
    flag: 'stateDir',
    shownDefault: '~/.local/state/dns-template-sync',
  }),
  schedule: row(
    'When a pass starts: cron with five fields, or six with seconds first.',
    cron,
    '*/5 * * * *',
    { flag: 'schedule' },
  ),
  timezone: row('Time zone of the schedule.', timezone, 'UTC', { flag: 'timezone' }),
  dryRun: row('Report only, write nothing.', yesOrNo, false, { flag: 'dryRun' }),
  mode: row('What a pass may write.', oneOf(modes), 'enforce'),
  surplus: row('What to do with records that no file lists.', oneOf(surplusPolicies), 'report'),
  adopt: row("Treat records that the file never listed as the file's own.", yesOrNo, false),
  requestTimeout: row('Longest wait for an answer.', duration({ min: 1, ...timer }), 30 * second),
  writeTimeout: row('Longest wait for the answer to a write.', duration({ min: 1, ...timer }), 8 * second),
  settle: row('Wait between the two listings that a write needs.', duration(timer), 10 * second),
  unknownPause: row(
    'How long a write of unknown outcome may still take effect.',
    duration({ min: 1 }),
    5 * minute,
  ),
  concurrency: row('Maximum number of requests at a time, per client.', whole(1, 256), 8),
  proxy: row('HTTP proxy to the service and to receivers, or off.', proxyAddress, null),
  ca: row(
    'File with certificates of authorities to trust in addition to the usual ones.',
    absolutePath,
    null,
  ),
  subdomainGrace: row('How long a subdomain may lag behind its template.', duration(), 15 * minute),
  answers: row('Whether to check what name servers answer for the subdomains.', oneOf(answersChoices), 'off'),
  answersSchedule: row('When name servers are asked: cron, as for schedule.', cron, '0 * * * *'),
  answersGrace: row(
    'How long name servers may lag behind a write; the highest TTL, if that is longer.',
    duration(),
    60 * minute,
  ),
  resolver: row(
    "Recursive server that finds the name servers (default: the system's).",
    resolverAddress,
    null,
  ),
  nameservers: row(
    'Name servers to ask, for example with split horizon (default: those that each zone is delegated to).',
    list(nameServer, ','),
    [],
  ),
  commitUrl: row(
    'Address of a commit, with {sha} in its place, for links on the page and in messages.',
    commitAddress,
    null,
  ),
  // V8 strings end at half a gibibyte.
  maxAnswerSize: row('Largest answer of the service.', size(1_024, 256 * mebibyte), 64 * mebibyte),
});

/** The same, under `limits`. */
export const limitTable = tableOf({
  maxAdds: row('Maximum number of adds in one template.', whole(0), 100),
  maxAddsPerPass: row('Maximum number of adds in one pass.', whole(0), 300),
  maxChangePercent: row(
    'Maximum share of updates and parks, in percent of the current records.',
    whole(0, 100),
    30,
  ),
  minRecords: row('Templates with fewer records are exempt from maxChangePercent.', whole(0), 10),
});

/** Settings of the whole program. */
export const programTable = tableOf({
  listen: row(
    'Address of the status page, probes and metrics, or off.',
    listenAddress,
    { host: '127.0.0.1', port: 8053 },
    { flag: 'listen' },
  ),
  allowedHosts: row(
    'Host names by which requests may reach the server, besides localhost.',
    list(hostName, ','),
    [],
  ),
  leaseDuration: row(
    'With a PostgreSQL store: how long a client stays assigned to a process that does not respond.',
    duration({ min: second, ...timer }),
    30 * second,
  ),
  storeConnections: row(
    'With a PostgreSQL store: maximum number of connections of this process to PostgreSQL.',
    whole(4, 1_000),
    10,
  ),
  publicUrl: row('Address under which people reach the status page, for links in messages.', address, null),
});

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Not in the settings file: a log level is for one run. */
export const runTable = tableOf({
  logLevel: row(`Lowest level that is logged: ${logLevels.join(', ')}.`, oneOf(logLevels), 'info', {
    env: 'LOG_LEVEL',
    flag: 'logLevel',
  }),
});

/**
 * Settings whose value is in no settings file: it has `{env: NAME}` or `{file: PATH}`, and the environment the value or,
 * under the name with `_FILE`, a path.
 */
export const secretTable = {
  userToken: "The user's token",
  clientToken: "The client's token",
  triggerToken:
    'The token that asks for passes, suspends and resumes templates, and opens the status page; of at least 16 characters',
  pageToken:
    'The token that opens the status page and the API, and changes nothing; of at least 16 characters',
  store: 'Store for several machines, as postgres://USER:PASSWORD@HOST/DATABASE',
} as const;

export type SecretKey = keyof typeof secretTable;

/** Those that a client has for itself. */
export const clientSecrets = ['userToken', 'clientToken'] as const;
