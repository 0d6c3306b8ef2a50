import path from 'node:path';
import { UserError } from '../errors.ts';
import { valueAt, type Section } from './document.ts';
import type { Route } from '../model/route.ts';
import { isLoopback } from '../model/address.ts';
import type { Sources } from './resolve.ts';
import { givenIn, placeOf, resolve, type GivenSetting } from './resolve.ts';
import { proxyVariables, routesOf } from './route.ts';
import type { SecretReference, Secrets, SecretSource } from './secret.ts';
import type { clientTable, Values } from './table.ts';
import { clientTable as table, limitTable } from './table.ts';

/** Both tokens of a client. Read again before a pass that follows a 401: their files may have been replaced. */
interface TokenSource {
  /** Throws a UserError that names the source, never the value. */
  readonly read: () => { readonly userToken: string; readonly clientToken: string; readonly places?: string };
}

/** Variables for template files, in order of precedence; a file's own come between `override` and `client`. */
interface VariableSources {
  readonly override: Readonly<Record<string, string>>;
  readonly client: Readonly<Record<string, string>>;
  readonly config: Readonly<Record<string, string>>;
}

/** The settings of one client. Durations are milliseconds; `baseUrl` is empty if the command does not need it. */
export interface ClientSettings
  extends Omit<Values<typeof clientTable>, 'allowInsecure' | keyof Route>, Route {
  readonly name: string;
  /** What its relative paths start from. */
  readonly cwd: string;
  readonly tokens: TokenSource;
  readonly limits: Values<typeof limitTable>;
  readonly vars: VariableSources;
  /** What was set and where, for people. */
  readonly given: () => GivenSettings;
}

interface GivenSettings {
  /** Of those in the table of clients. */
  readonly settings: Readonly<Record<string, GivenSetting>>;
  /** Variables that name a proxy, whether it is used or not. */
  readonly proxies: readonly string[];
}

export interface Needs {
  readonly baseUrl: boolean;
  readonly tokens: boolean;
  /** Whether settings of a program must say where the state is; all others have a default. */
  readonly stateDir?: boolean;
}

export interface ClientRequest {
  readonly name: string;
  readonly sources: Sources;
  readonly secrets: Secrets;
  readonly needs: Needs;
  readonly override: Readonly<Record<string, string>>;
  /** Whether the file has other clients, and this one was not chosen. */
  readonly isOneOfSeveral: boolean;
}

export const resolveClient = (request: ClientRequest): ClientSettings => {
  const { name, sources, secrets, needs, override } = request;
  if (request.isOneOfSeveral) refuseOverrides(sources, needs);
  const { allowInsecure, ...values } = resolve(table, sources);
  checkAddress(values.baseUrl, allowInsecure, needs, sources);
  const route = needs.baseUrl
    ? routesOf(values, sources, secrets)(values.baseUrl)
    : { proxy: null, ca: null };
  if (!allowInsecure) checkRoute(values.baseUrl, route, sources);
  return {
    ...values,
    ...route,
    name,
    cwd: sources.cwd,
    stateDir: values.stateDir || usualStateDir(sources, needs),
    limits: resolve(limitTable, sources, 'limits.'),
    tokens: tokensOf(sources, secrets, needs),
    vars: { override, ...fileVariables(sources) },
    given: () => ({
      settings: givenIn(table, sources),
      proxies: proxyVariables.filter((variable) => sources.env[variable]),
    }),
  };
};

/** Settings that identify a client: one environment variable would make several clients the same. */
const ownSettings = [
  ['baseUrl', ['DNS_SYNC_BASE_URL'], 'baseUrl'],
  ['templates', ['DNS_SYNC_TEMPLATES'], null],
  ['userToken', ['DNS_SYNC_USER_TOKEN', 'DNS_SYNC_USER_TOKEN_FILE'], 'tokens'],
  ['clientToken', ['DNS_SYNC_CLIENT_TOKEN', 'DNS_SYNC_CLIENT_TOKEN_FILE'], 'tokens'],
] as const;

/** A variable has precedence over the file, so it would replace what the file says for each client. */
const refuseOverrides = ({ env, sections: [own], problems }: Sources, needs: Needs): void => {
  for (const [key, variables, need] of ownSettings) {
    if (own === undefined || valueAt(own, key) === undefined || (need !== null && !needs[need])) continue;
    for (const variable of variables.filter((name) => env[name]))
      problems.add(
        variable,
        `would take the place of ${own.nameOf(key)} in the settings file, for every client: unset it, or choose one client with --client`,
        key,
      );
  }
};

/**
 * A secret from its variable, from the file that a second variable names, or from the config file; null if
 * there is none. `minLength` is in characters.
 */
