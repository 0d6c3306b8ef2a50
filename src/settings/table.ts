import { answersChoices, modes, surplusPolicies } from '../model/template.ts';
import type { Kind } from './kind.ts';
import {
  absolutePath,
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
  serviceAddress,
  shownPath,
  size,
  timezone,
  whole,
  yesOrNo,
} from './kind.ts';

/** One setting: its key in the config file, its environment variable, its flag and its default. */
export interface Setting<T> {
  readonly kind: Kind<T>;
  readonly fallback: T;
  readonly about: string;
  readonly env?: string;
  readonly flag?: FlagName;
  /** The default as help shows it, where it depends on the environment. */
  readonly shownDefault?: string;
}

export type Table = Readonly<Record<string, Setting<unknown>>>;

/** The flags that are settings, as their camel-cased names. */
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

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** What a process that shares a store with others does. */
const setting = <T>(
  about: string,
  kind: Kind<T>,
  fallback: T,
  from: Pick<Setting<T>, 'env' | 'flag' | 'shownDefault'> = {},
): Setting<T> => ({ about, kind, fallback, ...from });

const second = 1_000;
const minute = 60 * second;
/** Timers cannot exceed 24 days; a day is more than any of these needs. */
const timer = { max: 24 * 60 * minute };
const mebibyte = 1_024 ** 2;
const any = Number.MAX_SAFE_INTEGER;

/** Settings that each client may have. The state directory's default depends on the environment. */
export const clientTable = {
  baseUrl: setting('Base address of the service, ending in /api/v1.', serviceAddress, '', {
    env: 'DNS_SYNC_BASE_URL',
    flag: 'baseUrl',
  }),
  allowInsecure: setting(
    'Allow http: to other machines, which sends the tokens unencrypted.',
    yesOrNo,
    false,
  ),
  templates: setting(
    'Directories with template files, or template files.',
    list(shownPath, ':'),
    ['templates'],
    { env: 'DNS_SYNC_TEMPLATES', flag: 'templates', shownDefault: './templates' },
  ),
  stateDir: setting('Directory for the saved state.', absolutePath, '', {
    env: 'DNS_SYNC_STATE_DIR',
    flag: 'stateDir',
    shownDefault: '~/.local/state/dns-template-sync',
  }),
  schedule: setting(
    'When a pass starts: cron with five fields, or six with seconds first.',
    cron,
    '*/5 * * * *',
    { env: 'DNS_SYNC_SCHEDULE', flag: 'schedule' },
  ),
  timezone: setting('Time zone of the schedule.', timezone, 'UTC', {
    env: 'DNS_SYNC_TIMEZONE',
    flag: 'timezone',
  }),
  dryRun: setting('Report only, write nothing.', yesOrNo, false, { env: 'DNS_SYNC_DRY_RUN', flag: 'dryRun' }),
  mode: setting('What a pass may write.', oneOf(modes), 'enforce', { env: 'DNS_SYNC_MODE' }),
  surplus: setting('What to do with records that no file lists.', oneOf(surplusPolicies), 'report', {
    env: 'DNS_SYNC_SURPLUS',
  }),
  adopt: setting("Treat records that the file never listed as the file's own.", yesOrNo, false, {
    env: 'DNS_SYNC_ADOPT',
  }),
  requestTimeout: setting('Longest wait for an answer.', duration({ min: 1, ...timer }), 30 * second, {
    env: 'DNS_SYNC_REQUEST_TIMEOUT',
  }),
  writeTimeout: setting(
    'Longest wait for the answer to a write.',
    duration({ min: 1, ...timer }),
    8 * second,
    {
      env: 'DNS_SYNC_WRITE_TIMEOUT',
    },
  ),
  settle: setting('Wait between the two listings that a write needs.', duration(timer), 10 * second, {
    env: 'DNS_SYNC_SETTLE',
  }),
  unknownPause: setting(
    'Wait before an add of unknown outcome is sent again, if no listing shows its record.',
    duration({ min: 1 }),
    5 * minute,
    { env: 'DNS_SYNC_UNKNOWN_PAUSE' },
  ),
  concurrency: setting('Maximum number of requests at a time, per client.', whole(1, 256), 8, {
    env: 'DNS_SYNC_CONCURRENCY',
  }),
  proxy: setting('HTTP proxy to the service and to receivers, or off.', proxyAddress, null, {
    env: 'DNS_SYNC_PROXY',
  }),
  ca: setting<string | null>(
    'File with certificates of authorities to trust in addition to the usual ones.',
    absolutePath,
    null,
    { env: 'DNS_SYNC_CA' },
  ),
  subdomainGrace: setting('How long a subdomain may lag behind its template.', duration(), 15 * minute, {
    env: 'DNS_SYNC_SUBDOMAIN_GRACE',
  }),
  answers: setting(
    'Whether to check what name servers answer for the subdomains.',
    oneOf(answersChoices),
    'off',
    {
      env: 'DNS_SYNC_ANSWERS',
    },
  ),
  answersSchedule: setting('When name servers are asked: cron, as for schedule.', cron, '0 * * * *', {
    env: 'DNS_SYNC_ANSWERS_SCHEDULE',
  }),
  answersGrace: setting(
    'How long name servers may lag behind a write; the highest TTL, if that is longer.',
    duration(),
    60 * minute,
    { env: 'DNS_SYNC_ANSWERS_GRACE' },
  ),
  resolver: setting<string | null>(
    "Recursive server that finds the name servers (default: the system's).",
    resolverAddress,
    null,
    { env: 'DNS_SYNC_RESOLVER' },
  ),
  nameservers: setting<readonly string[]>(
    'Name servers to ask, for example with split horizon (default: those that each zone is delegated to).',
    list(nameServer, ','),
    [],
    { env: 'DNS_SYNC_NAMESERVERS' },
  ),
  commitUrl: setting<string | null>(
    'Address of a commit, with {sha} in its place, for links on the page and in messages.',
    commitAddress,
    null,
    { env: 'DNS_SYNC_COMMIT_URL' },
  ),
  // V8 strings end at half a gibibyte.
  maxAnswerSize: setting('Largest answer of the service.', size(1_024, 256 * mebibyte), 64 * mebibyte, {
    env: 'DNS_SYNC_MAX_ANSWER_SIZE',
  }),
};

