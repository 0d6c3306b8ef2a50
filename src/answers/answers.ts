import type { SubdomainAnswers } from '../result.ts';
import { canonicalHost } from '../model/host.ts';
import type { RecordData } from '../model/record.ts';
import type { SubdomainRecord } from '../model/template.ts';
import { limit } from '../lib/limit.ts';
import type { SetDifference } from './compare-sets.ts';
import { targetLookup, withDangling } from './dangling.ts';
import type { AskOptions } from './dns-server.ts';
import { serverFinder, type KnownServer } from './find-servers.ts';
import { isName } from './names.ts';
import { readServer } from './read-server.ts';
import { shownRecords } from './record-sets.ts';
import { serverPool } from './server-pool.ts';
import { summed, type ReadServer } from './sum-up.ts';
import { openResolvers, systemResolvers } from './resolvers.ts';

export interface AnswersOptions extends AskOptions {
  /** The address of a recursive server; null: those of the system. */
  readonly resolver: string | null;
  /** Milliseconds after the last write during which a difference is pending; at least the highest TTL. */
  readonly grace: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface SubdomainQuestion {
  readonly subdomain: string;
  /** The records at the service. */
  readonly records: readonly SubdomainRecord[];
  /** The only servers to ask; empty: those that the zone is delegated to. */
  readonly nameservers: readonly string[];
  /** When the subdomain's template was last written, in ms since the epoch; null if unknown. */
  readonly lastWriteAt: number | null;
  /** Whether what a record points at does not matter. */
  readonly ignores?: (record: RecordData) => boolean;
  /** The previous answers: a difference that was drift then is not pending. */
  readonly previous: SubdomainAnswers | null;
}

/** Asks name servers about subdomains. */
export interface Answers {
  check(question: SubdomainQuestion): Promise<SubdomainAnswers>;
  close(): void;
}

export const openAnswers = (options: AnswersOptions): Answers => {
  const places = options.resolver === null ? systemResolvers() : [options.resolver];
  const resolvers = openResolvers(places, options);
  const finder = serverFinder(resolvers);
  const pool = serverPool(options);
  const limited = limit(subdomainsAtOnce);
  const others = openResolvers(places.toReversed(), options);
  const targets = targetLookup(resolvers, others);
  const resolver = `resolver ${places.join(', ')}`;

  /** Where name servers are given, only a resolver that is given too is sure to know the same names. */
  const danglingIn = async (
    { nameservers, records, ignores = () => false }: SubdomainQuestion,
    name: string,
  ): Promise<SetDifference[]> =>
    nameservers.length > 0 && options.resolver === null
      ? []
      : targets.dangling(shownRecords(name, records), ignores);

  /** Null if there is no route to the address, as for IPv6 on many machines. */
  const read = async (
    found: KnownServer,
    question: SubdomainQuestion,
    name: string,
  ): Promise<ReadServer | null> => {
    const about = { found, serial: null, primary: null, differences: [] };
    if (found.refusal !== null) return { ...about, status: 'failed', message: found.refusal };
    const reading = await pool.use(found, (server) =>
      server === null ? null : readServer(server, shownRecords(name, question.records)),
    );
    return reading === null ? null : { found, ...reading };
  };

  const check = async (question: SubdomainQuestion): Promise<SubdomainAnswers> => {
    const name = canonicalHost(question.subdomain);
    if (!isName(name)) return failed('', 'failed', `${question.subdomain} is not a valid DNS name`);
    const { nameservers } = question;
    const found = await (nameservers.length > 0 ? finder.fixed(nameservers) : finder.delegated(name));
    if ('reason' in found) {
      const { status, message } = found.reason;
      return failed(resolver, status, message);
    }
    const [dangling, ...reads] = await Promise.all([
      danglingIn(question, name),
      ...found.servers.map((server) => read(server, question, name)),
    ]);
    const asked = reads.filter((one) => one !== null);
    if (asked.length === 0) return failed('', 'failed', 'there is no route to any of the name servers');
    const { grace, now } = options;
    const { previous } = question;
    const about = { isFresh: isFresh(question, options), previous };
    return withDangling(summed(asked, { ...about, now: now(), grace }), dangling, { ...about, resolver });
  };
  return {
    check: (question) => limited(() => check(question)),
    close: () => {
      pool.close();
      resolvers.close();
      others.close();
    },
  };
};

/** Each has a few servers, and each server a socket. */
const subdomainsAtOnce = 8;

const isFresh = (
  { records, lastWriteAt }: SubdomainQuestion,
  { grace, now }: Pick<AnswersOptions, 'grace' | 'now'>,
): boolean => {
  const highestTtl = 1_000 * records.reduce((highest, { ttl }) => Math.max(highest, ttl ?? 0), 0);
  return lastWriteAt !== null && Math.abs(now() - lastWriteAt) < Math.max(grace, highestTtl);
};

const failed = (name: string, status: 'silent' | 'failed', message: string): SubdomainAnswers => ({
  status: 'failed',
  servers: [{ name, address: '', serial: null, status, message }],
  differences: [],
});
