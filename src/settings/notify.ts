import { UserError } from '../errors.ts';
import { isLoopback } from '../model/address.ts';
import { parseDuration } from '../model/duration.ts';
import type { Route } from '../model/route.ts';
import { Problems } from './problems.ts';
import { routesOf } from './route.ts';
import { occasions, receiversSchema, type Receiver, type SecretReference } from './schema.ts';
import type { Secrets, SecretSource } from './secret.ts';
import type { Sources } from './sources.ts';

/**
 * One receiver of notifications. Its secrets are read when they are needed, so that other commands do not
 * need them.
 */
export interface NotifyReceiver {
  readonly name: string;
  readonly type: Receiver['type'];
  /** `read` throws a UserError if the address cannot be used; the message never contains it. */
  readonly url: SecretSource;
  readonly secret: SecretSource | null;
  /** How an address is reached. Throws a UserError if it cannot be known. */
  readonly routeTo: (address: string) => Route;
  readonly on: readonly (typeof occasions)[number][];
  /** Null: all. */
  readonly clients: readonly string[] | null;
  /** Milliseconds. */
  readonly timeout: number;
  /** Milliseconds that a change has to last before it is sent. */
  readonly after: number;
  /** The address of the status page; null if it is not set. */
  readonly publicUrl: string | null;
}

/** The receivers in the settings file, about these clients; null if it is not known which there will be. */
export const notifyTargets = (
  sources: Sources,
  secrets: Secrets,
  publicUrl: string | null,
  known: readonly string[] | null,
): readonly NotifyReceiver[] => {
  const [top] = sources.sections;
  const given = top?.value('notify');
  if (top === undefined || given === undefined) return [];
  // Errors of its structure were reported when the file was read.
  const { data = {} } = receiversSchema().safeParse(given);
  // When it is needed, as secrets are: other commands do not need the certificates.
  const routeTo = (address: string): Route => {
    const problems = new Problems();
    const route = routesOf({ ...sources, problems }, secrets)(address);
    problems.settle();
    return route;
  };
  return Object.entries(data).map(([name, entry]) => {
    const section = top.at('notify', name);
    const refuse = (key: string, message: string): void => sources.problems.add(section.place(key), message);
    for (const client of entry.clients ?? [])
      if (known?.includes(client) === false) refuse('clients', `there is no client ${client}`);
    if (entry.type === 'slack' && entry.secret)
      refuse('secret', 'Slack does not check signatures: remove it');
    const timeout = parseDuration(entry.timeout ?? '10s') ?? 0;
    if (timeout < 1 || timeout > 60_000) refuse('timeout', 'expected a duration above zero, at most 1m');
    const { url, type, on = occasions, clients = null, allowInsecure = false } = entry;
    const fromReference = (reference: SecretReference, key: string): SecretSource =>
      secrets.from(reference, section.folder, section.place(key));
    if (typeof url === 'string') {
      const fault = type === 'slack' || mayHoldSecret(url) ? asReference : faultOf(url, allowInsecure);
      if (fault !== null) refuse('url', fault);
    }
    return {
      name,
      type,
      url:
        typeof url === 'string' ? { read: () => url } : addressFrom(fromReference(url, 'url'), allowInsecure),
      secret: entry.secret ? fromReference(entry.secret, 'secret') : null,
      routeTo,
      on,
      clients,
      timeout,
      after: parseDuration(entry.after ?? '0s') ?? 0,
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

const addressFrom = ({ read, place }: SecretSource, allowInsecure: boolean): SecretSource => ({
  read: () => {
    const address = read().trim();
    const fault = faultOf(address, allowInsecure);
    if (fault !== null) throw new UserError(`${place}: ${fault}`);
    return address;
  },
});

const asReference = 'this address is or contains a secret: use {env: NAME} or {file: PATH}';

const mayHoldSecret = (url: string): boolean => {
  if (!URL.canParse(url)) return false;
  const { username, password, search } = new URL(url);
  return `${username}${password}${search}` !== '';
};

const faultOf = (url: string, allowInsecure: boolean): string | null => {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    return 'expected an address that begins with https://';
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || allowInsecure || isLoopback(hostname)) return null;
  return 'http: would send notifications unencrypted: use https:, or set allowInsecure: true beside it';
};
