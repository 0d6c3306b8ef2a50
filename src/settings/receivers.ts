import { isLoopback } from '../model/address.ts';
import type { Route } from '../model/route.ts';
import { expectedMapping, expectedName, isMapping, namePattern, type Values } from './kinds.ts';
import { SettingsError, type Problems } from './problems.ts';
import { routeTo } from './route.ts';
import type { SecretSource } from './secrets.ts';
import { resolve, valueAt, writtenSource, type Reading } from './sources.ts';
import { receiverTable } from './table.ts';

/**
 * One receiver of notifications. Its secrets are read when they are needed, so that other commands do not
 * need them.
 */
export interface NotifyReceiver extends Omit<
  Values<typeof receiverTable>,
  'url' | 'secret' | 'allowInsecure'
> {
  readonly name: string;
  /** `read` throws a UserError if the address cannot be used; the message never contains it. */
  readonly url: SecretSource;
  readonly secret: SecretSource | null;
  /** How an address is reached. Throws a UserError if it cannot be known. */
  readonly routeTo: (address: string) => Route;
  /** The address of the status page; null if it is not set. */
  readonly publicUrl: string | null;
}

/** The receivers in the settings file, about these clients; null if it is not known which there will be. */
export const readReceivers = (
  reading: Reading,
  publicUrl: string | null,
  known: readonly string[] | null,
): readonly NotifyReceiver[] => {
  const { written, flags, environment, top, problems, secrets } = reading;
  const given = valueAt(written, ['notify']) ?? {};
  if (!isMapping(given)) problems.add(`${written.placeOf(['notify'])}: ${expectedMapping}`);
  return Object.keys(isMapping(given) ? given : {}).flatMap((name) => {
    const keys = ['notify', name];
    if (!namePattern.test(name)) problems.add(`${written.placeOf(keys)}: ${expectedName}`);
    const source = writtenSource(written, keys, receiverTable, problems);
    const { allowInsecure, url, secret: _, ...values } = resolve(receiverTable, [source]);
    const { url: foundUrl, secret } = source;
    if (foundUrl?.value === undefined) return [];
    for (const client of values.clients ?? [])
      if (known?.includes(client) === false)
        problems.add(`${written.placeOf([...keys, 'clients'])}: there is no client ${client}`);
    if (values.type === 'slack' && secret)
      problems.add(`${secret.place}: Slack does not check signatures: remove it`);
    const faultOf = (text: string): string | null => addressFault(text, allowInsecure);
    const isLiteral = typeof url === 'string';
    const fault = isLiteral ? (literalFault(url, values.type) ?? faultOf(url)) : null;
    if (fault !== null) problems.add(`${foundUrl.place}: ${fault}`);
    // When it is needed, as secrets are: other commands do not need the certificates.
    const routeOf = (address: string): Route => {
      const own: Problems = new Set();
      const route = routeTo(address, [flags, environment, top], { ...reading, problems: own });
      if (own.size > 0) throw new SettingsError([...own]);
      return route;
    };
    return {
      ...values,
      name,
      url: isLiteral ? { place: foundUrl.place, read: () => url } : secrets.source(foundUrl, faultOf),
      secret: secret ? secrets.source(secret) : null,
      routeTo: routeOf,
      publicUrl,
    };
  });
};

/** Throws a UserError if an address, a way there or a secret cannot be used. */
export const checkTargets = (receivers: readonly NotifyReceiver[]): void => {
  for (const { url, secret, routeTo: routeOf } of receivers) {
    routeOf(url.read());
    secret?.read();
  }
};

const literalFault = (url: string, type: NotifyReceiver['type']): string | null => {
  const { username, password, search } = URL.canParse(url) ? new URL(url) : new URL('https://none');
  return type === 'slack' || `${username}${password}${search}` !== ''
    ? 'this address is or contains a secret: use {env: NAME} or {file: PATH}'
    : null;
};

const addressFault = (url: string, allowInsecure: boolean): string | null => {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    return 'expected an address that begins with https://';
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || allowInsecure || isLoopback(hostname)) return null;
  return 'http: would send notifications unencrypted: use https:, or set allowInsecure: true beside it';
};
