import type { AnswerDifference, ServerResult, SubdomainAnswers } from '../result.ts';
import { canonicalHost } from '../model/host.ts';
import type { SubdomainRecord } from '../model/template.ts';
import { limit } from '../lib/limit.ts';
import { openDnsServer, type AskOptions, type DnsServer } from './dns-server.ts';
import { serverFinder, type FoundServer, type FoundServers } from './find-servers.ts';
import { isName } from './names.ts';
import { readServer, type ServerReading } from './read-server.ts';
import { shownRecords } from './record-sets.ts';
import { serverPool } from './server-pool.ts';
import { systemResolver } from './system-resolver.ts';
import { parseNameServer } from '../model/name-server.ts';

export interface AnswersOptions extends AskOptions {
  /** The address of a recursive server; null: the system's first one. */
  readonly resolver: string | null;
  /** Milliseconds after the last write in which a difference is no drift; the highest TTL, if that is longer. */
  readonly grace: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface SubdomainQuestion {
  readonly subdomain: string;
  /** As the service shows them. */
  readonly records: readonly SubdomainRecord[];
  /** The only servers that are asked; none: those that the zone is delegated to. */
  readonly nameservers: readonly string[];
  /** When the subdomain's template was last written, in ms since the epoch; null where that is not known. */
  readonly lastWriteAt: number | null;
  /** What was found the time before: what was drift then has no grace. */
  readonly previous: SubdomainAnswers | null;
}

/** Asks name servers, for as many subdomains as there are. */
export interface Answers {
  check(question: SubdomainQuestion): Promise<SubdomainAnswers>;
  close(): void;
}

export const openAnswers = (options: AnswersOptions): Answers => {
  const resolver = parseNameServer(options.resolver ?? systemResolver());
  let recursive: Promise<DnsServer | null> | null = null;
  const finder = serverFinder(() => {
    if (resolver === null) return Promise.resolve(null);
    return (recursive ??= openDnsServer({ address: resolver.host, port: resolver.port }, true, options));
  });
  const pool = serverPool(options);
  const turn = limit(subdomainsAtOnce);

  const read = async (found: FoundServer, question: SubdomainQuestion, name: string): Promise<Read> => {
    const about = { found, serial: null, primary: null, differences: [] };
    if (found.refusal !== null) return { ...about, status: 'failed', message: found.refusal };
    const reading = await pool.use(found, (server) =>
      server === null ? null : readServer(server, shownRecords(name, question.records)),
    );
    return reading === null ? null : { found, ...reading };
  };

  const check = async (question: SubdomainQuestion): Promise<SubdomainAnswers> => {
    const name = canonicalHost(question.subdomain);
    if (!isName(name))
      return failed('', 'failed', `${question.subdomain} is not a name that can be asked for`);
    const { nameservers } = question;
    const found = await (nameservers.length > 0 ? finder.fixed(nameservers) : finder.delegated(name));
    if ('problem' in found) return ofProblem(found.problem, options.resolver);
    const reads = await Promise.all(found.servers.map((server) => read(server, question, name)));
    return summed(
      reads.filter((one) => one !== null),
      question,
      options,
    );
  };
  return {
    check: (question) => turn(() => check(question)),
    close: () => {
      pool.close();
      void recursive?.then((server) => server?.close());
    },
  };
};

/** Null where there is no route to the address, as for IPv6 on many machines. */
type Read = (ServerReading & { readonly found: FoundServer }) | null;

/** Each has a few servers, and each of those a socket. */
const subdomainsAtOnce = 8;

const failed = (name: string, status: 'silent' | 'failed', message: string): SubdomainAnswers => ({
  status: 'failed',
  servers: [{ name, address: '', serial: null, status, message }],
  differences: [],
});

const ofProblem = (
  { status, message }: Extract<FoundServers, { problem: unknown }>['problem'],
  resolver: string | null,
): SubdomainAnswers => failed(`resolver ${resolver ?? systemResolver()}`, status, message);

/** All servers of a subdomain together. */
const summed = (
  reads: readonly NonNullable<Read>[],
  { records, lastWriteAt, previous }: SubdomainQuestion,
  { grace, now }: AnswersOptions,
): SubdomainAnswers => {
  if (reads.length === 0) return failed('', 'failed', 'there is no route to any of the name servers');
  const isBehind = hasSeveralSerials(reads);
  const highestTtl = 1_000 * records.reduce((highest, { ttl }) => Math.max(highest, ttl ?? 0), 0);
  const isFresh = lastWriteAt !== null && Math.abs(now() - lastWriteAt) < Math.max(grace, highestTtl);
  const known = new Set(previous?.status === 'drifted' ? previous.differences.map(keyOf) : []);
  const differences = reads.flatMap((read) =>
    read.differences.map((difference) => ({ ...difference, server: read.found.name })),
  );
  const servers = reads.map((read): ServerResult => {
    const { found, status, message, serial, differences: own } = read;
    const isNews = own.every((one) => !known.has(keyOf({ ...one, server: found.name })));
    const isPending = status === 'drifted' && (isBehind || (isFresh && isNews));
    return {
      name: found.name,
      address: addressText(found),
      serial,
      status: isPending ? 'pending' : status,
      message: isPending && isBehind ? 'the servers have different serials of the zone' : message,
    };
  });
  return { status: worstOf(servers), servers, differences };
};

/** Serials count among servers of one primary alone: two providers each have their own. */
const hasSeveralSerials = (reads: readonly ServerReading[]): boolean => {
  const serials = new Map<string | null, number>();
  return reads.some(({ primary, serial }) => {
    if (serial === null) return false;
    const other = serials.get(primary) ?? serial;
    serials.set(primary, other);
    return other !== serial;
  });
};

/** One that answers nothing is drift as long as others answer: some of those who ask get to it. */
const worstOf = (servers: readonly ServerResult[]): SubdomainAnswers['status'] => {
  const statuses = new Set(servers.map(({ status }) => status));
  if (!(['in-sync', 'pending', 'drifted'] as const).some((status) => statuses.has(status))) return 'failed';
  statuses.delete('in-sync');
  if (statuses.size === 0) return 'in-sync';
  return statuses.size === 1 && statuses.has('pending') ? 'pending' : 'drifted';
};

const keyOf = ({ kind, server, name, type, current }: AnswerDifference): string =>
  JSON.stringify([kind, server, name, type, current]);

const addressText = ({ address, port }: FoundServer): string => {
  if (port === 53 || address === '') return address;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
};