export const secretOf = (
  key: string,
  variable: string,
  sources: Sources,
  secrets: Secrets,
  minLength?: number,
): SecretSource | null => {
  const { env, cwd, sections, problems } = sources;
  const fileVariable = `${variable}_FILE`;
  if (env[variable] !== undefined && env[fileVariable]) {
    problems.add(variable, `set together with ${fileVariable}: keep one of them`, key);
    return null;
  }
  if (env[fileVariable]) return secrets.fromFile(env[fileVariable], cwd, fileVariable, minLength);
  if (env[variable] !== undefined) return secrets.fromEnv(variable, variable, minLength);
  for (const section of sections) {
    const reference = valueAt(section, key);
    if (!isReference(reference)) continue;
    const place = section.place(key);
    return 'env' in reference
      ? secrets.fromEnv(reference.env, place, minLength)
      : secrets.fromFile(reference.file, section.folder, place, minLength);
  }
  return null;
};

const isReference = (value: unknown): value is SecretReference => typeof value === 'object' && value !== null;

const checkAddress = (baseUrl: string, allowInsecure: boolean, needs: Needs, sources: Sources): void => {
  const { problems } = sources;
  if (baseUrl === '') {
    if (!needs.baseUrl || problems.concern('baseUrl')) return;
    problems.add(
      keyName(sources, 'baseUrl'),
      sources.isObject
        ? 'required'
        : 'required: --base-url, DNS_SYNC_BASE_URL or baseUrl in the config file (or --sandbox, to try things out)',
    );
  } else if (baseUrl.startsWith('http:') && !allowInsecure && !isLoopback(new URL(baseUrl).hostname)) {
    problems.add(
      placeOf(table.baseUrl, 'baseUrl', sources) ?? keyName(sources, 'baseUrl'),
      'http: would send the tokens unencrypted: use https:, or set allowInsecure: true in the config file',
    );
  }
};

/** What is allowed to this machine in clear would leave it. */
const checkRoute = (baseUrl: string, { proxy }: Route, { problems }: Sources): void => {
  if (proxy === null || !baseUrl.startsWith('http:') || isLoopback(new URL(proxy.url).hostname)) return;
  problems.add(
    proxy.place,
    'http: would send the tokens unencrypted to the proxy: use https:, or set allowInsecure: true in the config file',
    'proxy',
  );
};

const tokensOf = (sources: Sources, secrets: Secrets, needs: Needs): TokenSource => {
  const sourceOf = (key: string, variable: string): SecretSource => {
    const source = secretOf(key, variable, sources, secrets) ?? missing(key, variable, sources);
    if (needs.tokens && !sources.problems.concern(key)) tryToRead(source, key, sources);
    return source;
  };
  const user = sourceOf('userToken', 'DNS_SYNC_USER_TOKEN');
  const client = sourceOf('clientToken', 'DNS_SYNC_CLIENT_TOKEN');
  const places = `userToken: ${withoutKey(user, 'userToken')}, clientToken: ${withoutKey(client, 'clientToken')}`;
  return { read: () => ({ userToken: user.read(), clientToken: client.read(), places }) };
};

const missing = (key: string, variable: string, sources: Sources): SecretSource => ({
  read: () => {
    throw new UserError(
      sources.isObject
        ? `${keyName(sources, key)}: required: a text, {env: NAME} or {file: PATH}`
        : `${keyName(sources, key)}: required: ${variable}, ${variable}_FILE or ${key} in the config file`,
    );
  },
});

const tryToRead = (source: SecretSource, key: string, { problems }: Sources): void => {
  try {
    source.read();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    problems.note(error, key);
  }
};

/** The full key in the config file. */
const keyName = ({ sections }: Sources, key: string): string => sections[0]?.nameOf(key) ?? key;

const usualStateDir = (sources: Sources, needs: Needs): string => {
  if (sources.isObject) {
    if (
      needs.stateDir === true &&
      sources.sections.every((section) => valueAt(section, 'store') === undefined)
    )
      sources.problems.add(
        keyName(sources, 'stateDir'),
        'required: the directory of the saved state; the daemon and other passes of this client use the same one',
      );
    return '';
  }
  const { XDG_STATE_HOME: xdg, HOME: home } = sources.env;
  // The XDG specification says to ignore relative paths.
  if (xdg && path.isAbsolute(xdg)) return path.join(xdg, 'dns-template-sync');
  if (!home) sources.problems.add('HOME', 'required, or the directory of the saved state: --state-dir');
  return path.join(home ?? '', '.local/state/dns-template-sync');
};

const fileVariables = ({ sections }: Sources): Omit<VariableSources, 'override'> => {
  const [top, own] = [...sections].toReversed();
  return { client: variablesIn(own), config: variablesIn(top) };
};

const variablesIn = (section: Section | undefined): Record<string, string> => ({ ...section?.texts('vars') });

/** Where a token is from, without the key, which stands before it. */
const withoutKey = ({ place = 'none' }: Pick<SecretSource, 'place'>, key: string): string =>
  place.endsWith(`: ${key}`) ? place.slice(0, -key.length - 2) : place;
