import { isIP } from 'node:net';
import { parseNameServer } from '../model/name-server.ts';
import type { DnsServer, ServerAddress } from './dns-server.ts';
import type { AskedType, AnswerRecord } from './answer-record.ts';
import type { DnsReply } from './message.ts';
import { isWithin, parentOf } from './names.ts';
import { isPrivateAddress } from './private-address.ts';

/** A server to ask, or, with `refusal`, why it is not asked. */
export interface KnownServer extends ServerAddress {
  /** Its name in the delegation or the setting. */
  readonly name: string;
  readonly refusal: string | null;
}

/** The servers of a subdomain; `reason`: why there are none. */
export type KnownServers =
  | { readonly servers: readonly KnownServer[] }
  | { readonly reason: { readonly status: 'silent' | 'failed'; readonly message: string } };

/** Finds authoritative servers with a recursive one. Caches its results. */
export interface ServerFinder {
  /** The servers of the zone of the name: all addresses of all its name servers. */
  delegated(name: string): Promise<KnownServers>;
  /** The servers from the settings, private addresses too. */
  fixed(places: readonly string[]): Promise<KnownServers>;
}

export const serverFinder = (resolver: Pick<DnsServer, 'ask'>): ServerFinder => {
  const known = new Map<string, Promise<KnownServers>>();
  const once = (key: string, find: () => Promise<KnownServers>): Promise<KnownServers> => {
    const found = known.get(key) ?? find().catch(asProblem);
    known.set(key, found);
    return found;
  };
  const ask = async (name: string, type: AskedType): Promise<DnsReply> => {
    const reply = await resolver.ask({ name, type });
    if (reply === null)
      throw new FindError('silent', `the resolver does not answer the question for ${name} ${type}`);
    if (reply.rcode === 'NOERROR' || reply.rcode === 'NXDOMAIN') return reply;
    throw new FindError('failed', `the resolver answers ${reply.rcode} to the question for ${name} ${type}`);
  };
  const addressesOf = async (host: string): Promise<string[]> => {
    const replies = await Promise.all([ask(host, 'A'), ask(host, 'AAAA')]);
    return replies.flatMap(({ answers }) =>
      answers.flatMap(({ type, content }) => (type === 'A' || type === 'AAAA' ? content : [])).sort(),
    );
  };

  const ofZone = async (apex: string): Promise<KnownServers> => {
    const { answers } = await ask(apex, 'NS');
    // Resolvers rotate the records of a set.
    const found = answers.flatMap(({ type, content }) => (type === 'NS' ? content : [])).sort();
    const names = found.slice(0, maxNames);
    if (names.length === 0) throw new FindError('failed', `the zone ${apex} has no name servers`);
    const servers = await Promise.all(
      names.map(async (name) => {
        const addresses = (await addressesOf(name)).slice(0, maxAddresses);
        if (addresses.length === 0) return [{ name, address: '', port: 53, refusal: 'it has no address' }];
        return addresses.map((address) => ({ name, address, port: 53, refusal: refusalOf(address) }));
      }),
    );
    return { servers: servers.flat() };
  };

  return {
    delegated: (name) =>
      once(`zone of ${name}`, async () => {
        const apex = await apexOf(name, (owner) => ask(owner, 'SOA'));
        if (apex === null || !apex.includes('.'))
          throw new FindError('failed', `no zone of the public DNS holds ${name}`);
        return once(`servers of ${apex}`, () => ofZone(apex));
      }),
    fixed: (places) =>
      once(`fixed ${places.join()}`, async () => {
        const servers = await Promise.all(
          places.map(async (name) => {
            const { host = '', port = 53 } = parseNameServer(name) ?? {};
            const addresses = isIP(host) === 0 ? await addressesOf(host) : [host];
            if (addresses.length === 0) return [{ name, address: '', port, refusal: 'it has no address' }];
            return addresses.map((address) => ({ name, address, port, refusal: null }));
          }),
        );
        return { servers: servers.flat() };
      }),
  };
};

/** A limit, since a hostile delegation could have many. */
const maxNames = 16;
const maxAddresses = 4;

const refusalOf = (address: string): string | null =>
  isPrivateAddress(address) ? 'a private address: asked only if it is in `nameservers`' : null;

class FindError extends Error {
  readonly status: 'silent' | 'failed';

  constructor(status: 'silent' | 'failed', message: string) {
    super(message);
    this.status = status;
  }
}

const asProblem = (error: unknown): KnownServers => {
  if (!(error instanceof FindError)) throw error;
  return { reason: { status: error.status, message: error.message } };
};

/** The apex of the zone of a name: the owner of the SOA record in the answer for the name, or for a parent of it. */
const apexOf = async (name: string, askSoa: (name: string) => Promise<DnsReply>): Promise<string | null> => {
  for (let owner: string | null = name; owner !== null; owner = parentOf(owner)) {
    const apex = soaIn(await askSoa(owner), owner)?.name;
    if (apex !== undefined) return apex;
  }
  return null;
};

/** The SOA record of the zone of the name. With an alias comes that of the zone of its target. */
export const soaIn = ({ answers, authorities }: DnsReply, name: string): AnswerRecord | undefined =>
  answers.some(({ type }) => type === 'CNAME')
    ? undefined
    : [...answers, ...authorities].find(({ type, name: owner }) => type === 'SOA' && isWithin(name, owner));
