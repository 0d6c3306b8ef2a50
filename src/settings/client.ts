import path from 'node:path';
import { UserError } from '../errors.ts';
import { isLoopback } from '../model/address.ts';
import type { Route } from '../model/route.ts';
import { proxyVariables, routesOf } from './route.ts';
import { secretOf, variablesOf, type Secrets, type SecretSource } from './secret.ts';
import { find, resolve, type Sources } from './sources.ts';
import { clientSecrets, clientTable, limitTable, variableOf, type Values } from './table.ts';

/** The settings of one client. Durations are milliseconds; `baseUrl` is empty if the command does not need it. */
export interface ClientSettings
  extends Omit<Values<typeof clientTable>, 'allowInsecure' | 'baseUrl' | 'stateDir' | keyof Route>, Route {
  readonly name: string;
  readonly baseUrl: string;
  readonly stateDir: string;
  /** What its relative paths start from. */
  readonly cwd: string;
  /** Read again before a pass that follows a 401: their files may have been replaced. */
  readonly tokens: {
    /** Throws a UserError that names the source, never the value. */
    readonly read: () => {
      readonly userToken: string;
      readonly clientToken: string;
      readonly places?: string;
    };
  };
  readonly limits: Values<typeof limitTable>;
  /** Variables for template files, in order of precedence; a file's own come between `override` and `client`. */
  readonly vars: Readonly<Record<'override' | 'client' | 'config', Readonly<Record<string, string>>>>;
  /** Where its settings come from, for people. */
  readonly given: () => {
    /** The places of those in the table of clients that have not their default. */
    readonly settings: Readonly<Record<string, string>>;
    /** Variables that name a proxy, whether it is used or not. */
    readonly proxies: readonly string[];
  };
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
  const { sections, env, cwd } = sources;
  if (request.isOneOfSeveral) refuseOverrides(sources, needs);
  const { allowInsecure, ...values } = resolve(clientTable, sources);
  const baseUrl = values.baseUrl ?? '';
  const route = needs.baseUrl ? routesOf(sources, secrets)(baseUrl) : { proxy: null, ca: null };
  checkAddress(baseUrl, route, allowInsecure, needs, sources);
  const tokens = tokensOf(sources, secrets, needs);
  const [top, own] = sections.toReversed();
  return {
    ...values,
    ...route,
    name,
    cwd,
    baseUrl,
    stateDir: values.stateDir ?? usualStateDir(sources, needs),
    limits: resolve(limitTable, { ...sources, sections: sections.map((one) => one.at('limits')) }),
    tokens,
    vars: { override, client: { ...own?.at('vars').texts() }, config: { ...top?.at('vars').texts() } },
    given: () => ({
      settings: Object.fromEntries(
        Object.entries(clientTable).flatMap(([key, setting]) => {
          const found = find(key, setting, sources);
          return found ? [[key, found.place]] : [];
        }),
      ),
      proxies: proxyVariables.filter((variable) => env[variable]),
    }),
  };
};

/**
 * A variable has precedence over the file, so it would replace what the file says for each client; and these settings
 * tell clients apart.
 */
const refuseOverrides = ({ env, sections: [own], problems }: Sources, needs: Needs): void => {
  const both = clientSecrets.flatMap((key) => variablesOf(key).map((variable) => [key, variable] as const));
  const asked = [
    ...(needs.baseUrl ? ([['baseUrl', variableOf('baseUrl')]] as const) : []),
    ['templates', variableOf('templates')] as const,
    ...(needs.tokens ? both : []),
  ];
  for (const [key, variable] of asked)
    if (own?.value(key) !== undefined && env[variable] !== undefined)
      problems.add(
        variable,
        `would take the place of ${own.nameOf(key)} in the settings file, for every client: unset it, or choose one client with --client`,
        key,
      );
};

