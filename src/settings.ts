import { nearest } from './lib/nearest.ts';
import { redactor } from './secrets.ts';
import type { ClientSettings, Needs } from './settings/client.ts';
import { secretOf } from './settings/client.ts';
import { checkTwins, readClients } from './settings/all-clients.ts';
import type { ClientFiles, ClientProblem } from './settings/client-files.ts';
import { readConfigFile } from './settings/config-file.ts';
import { readConfigObject } from './settings/config-object.ts';
import type { ListenAddress } from './settings/kind.ts';
import { notifyTargets, type NotifyReceiver } from './settings/notify.ts';
import { Problems } from './settings/problems.ts';
import type { Sources } from './settings/resolve.ts';
import { resolve } from './settings/resolve.ts';
import type { SecretSource } from './settings/secret.ts';
import { Secrets } from './settings/secret.ts';
import type { FlagName, LogLevel } from './settings/table.ts';
import { storeOf, storeVariables } from './settings/store.ts';
import { clientTable, limitTable, programTable, publicTable, runTable } from './settings/table.ts';

/** The flags of the command line that are settings, as the argument parser names them. */
export interface Flags extends Partial<Record<FlagName, string | boolean | readonly string[] | undefined>> {
  /** False: read none, not even the default one. */
  readonly config?: string | false | undefined;
  /** Names or patterns. */
  readonly client?: readonly string[] | undefined;
  /** `NAME=VALUE` each. */
  readonly var?: readonly string[] | undefined;
  readonly sandbox?: boolean | undefined;
}

export interface Settings {
  readonly clients: readonly ClientSettings[];
  /** Where clients have files of their own; null where they have none. */
  readonly clientFiles: ClientFiles | null;
  /** Why clients are left out, or keep the settings that they had. May hold secrets. */
  readonly leftOut: readonly ClientProblem[];
  /** Null: no HTTP. */
  readonly listen: ListenAddress | null;
  readonly allowedHosts: readonly string[];
  /** Null: passes cannot be requested over HTTP. */
  readonly triggerToken: SecretSource | null;
  /** Null: page and API need no token. */
  readonly pageToken: SecretSource | null;
  /** Where several machines share the state: `postgres://…`; null: each client's state directory. */
  readonly store: SecretSource | null;
  /** Milliseconds after which another process may take a client over, where the state is shared. */
  readonly leaseDuration: number;
  readonly storeConnections: number;
  /** The address of the status page for people; null if it is not set. */
  readonly publicUrl: string | null;
  /** The receivers of notifications. */
  readonly notify: readonly NotifyReceiver[];
  readonly logLevel: LogLevel;
  /** The config file that was read, as it was given. */
  readonly configFile: string | null;
  /** Use the embedded service instead of base URL and tokens. */
  readonly sandbox: boolean;
  /** Every secret read so far, also replaced ones: none of them may reach an output. */
  readonly secrets: () => readonly string[];
  /** The same, and all others that the settings name and that can be read, for commands that need no tokens. */
  readonly allSecrets: () => readonly string[];
}

export interface SettingsRequest {
  readonly flags: Flags;
  /** What the command requires. `--sandbox` supplies both. */
  readonly needs: Needs;
  readonly env: NodeJS.ProcessEnv;
  /** What relative paths start from, and are shown relative to. */
  readonly cwd: string;
  /** Settings of a program, in place of variables and config file; `env` then only has the secrets that they name. */
  readonly object?: unknown;
  /** What relative paths in that object start from; default: `cwd`. */
  readonly folder?: string | undefined;
  /** Clients whose files cannot be used are left out while there are others, rather than an error. */
  readonly mayLeaveOut?: boolean;
  /** What was read before: a client whose file cannot be used keeps its settings. */
  readonly previous?: Settings;
}

/**
 * Reads the settings from flags, environment, config file and defaults, in this order. Throws a UserError
 * that lists all problems.
 */
