import path from 'node:path';
import { nearest } from './lib/nearest.ts';
import { redactor } from './secrets.ts';
import { readClients, refuseTwins } from './settings/clients.ts';
import type { ClientFiles, ClientProblem } from './settings/client-files.ts';
import type { ClientSettings, Needs } from './settings/client.ts';
import {
  findConfigFile,
  objectSettings,
  parseSettings,
  readText,
  type Section,
} from './settings/document.ts';
import { notifyTargets, type NotifyReceiver } from './settings/notify.ts';
import { Problems } from './settings/problems.ts';
import { secretOf, Secrets, storeOf, variablesOf, type SecretSource } from './settings/secret.ts';
import { quotesAdvice, resolve, standsInQuotes, type Sources } from './settings/sources.ts';
import {
  clientTable,
  limitTable,
  programTable,
  runTable,
  type FlagName,
  type Values,
} from './settings/table.ts';

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

/** Durations are milliseconds. `listen` is null for no HTTP. */
export interface Settings extends Values<typeof programTable>, Values<typeof runTable> {
  readonly clients: readonly ClientSettings[];
  /** Where clients have files of their own; null where they have none. */
  readonly clientFiles: ClientFiles | null;
  /** Why clients are left out, or keep the settings that they had. May hold secrets. */
  readonly leftOut: readonly ClientProblem[];
  /** Null: passes cannot be requested over HTTP. */
  readonly triggerToken: SecretSource | null;
  /** Null: page and API need no token. */
  readonly pageToken: SecretSource | null;
  /** Where several machines share the state: `postgres://…`; null: each client's state directory. */
  readonly store: SecretSource | null;
  /** The receivers of notifications. */
  readonly notify: readonly NotifyReceiver[];
  /** The settings file that was read, as it was given. */
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
  /** Settings of a program, in place of variables and settings file; `env` then only has the secrets that they name. */
  readonly object?: unknown;
  /** What relative paths in that object start from; default: `cwd`. */
  readonly folder?: string | undefined;
  /** Clients whose files cannot be used are left out while there are others, rather than an error. */
  readonly mayLeaveOut?: boolean;
  /** What was read before: a client whose file cannot be used keeps its settings. */
  readonly previous?: Settings;
  /** Told, in a line, of a settings file that is read though nobody has named it. */
  readonly say?: (line: string) => void;
}

/**
 * Reads the settings from flags, environment, settings file and defaults, in this order. Throws a SettingsError that
 * has all problems.
 */
export const readSettings = (request: SettingsRequest): Settings => {
  const { flags, cwd, object, folder = cwd, mayLeaveOut = false, previous } = request;
  const problems = new Problems();
  // Compose files pass missing values as empty ones.
  const env = Object.fromEntries(Object.entries(request.env).filter(([, value]) => value?.trim()));
  const isObject = object !== undefined;
  const named = isObject ? null : namedFile(flags.config, env, problems);
  const file = named === undefined ? findConfigFile(cwd, problems) : named;
  if (named === undefined && file !== null && previous === undefined)
    request.say?.(`settings from ${file}, since it is there; --no-config reads none`);
  const config = isObject ? objectSettings(object, folder, problems) : fileSettings(file, cwd, problems);
  const secrets = new Secrets(env);
  const sandbox = flags.sandbox === true;
  const sources: Sources = {
    flags,
    env: isObject ? {} : env,
    sections: config ? [config] : [],
    cwd,
    problems,
    isObject,
    isForeign: named === undefined && !['false', '0', undefined].includes(env['CI']),
  };
  if (sandbox && flags.baseUrl !== undefined)
    problems.add('--base-url', 'the embedded service of --sandbox would take its place: keep one of them');
  if (request.needs.baseUrl && !sandbox) checkCertificates(env, problems);
  if (!isObject) checkVariables(env, problems);
  const needs = sandbox ? { ...request.needs, baseUrl: false, tokens: false } : request.needs;
  const { clients, files, names, fileProblems } = readClients({
    config,
    chosen: (flags.client ?? []).flatMap((text) => text.split(',')),
    sources,
    secrets,
    needs,
    override: overridesOf(flags.var ?? [], problems),
    previous: previous?.clientFiles ?? null,
  });
  const isLeftOut = mayLeaveOut && clients.length > 0;
  if (!isLeftOut) for (const problem of fileProblems) problems.add(null, lineOf(problem));
  const program = resolve(programTable, sources);
  const settings = {
    ...program,
    ...resolve(runTable, sources),
    clients,
    clientFiles: files,
    leftOut: isLeftOut ? fileProblems : [],
    triggerToken: secretOf('triggerToken', sources, secrets, minOwnTokenLength),
    pageToken: secretOf('pageToken', sources, secrets, minOwnTokenLength),
    store: storeOf(sources, secrets),
    // What a client's file is that cannot be read is not known.
    notify: notifyTargets(sources, secrets, program.publicUrl, fileProblems.length === 0 ? names : null),
    configFile: file,
    sandbox,
    secrets: () => secrets.seen(),
    allSecrets: () => secrets.all(),
  };
  // With thousands of secrets a redactor takes long to make, and mostly there are no problems.
  if (problems.lines.length === 0 && needs.tokens && files === null) refuseTwins(clients, problems);
  if (problems.lines.length > 0) problems.settle(redactor(secrets.seen()));
  return settings;
};

/** Characters of the tokens that protect this program: they must not be easy to guess. */
const minOwnTokenLength = 16;

const configVariable = 'DNS_SYNC_CONFIG';

/**
 * Undefined: nobody has named one. A settings file can send any variable and any file to any address, so reading one can
 * be switched off for directories that others can write to.
 */
const namedFile = (
  given: string | false | undefined,
  { [configVariable]: value }: NodeJS.ProcessEnv,
  problems: Problems,
): string | null | undefined => {
  if (given !== undefined) return given === false ? null : given;
  if (value === undefined) return undefined;
  if (value !== 'off') problems.add(configVariable, 'expected off; a settings file is given with --config');
  return null;
};

/** Null if there is none. Errors go to `problems`, and invalid values are left out. */
const fileSettings = (file: string | null, cwd: string, problems: Problems): Section | null => {
  if (file === null) return null;
  const request = { absolute: path.resolve(cwd, file), file, what: 'config file', problems } as const;
  const text = readText(request);
  return text === null ? null : parseSettings(text, request);
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
 * default, and the settings file may take them from variables of any name.
 */
const checkVariables = (env: NodeJS.ProcessEnv, problems: Problems): void => {
  const rows = Object.values({ ...clientTable, ...limitTable, ...programTable, ...runTable });
  const known = [configVariable, ...variablesOf('store'), ...rows.flatMap((row) => row.env ?? [])];
  for (const name of Object.keys(env)) {
    if (!name.startsWith('DNS_SYNC_') || known.includes(name)) continue;
    const meant = nearest(name, known);
    if (meant !== null) problems.add(name, `unknown variable; did you mean ${meant}?`);
  }
  // Nothing would complain of these.
  for (const name of ['NO_PROXY', 'no_proxy', 'XDG_STATE_HOME'])
    if (standsInQuotes(env[name])) problems.add(name, quotesAdvice);
};

const lineOf = ({ file, line, column, message }: ClientProblem): string =>
  `${[file, line, column].flatMap((part) => (part === null ? [] : `${part}:`)).join('')} ${message}`.trimStart();
