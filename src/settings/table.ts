import { z } from 'zod';
import { answersChoices, modes, surplusPolicies } from '../model/template.ts';
import * as kinds from './kinds.ts';
import type { Kind, Setting, Table } from './kinds.ts';

function row<T>(about: string, kind: Kind<T>, fallback: NoInfer<T>): Setting<T>;
function row<T>(about: string, kind: Kind<T>, fallback: null): Setting<T | null>;
function row(about: string, kind: Kind<unknown>, fallback: unknown): Setting<unknown> {
  return { about, kind, fallback, variables: [], isRequired: false };
}

/** Settings with variables such as `DNS_SYNC_MAX_ADDS` for `maxAdds`; of secrets also the path of a file with it. */
const withVariables = <Rows extends Table>(rows: Rows): Rows => {
  const named = Object.entries(rows).map(([key, one]) => {
    const name = `DNS_SYNC_${key.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`;
    return [key, { ...one, variables: one.kind.isSecret ? [name, `${name}_FILE`] : [name] }];
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same rows otherwise
  return Object.fromEntries(named) as Rows;
};

const second = 1_000;
const minute = 60 * second;
/** Timers cannot exceed 24 days; a day is more than any of these needs. */
const day = 24 * 60 * minute;
const mebibyte = 1_024 ** 2;

const paths = kinds.list(kinds.shownPath, ':');

/** Settings that each client may have. */
export const clientTable = {
  allowInsecure: row('Allow http: to other machines: sends the tokens unencrypted.', kinds.yesOrNo, false),
  ...withVariables({
    baseUrl: row('Base address of the service, ending in /api/v1.', kinds.address, null),
    templates: row('Directories with template files, or template files.', paths, ['templates']),
    stateDir: row('Directory for the saved state.', kinds.absolutePath, null),
    schedule: row(
      'When a pass starts: cron with five fields, or six with seconds first.',
      kinds.cron,
      '*/5 * * * *',
    ),
    timezone: row('Time zone of the schedule.', kinds.timezone, 'UTC'),
    dryRun: row('Report only, write nothing.', kinds.yesOrNo, false),
    mode: row('What a pass may write.', kinds.oneOf(modes), 'enforce'),
    surplus: row('What to do with records that no file lists.', kinds.oneOf(surplusPolicies), 'report'),
    adopt: row("Treat records that the file never listed as the file's own.", kinds.yesOrNo, false),
    requestTimeout: row('Longest wait for an answer.', kinds.duration(1, day), 30 * second),
    writeTimeout: row('Longest wait for the answer to a write.', kinds.duration(1, day), 8 * second),
    settle: row('Wait between the two listings that a write needs.', kinds.duration(0, day), 10 * second),
    unknownPause: row('How long a write may still take effect.', kinds.duration(1), 5 * minute),
    concurrency: row('Maximum number of requests at a time, per client.', kinds.whole(1, 256), 8),
    proxy: row('HTTP proxy to the service and to receivers, or off.', kinds.proxyAddress, null),
    ca: row('File with certificates of more authorities to trust.', kinds.absolutePath, null),
    subdomainGrace: row('How long a subdomain may lag behind its template.', kinds.duration(), 15 * minute),
    answers: row('Whether to check what name servers answer.', kinds.oneOf(answersChoices), 'off'),
    answersSchedule: row('When name servers are asked: cron, as for schedule.', kinds.cron, '0 * * * *'),
    answersGrace: row('How long name servers may lag behind a write.', kinds.duration(), 60 * minute),
    resolver: row("Server that finds the name servers (default: the system's).", kinds.resolver, null),
    nameservers: row('Name servers to ask (default: those of each zone).', kinds.list(kinds.nameServer), []),
    commitUrl: row('Address of a commit, with {sha} in its place, for links.', kinds.commitAddress, null),
    // V8 strings end at half a gibibyte.
    maxAnswerSize: row('Largest answer of the service.', kinds.size(1_024, 256 * mebibyte), 64 * mebibyte),
  }),
};

/** The same, under `limits`. */
export const limitTable = withVariables({
  maxAdds: row('Maximum number of adds in one template.', kinds.whole(0), 100),
  maxAddsPerPass: row('Maximum number of adds in one pass.', kinds.whole(0), 300),
  maxChangePercent: row('Maximum share of updates and parks, in percent.', kinds.whole(0, 100), 30),
  minRecords: row('Templates with fewer records are exempt from maxChangePercent.', kinds.whole(0), 10),
});

const usualAddress = { host: '127.0.0.1', port: 8053 };

/** Settings of the whole program. */
export const programTable = withVariables({
  listen: row('Address of the status page, probes and metrics, or off.', kinds.listenAddress, usualAddress),
  allowedHosts: row('Host names of the server, besides localhost.', kinds.list(kinds.hostName), []),
  leaseDuration: row(
    'How long a silent process keeps its clients.',
    kinds.duration(second, day),
    30 * second,
  ),
  storeConnections: row('Maximum number of connections to PostgreSQL.', kinds.whole(4, 1_000), 10),
  publicUrl: row('Address under which people reach the page, for links.', kinds.address, null),
});

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

const logLevel = row(`Lowest level that is logged: ${logLevels.join(', ')}.`, kinds.oneOf(logLevels), 'info');
/** Not in the settings file: a log level is for one run. */
export const runTable = { logLevel: { ...logLevel, variables: ['LOG_LEVEL'] } };

/** The settings that are flags too. */
export const flags: readonly string[] =
  'baseUrl templates stateDir schedule timezone dryRun listen logLevel'.split(' ');

const inFile = '{env: NAME} or {file: PATH}, never the secret itself.';

/** Secrets that a client has for itself. */
export const clientSecrets = withVariables({
  userToken: row(`The user's token: ${inFile}`, kinds.secret(), null),
  clientToken: row(`The client's token: ${inFile}`, kinds.secret(), null),
});

const programSecrets = withVariables({
  triggerToken: row(`Token for the page and its actions: ${inFile}`, kinds.secret(), null),
  pageToken: row(`Token for the page and the API: ${inFile}`, kinds.secret(), null),
  store: row(`PostgreSQL store, postgres://USER:PASSWORD@HOST/DATABASE: ${inFile}`, kinds.secret(), null),
});

/** What a receiver can subscribe to. */
export const occasions = ['drift', 'suspended', 'held', 'failed', 'unknown'] as const;

const receiverTypes = kinds.oneOf(['webhook', 'slack']);
const receiverUrl = kinds.secret('expected an address, {env: NAME} or {file: PATH}', true);

/** A receiver of notifications. */
export const receiverTable = {
  type: {
    ...row('JSON as `schema notification` has it, or that of Slack.', receiverTypes, 'slack'),
    isRequired: true,
  },
  url: {
    ...row('The address; for slack, and with a query: {env: NAME} or {file: PATH}.', receiverUrl, ''),
    isRequired: true,
  },
  secret: row(`Signs the messages of a webhook: ${inFile}`, kinds.secret(), null),
  on: row('What to report (default: everything).', kinds.list(kinds.oneOf(occasions)), occasions),
  clients: row('For which clients (default: all).', kinds.list(kinds.givenName), null),
  timeout: row('Longest wait for an answer (default: 10s).', kinds.duration(1, minute), 10 * second),
  after: row('How long a change has to last before it is sent (default: 0s).', kinds.duration(), 0),
  allowInsecure: row('Allow http: to a host that is not this machine.', kinds.yesOrNo, false),
};

const mapOf = (rows: Table) => z.record(z.string().regex(kinds.namePattern), objectOf(rows));

const limits = { ...kinds.elsewhere(() => objectOf(limitTable)), rows: limitTable };

/** What each client in the settings file may have. */
export const clientRows = {
  ...clientTable,
  ...clientSecrets,
  limits: row('How much a pass may change before the template is held.', limits, null),
  vars: row('Variables for the template files.', kinds.texts, {}),
};

const receivers = kinds.elsewhere(() => mapOf(receiverTable));
const clients = kinds.sectionsOrPaths(() => mapOf(clientRows));

/** What the settings file may have. */
export const fileRows = {
  ...clientRows,
  ...programTable,
  ...programSecrets,
  notify: row('Receivers of notifications, by name.', receivers, null),
  clients: row('Several clients by name, or the files that describe one each.', clients, null),
};

/** What a file with one client may have. */
export const clientFileRows = {
  name: row("The client's name (default: the file's).", kinds.givenName, null),
  ...clientRows,
};

/** All that may come from the environment, and more. */
export const everyRow: Table = { ...fileRows, ...limitTable, ...runTable };

export const fileSchema = (): z.ZodType => objectOf(fileRows);
export const clientFileSchema = (): z.ZodType => objectOf(clientFileRows);

/** For JSON Schema. */
const objectOf = (rows: Table): z.ZodType => {
  const forms = Object.entries(rows).map(([key, { kind, about, isRequired }]) => {
    const form = kinds.formOf(kind);
    return [key, (isRequired ? form : form.optional()).describe(about)];
  });
  return z.strictObject(Object.fromEntries(forms));
};