const checkAddress = (
  baseUrl: string,
  { proxy }: Route,
  allowInsecure: boolean,
  needs: Needs,
  sources: Sources,
): void => {
  const { problems, isObject } = sources;
  if (baseUrl === '' && needs.baseUrl && !problems.concern('baseUrl'))
    problems.add(
      keyName(sources, 'baseUrl'),
      isObject
        ? 'required'
        : 'required: --base-url, DNS_SYNC_BASE_URL or baseUrl in the config file (or --sandbox, to try things out)',
    );
  if (!baseUrl.startsWith('http:') || allowInsecure) return;
  const advice = 'use https:, or set allowInsecure: true in the config file';
  if (!isLoopback(new URL(baseUrl).hostname))
    problems.add(
      find('baseUrl', clientTable.baseUrl, sources)?.place ?? keyName(sources, 'baseUrl'),
      `http: would send the tokens unencrypted: ${advice}`,
    );
  // What is allowed to this machine in clear would leave it.
  if (proxy !== null && !isLoopback(new URL(proxy.url).hostname))
    problems.add(proxy.place, `http: would send the tokens unencrypted to the proxy: ${advice}`, 'proxy');
};

const tokensOf = (sources: Sources, secrets: Secrets, needs: Needs) => {
  const { problems } = sources;
  const sourceOf = (key: (typeof clientSecrets)[number]): SecretSource => {
    const source = secretOf(key, sources, secrets) ?? missing(key, sources);
    if (needs.tokens && !problems.concern(key)) problems.attempt(key, source.read);
    return source;
  };
  const [user, client] = [sourceOf('userToken'), sourceOf('clientToken')];
  if (needs.tokens && (user.isFromEnvironment || client.isFromEnvironment)) refuseForeign(sources);
  const places = `userToken: ${withoutKey(user, 'userToken')}, clientToken: ${withoutKey(client, 'clientToken')}`;
  return { read: () => ({ userToken: user.read(), clientToken: client.read(), places }) };
};

/** A checkout's file would have tokens of the environment sent to its address, or to a proxy with its own authority. */
const refuseForeign = ({ sections, problems, isForeign }: Sources): void => {
  for (const key of isForeign ? ['baseUrl', 'proxy', 'ca', 'allowInsecure', 'notify'] : [])
    for (const section of sections)
      if (section.value(key) !== undefined)
        problems.add(
          section.place(key),
          'where CI is set, a settings file that nobody has named does not decide where tokens of the environment go: name it with --config, or set this in the environment',
          key,
        );
};

const missing = (key: string, sources: Sources): SecretSource => ({
  read: () => {
    const variable = variableOf(key);
    const ways = sources.isObject
      ? 'a text, {env: NAME} or {file: PATH}'
      : `${variable}, ${variable}_FILE or ${key} in the config file`;
    throw new UserError(`${keyName(sources, key)}: required: ${ways}`);
  },
});

/** The full key in the settings file. */
const keyName = ({ sections }: Sources, key: string): string => sections[0]?.nameOf(key) ?? key;

const usualStateDir = (sources: Sources, needs: Needs): string => {
  const { sections, problems, env } = sources;
  if (sources.isObject) {
    if (needs.stateDir === true && sections.every((section) => section.value('store') === undefined))
      problems.add(
        keyName(sources, 'stateDir'),
        'required: the directory of the saved state; the daemon and other passes of this client use the same one',
      );
    return '';
  }
  const { XDG_STATE_HOME: xdg, HOME: home } = env;
  // The XDG specification says to ignore relative paths.
  if (xdg !== undefined && path.isAbsolute(xdg)) return path.join(xdg, 'dns-template-sync');
  if (home === undefined) problems.add('HOME', 'required, or the directory of the saved state: --state-dir');
  return path.join(home ?? '', '.local/state/dns-template-sync');
};

/** Where a token is from, without the key, which stands before it. */
const withoutKey = ({ place = 'none' }: SecretSource, key: string): string =>
  place.endsWith(`: ${key}`) ? place.slice(0, -key.length - 2) : place;
