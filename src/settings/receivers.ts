import { isLoopback } from '../model/address.ts';
import { suggestionOr } from '../lib/nearest.ts';
import type { Route } from '../model/route.ts';
import { expectedMapping, expectedName, isMapping, namePattern } from './kinds.ts';
import { SettingsError, type Problems } from './problems.ts';
import { routeTo } from './route.ts';
import type { SecretSource } from './secrets.ts';
import { resolve, valueAt, writtenSource, type SettingSources } from './sources.ts';
import { receiverTable } from './table.ts';

export type NotifyReceiver = ReturnType<typeof readReceivers>[number];

/**
 * The receivers of notifications, about these clients; null if it is not known which there will be. Their secrets are read
 * when they are needed, so that other commands do not need them.
 */
export const readReceivers = (
  reading: SettingSources,
  publicUrl: string | null,
  known: readonly string[] | null,
) => {
  const { written, flags, environment, top, problems, secrets } = reading;
  const given = valueAt(written, ['notify']) ?? {};
  if (!isMapping(given)) problems.add(`${written.placeOf(['notify'])}: ${expectedMapping}`);
  return Object.keys(isMapping(given) ? given : {}).flatMap((name) => {
    const keys = ['notify', name];
    if (!namePattern.test(name)) problems.add(`${written.placeOf(keys, true)}: ${expectedName}`);
    const source = writtenSource(written, keys, receiverTable, problems);
    const { allowInsecure, url, secret: _, ...values } = resolve(receiverTable, source);
    const { url: foundUrl, secret } = source;
    if (foundUrl?.value === undefined) return [];
    for (const client of values.clients ?? [])
      if (known !== null && !known.includes(client))
        problems.add(
          `${written.placeOf([...keys, 'clients'])}: there is no client ${client}${suggestionOr(client, known)}`,
        );
    if (values.type === 'slack' && secret)
      problems.add(`${secret.place}: Slack does not check signatures: remove it`);
    const faultOf = (text: string): string | null => addressFault(text, allowInsecure);
    const isLiteral = typeof url === 'string';
    const fault = isLiteral ? (literalFault(url, values.type) ?? faultOf(url)) : null;
    if (fault !== null) problems.add(`${foundUrl.place}: ${fault}`);
    const urlSource: SecretSource = isLiteral
      ? { place: foundUrl.place, read: () => url }
      : secrets.source(foundUrl, faultOf);
    return {
      ...values,
      name,
      /** Its address; `read` throws a UserError, which never contains it, if it cannot be used. */
      url: urlSource,
      secret: secret ? secrets.source(secret) : null,
      /** How an address is reached: as secrets, other commands do not need the certificates. Throws a UserError. */
      routeTo: (address: string): Route => {
        const own: Problems = new Set();
        const route = routeTo(address, { ...top, ...environment, ...flags }, { ...reading, problems: own });
        if (own.size > 0) throw new SettingsError([...own]);
        return route;
      },
      /** The address of the status page. */
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

const literalFault = (url: string, type: NotifyReceiver['type']): string | null =>
  type === 'slack' || /[@?]/.test(url)
    ? 'this address is or contains a secret: use {env: NAME} or {file: PATH}'
    : null;

const addressFault = (url: string, allowInsecure: boolean): string | null => {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    return 'expected an address that begins with https://';
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || allowInsecure || isLoopback(hostname)) return null;
  return 'http: would send notifications unencrypted: use https:, or set allowInsecure: true beside it';
};
