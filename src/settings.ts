import path from 'node:path';
import { redactor } from './secrets.ts';
import { readClients, type ClientFiles } from './settings/clients.ts';
import { findSettingsFile, parseWritten, textOf } from './settings/file.ts';
import { attempt, SettingsError, type Problems } from './settings/problems.ts';
import { readReceivers } from './settings/receivers.ts';
import { openSecrets, ownTokenFault, storeFault, type SecretSource } from './settings/secrets.ts';
import {
  checkedVariables,
  configVariable,
  environmentSource,
  find,
  flagSource,
  resolve,
  writtenSource,
  type Reading,
  type Written,
} from './settings/sources.ts';
import { fileRows, programTable, runTable } from './settings/table.ts';

export type Settings = ReturnType<typeof readSettings>;

export interface SettingsRequest {
  /** The flags of the command line, as the argument parser names them; others are ignored. */
  readonly flags: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
  /** Whether the command needs base URL and tokens. `--sandbox` supplies both. */
  readonly needsService: boolean;
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
  readonly previous?: { readonly clientFiles: ClientFiles | null };
  /** Told, in a line, of a settings file that is read though nobody has named it. */
  readonly say?: (line: string) => void;
}

/**
 * Reads the settings from flags, environment, settings file and defaults, in this order. Durations are milliseconds. Throws
 * a SettingsError that has all problems.
 */
export const readSettings = (request: SettingsRequest) => {
  const { flags, cwd, object, mayLeaveOut = false, previous } = request;
  const problems: Problems = new Set();
  const isObject = object !== undefined;
  // Compose files pass missing values as empty ones.
  const given = Object.fromEntries(Object.entries(request.env).filter(([, value]) => value?.trim()));
  const env = isObject ? {} : checkedVariables(given, problems);
  const sandbox = flags['sandbox'] === true;
  const needsService = request.needsService && !sandbox;
  if (sandbox && flags['baseUrl'] !== undefined)
    problems.add('--base-url: the embedded service of --sandbox would take its place: keep one of them');
  // Node.js would obey it silently, and send the tokens to whoever answers instead of the service.
  if (needsService && given['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') problems.add(anyCertificate);
  const { file, isNamed } = isObject ? { file: null, isNamed: true } : settingsFile(request, env, problems);
  if (file !== null && !isNamed && previous === undefined)
    request.say?.(`settings from ${file}, since it is there; --no-config reads none`);
  const written = isObject ? writtenObject(request) : writtenFile(file, cwd, problems);
  const top = writtenSource(written, [], fileRows, problems);
  const base = { cwd, folder: cwd, mayHoldSecrets: true };
  const reading: Reading = {
    flags: flagSource(flags, base, problems),
    environment: environmentSource(env, base, problems),
    written,
    top,
    isBroken: written.isBroken,
    env,
    cwd,
    secrets: openSecrets(isObject ? given : env),
    problems,
    needsService,
    isObject,
    isForeign: !isNamed && !['false', '0', undefined].includes(env['CI']),
    override: overridesOf([flags['var'] ?? []].flat().map(String), problems),
  };
  const { secrets } = reading;
  const chosen = [flags['client'] ?? []].flat().flatMap((text) => String(text).split(','));
  const read = readClients(reading, chosen, previous?.clientFiles ?? null);
  const isLeftOut = mayLeaveOut && read.clients.length > 0;
  for (const line of isLeftOut ? [] : read.lines) problems.add(line);
  const sources = [reading.flags, reading.environment, top];
  const program = resolve({ ...programTable, ...runTable }, sources);
  const secretOf = (key: string, faultOf: (secret: string) => string | null): SecretSource | null => {
    const found = find(key, sources);
    return found?.value === undefined ? null : secrets.source(found, faultOf);
  };
  const store = secretOf('store', storeFault);
  if (store !== null) attempt(problems, store.read);
  const settings = {
    ...program,
    clients: read.clients,
    /** Where clients have files of their own; null where they have none. */
    clientFiles: read.files,
    /** Why clients are left out, or keep the settings that they had. May hold secrets. */
    leftOut: isLeftOut ? read.problems : [],
    /** Null: passes cannot be requested over HTTP. */
    triggerToken: secretOf('triggerToken', ownTokenFault),
    /** Null: page and API need no token. */
    pageToken: secretOf('pageToken', ownTokenFault),
    /** Where several machines share the state: `postgres://…`; null: each client's state directory. */
    store,
    // What a client's file is that cannot be read is not known.
    notify: readReceivers(reading, program.publicUrl, read.lines.length === 0 ? read.names : null),
    /** The settings file that was read, as it was given. */
    configFile: file,
    sandbox,
    /** Every secret read so far, also replaced ones: none of them may reach an output. */
    secrets: () => secrets.seen(),
    /** The same, and all others that the settings name and that can be read, for commands that need no tokens. */
    allSecrets: () => secrets.all(),
  };
  if (problems.size === 0) return settings;
  const redact = redactor(secrets.seen());
  throw new SettingsError([...problems].map((line) => redact(line)));
};

const anyCertificate =
  'NODE_TLS_REJECT_UNAUTHORIZED: 0 switches off the check of certificates, so that anybody on the network path could read the tokens: unset it, and add your own authority with NODE_EXTRA_CA_CERTS=FILE';

/** A settings file can send any variable and any file to any address, so reading one can be switched off. */
const settingsFile = ({ flags, cwd }: SettingsRequest, env: NodeJS.ProcessEnv, problems: Problems) => {
  const { config } = flags;
  if (typeof config === 'string') return { file: config, isNamed: true };
  const { [configVariable]: isOff } = env;
  if (config === undefined && isOff !== undefined && isOff !== 'off')
    problems.add(`${configVariable}: expected off; a settings file is given with --config`);
  if (config === false || isOff !== undefined) return { file: null, isNamed: true };
  return { file: findSettingsFile(cwd, problems), isNamed: false };
};

const writtenFile = (file: string | null, cwd: string, problems: Problems): Written => {
  const place = { absolute: path.resolve(cwd, file ?? ''), file: file ?? '', cwd };
  return parseWritten(file === null ? '' : textOf(place, problems), place, problems);
};

const writtenObject = ({ object, cwd, folder = cwd }: SettingsRequest): Written => ({
  value: object,
  base: { cwd, folder, mayHoldSecrets: true },
  placeOf: (keys) => keys.join('.') || 'settings',
  isBroken: false,
});

const overridesOf = (given: readonly string[], problems: Problems): Readonly<Record<string, string>> => {
  const pairs = given.map((text) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]);
  if (given.some((text) => text.indexOf('=') < 1)) problems.add('--var: expected NAME=VALUE');
  return Object.fromEntries(pairs);
};