export const readSettings = ({
  flags,
  needs,
  env,
  cwd,
  object,
  folder = cwd,
  mayLeaveOut = false,
  previous,
}: SettingsRequest): Settings => {
  const problems = new Problems();
  const isObject = object !== undefined;
  const { config, literals } = isObject
    ? readConfigObject(object, folder, problems)
    : { config: readConfigFile(flags.config ?? configIn(env, problems), cwd, problems), literals: {} };
  const secrets = new Secrets(env, literals);
  const sandbox = flags.sandbox === true;
  const sections = config ? [config.top] : [];
  const program: Sources = {
    flags,
    env: isObject ? {} : env,
    sections,
    cwd,
    problems,
    isObject,
  };

  if (sandbox && flags['baseUrl'] !== undefined)
    problems.add('--base-url', 'the embedded service of --sandbox would take its place: keep one of them');
  if (needs.baseUrl && !sandbox) checkCertificates(env, problems);
  if (!isObject) checkVariableNames(env, problems);
  const override = overridesOf(flags.var ?? [], problems);
  const clientNeeds = sandbox ? { ...needs, baseUrl: false, tokens: false } : needs;
  const { clients, files, names, fileProblems } = readClients({
    config,
    chosen: (flags.client ?? []).flatMap((text) => text.split(',')),
    sources: program,
    secrets,
    needs: clientNeeds,
    override,
    previous: previous?.clientFiles ?? null,
  });
  const isLeftOut = mayLeaveOut && clients.length > 0;
  if (!isLeftOut) for (const problem of fileProblems) problems.addLine(lineOf(problem));
  // What a file is that cannot be read is not known.
  const known = fileProblems.length === 0 ? names : null;
  const publicUrl = resolve(publicTable, program).publicUrl || null;
  const settings = {
    ...resolve(programTable, program),
    ...resolve(runTable, program),
    clients,
    clientFiles: files,
    triggerToken: secretOf('triggerToken', 'DNS_SYNC_TRIGGER_TOKEN', program, secrets, minOwnTokenLength),
    pageToken: secretOf('pageToken', 'DNS_SYNC_PAGE_TOKEN', program, secrets, minOwnTokenLength),
    store: storeOf(program, secrets),
    publicUrl,
    notify: notifyTargets(program, secrets, publicUrl, known),
    configFile: config?.file ?? null,
    sandbox,
    secrets: () => secrets.seen(),
    allSecrets: () => secrets.all(),
  };
  let redact: ((text: string) => string) | undefined;
  // With thousands of secrets it takes long to make, and mostly there are no problems.
  const redacted = (text: string): string => (redact ??= redactor(secrets.seen()))(text);
  problems.settle(redacted);
  if (clientNeeds.tokens && files === null) checkTwins(clients, problems);
  problems.settle(redacted);
  return { ...settings, leftOut: isLeftOut ? fileProblems : [] };
};

const lineOf = ({ file, line, column, message }: ClientProblem): string =>
  `${[file, line, column].flatMap((part) => (part === null ? [] : `${part}:`)).join('')} ${message}`.trimStart();

/** Characters of the tokens that protect this program: they must not be easy to guess. */
const minOwnTokenLength = 16;

const configVariable = 'DNS_SYNC_CONFIG';

/**
 * A settings file can send any variable and any file to any address, so reading one can be switched off for
 * directories that others can write to.
 */
const configIn = (env: NodeJS.ProcessEnv, problems: Problems): false | undefined => {
  const value = env[configVariable];
  if (value === undefined || value === '') return undefined;
  if (value !== 'off') problems.add(configVariable, 'expected off; a settings file is given with --config');
  return false;
};

const overridesOf = (given: readonly string[], problems: Problems): Readonly<Record<string, string>> => {
  const overrides: Record<string, string> = {};
  for (const text of given) {
    const at = text.indexOf('=');
    if (at > 0) overrides[text.slice(0, at)] = text.slice(at + 1);
    else problems.add('--var', 'expected NAME=VALUE');
  }
  return overrides;
};

/** Node.js would obey it silently, and send the tokens to whoever answers instead of the service. */
const checkCertificates = (
  { NODE_TLS_REJECT_UNAUTHORIZED: checks }: NodeJS.ProcessEnv,
  problems: Problems,
): void => {
  if (checks !== '0') return;
  problems.add(
    'NODE_TLS_REJECT_UNAUTHORIZED',
    '0 switches off the check of certificates, so that anybody on the network path could read the tokens: unset it, and add your own authority with NODE_EXTRA_CA_CERTS=FILE',
  );
};

/**
 * A misspelled variable would silently leave its setting at the default. Tokens are exempt: they have no
 * default, and the config file may take them from variables of any name.
 */
const checkVariableNames = (env: NodeJS.ProcessEnv, problems: Problems): void => {
  const tables = [clientTable, limitTable, programTable, publicTable, runTable];
  const known = [
    configVariable,
    ...storeVariables,
    ...tables.flatMap((table) => Object.values(table).flatMap(({ env: name }) => name ?? [])),
  ];
  for (const name of Object.keys(env)) {
    if (!name.startsWith('DNS_SYNC_') || known.includes(name)) continue;
    const meant = nearest(name, known);
    if (meant !== null) problems.add(name, `unknown variable; did you mean ${meant}?`);
  }
};
