import { UserError } from '../errors.ts';
import { parseDuration } from '../model/duration.ts';
import type { Route } from '../model/route.ts';
import { isLoopback } from '../model/address.ts';
import { valueAt } from './document.ts';
import { notifySchema, occasions, type NotifyEntry, type OccasionSetting } from './config-schema.ts';
import { Problems } from './problems.ts';
import { resolve, type Sources } from './resolve.ts';
import { routesOf } from './route.ts';
import type { SecretReference, Secrets, SecretSource } from './secret.ts';
import { clientTable } from './table.ts';

/**
 * One receiver of notifications. Its secrets are read when they are needed, so that other commands do not
 * need them.
 */
export interface NotifyReceiver {
  readonly name: string;
  readonly type: NotifyEntry['type'];
  /** `read` throws a UserError if the address cannot be used; the message never contains it. */
  readonly url: SecretSource;
  readonly secret: SecretSource | null;
  /** How an address is reached. Throws a UserError if it cannot be known. */
  readonly routeTo: (address: string) => Route;
  readonly on: readonly OccasionSetting[];
  /** Null: all. */
  readonly clients: readonly string[] | null;
  /** Milliseconds. */
  readonly timeout: number;
  /** Milliseconds that a change has to last before it is sent. */
  readonly after: number;
  /** The address of the status page; null if it is not set. */
  readonly publicUrl: string | null;
}

/** The receivers in the config file, about these clients; null if it is not known which there will be. */
export const notifyTargets = (
  sources: Sources,
  secrets: Secrets,
  publicUrl: string | null,
  clients: readonly string[] | null,
): readonly NotifyReceiver[] => {
  const { problems } = sources;
  const top = sources.sections[0];
  if (top === undefined) return [];
  // Errors of its structure were reported when the file was read.
  const { data } = notifySchema().safeParse(valueAt(top, 'notify') ?? {});
  if (!data) return [];
  const known = clients && new Set(clients);
  const { proxy, ca } = clientTable;
  const given = resolve({ proxy, ca }, sources);
  // When it is needed, as secrets are: other commands do not need the certificates.
  const routeTo = (address: string): Route => {
    const own = new Problems();
    const route = routesOf(given, { ...sources, problems: own }, secrets)(address);
    own.settle((text) => text);
    return route;
  };
  return Object.entries(data).map(([name, entry]) => {
    const place = (key: string): string => top.place(['notify', name, key]);
    for (const client of entry.clients ?? [])
      if (known?.has(client) === false) problems.add(place('clients'), `there is no client ${client}`);
    if (entry.type === 'slack' && entry.secret)
      problems.add(place('secret'), 'Slack does not check signatures: remove it');
    const timeout = parseDuration(entry.timeout ?? '10s') ?? 0;
    if (timeout < 1 || timeout > maxTimeout)
      problems.add(place('timeout'), 'expected a duration above zero, at most 1m');
    const after = parseDuration(entry.after ?? '0s') ?? 0;
    const source = (reference: SecretReference, key: string): SecretSource =>
      'env' in reference
        ? secrets.fromEnv(reference.env, place(key))
        : secrets.fromFile(reference.file, top.folder, place(key));
    return {
      name,
      type: entry.type,
      url: addressOf(entry, place('url'), source, sources),
      secret: entry.secret ? source(entry.secret, 'secret') : null,
      routeTo,
      on: entry.on ?? occasions,
      clients: entry.clients ?? null,
      timeout,
      after,
      publicUrl,
    };
  });
};

/** Throws a UserError if an address, a way there or a secret cannot be used. */
export const checkTargets = (targets: readonly NotifyReceiver[]): void => {
  for (const { url, secret, routeTo } of targets) {
    routeTo(url.read());
    secret?.read();
  }
};

const maxTimeout = 60_000;

const addressOf = (
  { type, url, allowInsecure }: NotifyEntry,
  place: string,
  source: (reference: SecretReference, key: string) => SecretSource,
  { problems }: Sources,
): SecretSource => {
  if (typeof url !== 'string') {
    const { read } = source(url, 'url');
    return {
      read: () => {
        const address = read().trim();
        const error = errorOf(address, allowInsecure === true);
        if (error !== null) throw new UserError(`${place}: ${error}`);
        return address;
      },
    };
  }
  const error = type === 'slack' || mayHoldSecret(url) ? asReference : errorOf(url, allowInsecure === true);
  if (error !== null) problems.add(place, error);
  return { read: () => url };
};

const asReference = 'this address is or contains a secret: use {env: NAME} or {file: PATH}';

const mayHoldSecret = (url: string): boolean => {
  if (!URL.canParse(url)) return false;
  const { username, password, search } = new URL(url);
  return `${username}${password}${search}` !== '';
};

const errorOf = (url: string, allowInsecure: boolean): string | null => {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    return 'expected an address that begins with https://';
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || allowInsecure || isLoopback(hostname)) return null;
  return 'http: would send notifications unencrypted: use https:, or set allowInsecure: true beside it';
};
