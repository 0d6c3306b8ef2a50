import path from 'node:path';
import { UserError } from '../errors.ts';
import { isLoopback } from '../model/address.ts';
import { isMapping } from './kinds.ts';
import { attempt } from './problems.ts';
import { routeTo } from './route.ts';
import type { SecretSource } from './secrets.ts';
import { flagText, resolve, type SettingSources, type Source } from './sources.ts';
import { clientRows, clientSecrets, clientTable, everyRow, flags, limitTable } from './table.ts';

/** The settings of one client. Durations are milliseconds; `baseUrl` is empty if the command does not need it. */
export type ClientSettings = ReturnType<typeof readClient>;

interface ClientRequest extends SettingSources {
  readonly name: string;
  /** What leads to its keys, for messages: `clients.acme.`. */
  readonly prefix: string;
  /** What it says for itself. */
  readonly own: Source;
  /** Whether there are others, and this one was not chosen. */
  readonly isOneOfSeveral: boolean;
}

export const readClient = (request: ClientRequest) => {
  const { name, own, environment, top, cwd, override, needsService, problems } = request;
  const given = { ...top, ...own, ...environment, ...request.flags };
  if (request.isOneOfSeveral) refuseOverrides(request);
  const { allowInsecure, ...values } = resolve(clientTable, given);
  const baseUrl = values.baseUrl ?? '';
  const route = needsService ? routeTo(baseUrl, given, request) : { proxy: null, ca: null };
  const place = given['baseUrl']?.place;
  if (place === undefined && needsService && !request.isBroken) problems.add(required('baseUrl', request));
  if (baseUrl.startsWith('http:') && !allowInsecure) {
    const refuse = (where: string | undefined, whom: string): void =>
      void problems.add(
        `${where}: http: would send the tokens unencrypted${whom}: use https:, or set allowInsecure: true in the settings file`,
      );
    if (!isLoopback(new URL(baseUrl).hostname)) refuse(place, '');
    // What is allowed to this machine in clear would leave it.
    const { proxy } = route;
    if (proxy !== null && !isLoopback(new URL(proxy.url).hostname)) refuse(proxy.place, ' to the proxy');
  }
  const varsOf = (source: Source) => resolve({ vars: clientRows.vars }, source).vars;
  return {
    ...values,
    ...route,
    name,
    /** What its relative paths start from. */
    cwd,
    baseUrl,
    stateDir: values.stateDir ?? usualStateDir(request),
    limits: resolve(limitTable, given),
    tokens: tokensOf(given, request),
    /** Variables for template files, in order of precedence; a file's own come between `override` and `client`. */
    vars: { override, client: varsOf(own), config: varsOf(top) },
    /** Where all settings come from that are set, those of the whole program too, for people. */
    places: (): readonly string[] =>
      Object.keys(everyRow).flatMap((key) => {
        const from = key === 'clients' ? undefined : given[key]?.place;
        const shown = Object.hasOwn(limitTable, key) ? `limits.${key}` : key;
        return from === undefined ? [] : [`${shown}: ${from}`];
      }),
  };
};

/** A variable would replace what the file says for each client; and these settings tell clients apart. */
const refuseOverrides = ({ own, environment, needsService, prefix, problems }: ClientRequest): void => {
  for (const key of needsService ? ['baseUrl', 'templates', ...Object.keys(clientSecrets)] : ['templates']) {
    const { [key]: found } = environment;
    if (own[key] === undefined || found === undefined) continue;
    const problem = `would take the place of ${prefix}${key} in the settings file, for every client`;
    problems.add(`${found.place}: ${problem}: unset it, or choose one client with --client`);
  }
};

/** A program knows how it can give its settings. */
const required = (key: keyof typeof clientRows, { prefix, isObject }: ClientRequest): string => {
  const ways = [...(flags.includes(key) ? [flagText(key)] : []), ...clientRows[key].variables].join(', ');
  const trial = key === 'baseUrl' ? ' (or --sandbox, to try things out)' : '';
  const advice = isObject ? '' : `: ${ways} or ${key} in the settings file${trial}`;
  return `${prefix}${key}: required${advice}`;
};

/** Read again before a pass that follows a 401: their files may have been replaced. `read` throws a UserError. */
const tokensOf = (given: Source, request: ClientRequest) => {
  const { problems, secrets, prefix, needsService, isBroken } = request;
  const sourceOf = (key: keyof typeof clientSecrets): SecretSource => {
    const { [key]: found } = given;
    const refuse = (): string => {
      throw new UserError(required(key, request));
    };
    const source = found ? secrets.source(found) : { place: `${prefix}${key}`, read: refuse };
    const isSaid = found ? found.value === undefined : isBroken;
    if (needsService && !isSaid) attempt(problems, source.read);
    return source;
  };
  const [user, client] = [sourceOf('userToken'), sourceOf('clientToken')];
  if (needsService && request.isForeign) refuseForeign(request);
  const places = `${user.place}, ${client.place}`;
  return {
    read: (): { readonly userToken: string; readonly clientToken: string; readonly places?: string } => ({
      userToken: user.read(),
      clientToken: client.read(),
      places,
    }),
  };
};

/** A checkout's file would have tokens of the environment sent to its address, or to a proxy with its own authority. */
const refuseForeign = ({ own, environment, top, problems }: ClientRequest): void => {
  const isFromEnvironment = Object.keys(clientSecrets).some((key) => {
    const value = (own[key] ?? top[key])?.value;
    return environment[key] !== undefined || (isMapping(value) && 'env' in value);
  });
  const problem =
    'where CI is set, a settings file that nobody has named does not decide where tokens of the environment go';
  for (const key of isFromEnvironment ? ['baseUrl', 'proxy', 'ca', 'allowInsecure', 'notify'] : [])
    for (const { [key]: found } of [own, top])
      if (found)
        problems.add(`${found.place}: ${problem}: name it with --config, or set this in the environment`);
};

const usualStateDir = ({ isObject, needsService, top, env, problems, prefix }: ClientRequest): string => {
  const advice = 'required: the directory of the saved state; all that writes for a client uses the same one';
  if (isObject) {
    if (needsService && top['store'] === undefined) problems.add(`${prefix}stateDir: ${advice}`);
    return '';
  }
  const { XDG_STATE_HOME: xdg = '', HOME: home } = env;
  // The XDG specification says to ignore relative paths.
  if (path.isAbsolute(xdg)) return path.join(xdg, 'dns-template-sync');
  if (home === undefined) problems.add('HOME: required, or the directory of the saved state: --state-dir');
  return path.join(home ?? '', '.local/state/dns-template-sync');
};