/** The same, under `limits`. */
export const limitTable = {
  maxAdds: setting('Maximum number of adds in one template.', whole(0, any), 100, {
    env: 'DNS_SYNC_MAX_ADDS',
  }),
  maxAddsPerPass: setting('Maximum number of adds in one pass.', whole(0, any), 300, {
    env: 'DNS_SYNC_MAX_ADDS_PER_PASS',
  }),
  maxChangePercent: setting(
    'Maximum share of updates and parks, in percent of the current records.',
    whole(0, 100),
    30,
    {
      env: 'DNS_SYNC_MAX_CHANGE_PERCENT',
    },
  ),
  minRecords: setting('Templates with fewer records are exempt from maxChangePercent.', whole(0, any), 10, {
    env: 'DNS_SYNC_MIN_RECORDS',
  }),
};

/** Settings of the whole program. */
export const programTable = {
  listen: setting(
    'Address of the status page, probes and metrics, or off.',
    listenAddress,
    { host: '127.0.0.1', port: 8053 },
    { env: 'DNS_SYNC_LISTEN', flag: 'listen' },
  ),
  allowedHosts: setting<readonly string[]>(
    'Host names by which requests may reach the server, besides localhost.',
    list(hostName, ','),
    [],
    { env: 'DNS_SYNC_ALLOWED_HOSTS' },
  ),
  leaseDuration: setting(
    'With a PostgreSQL store: how long a client stays assigned to a process that does not respond.',
    duration({ min: second, ...timer }),
    30 * second,
    { env: 'DNS_SYNC_LEASE_DURATION' },
  ),
  storeConnections: setting(
    'With a PostgreSQL store: maximum number of connections of this process to PostgreSQL.',
    whole(4, 1_000),
    10,
    {
      env: 'DNS_SYNC_STORE_CONNECTIONS',
    },
  ),
};

/** The public address of this program, which it cannot find out by itself. */
export const publicTable = {
  publicUrl: setting(
    'Address under which people reach the status page, for links in messages.',
    serviceAddress,
    '',
    {
      env: 'DNS_SYNC_PUBLIC_URL',
    },
  ),
};

/** Not in the config file: a log level is for one run. */
export const runTable = {
  logLevel: setting(`Lowest level that is logged: ${logLevels.join(', ')}.`, oneOf(logLevels), 'info', {
    env: 'LOG_LEVEL',
    flag: 'logLevel',
  }),
};
