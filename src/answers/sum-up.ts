import type { AnswerDifference, ServerResult, SubdomainAnswers } from '../result.ts';
import type { KnownServer } from './find-servers.ts';
import type { ServerReading } from './read-server.ts';

/** The result of one server, or why it was not asked. */
export interface ReadServer extends ServerReading {
  readonly found: KnownServer;
}

export interface SummedOptions {
  /** The subdomain was written so recently that new differences are pending. */
  readonly isFresh: boolean;
  readonly previous: SubdomainAnswers | null;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Milliseconds for which a server may stay at its serial while others have another one. */
  readonly grace: number;
}

/** Combines all servers of a subdomain. */
export const summed = (
  reads: readonly ReadServer[],
  { isFresh, previous, now, grace }: SummedOptions,
): SubdomainAnswers => {
  const known = new Set(previous?.status === 'drifted' ? previous.differences.map(keyOf) : []);
  const all = reads.map((read) => ({
    ...read,
    place: { name: read.found.name, address: addressText(read.found) },
  }));
  const differencesOf = ({ differences, place }: (typeof all)[number]): AnswerDifference[] =>
    differences.map((difference) => ({ ...difference, server: place.name, address: place.address }));
  const servers = all.map((read): ServerResult => {
    const { status, message, serial, place } = read;
    const since = hasOtherSerial(read, reads) ? sinceOf(place, serial, previous, now) : null;
    const isWaiting = since !== null && now - Date.parse(since) < grace;
    const isRecent = differencesOf(read).every((one) => !known.has(keyOf(one)));
    const isPending = status === 'drifted' && (isWaiting || (isFresh && isRecent));
    return {
      ...place,
      serial,
      ...(since === null ? {} : { serialSince: since }),
      status: isPending ? 'pending' : status,
      message:
        since === null || status !== 'drifted'
          ? message
          : isWaiting
            ? 'the servers have different serials of the zone'
            : `it has had serial ${serial} since ${since}, and others have another one`,
    };
  });
  return { status: worstOf(servers), servers, differences: all.flatMap(differencesOf) };
};

/** Serials are only comparable between servers of one primary: two providers each have their own. */
const hasOtherSerial = ({ primary, serial }: ServerReading, reads: readonly ServerReading[]): boolean =>
  serial !== null &&
  reads.some((other) => other.primary === primary && other.serial !== null && other.serial !== serial);

/** Since when this server is known to be at this serial, beside others with another one. */
const sinceOf = (
  place: Pick<ServerResult, 'name' | 'address'>,
  serial: number | null,
  previous: SubdomainAnswers | null,
  now: number,
): string => {
  const before = previous?.servers.find((one) => serverKey(one) === serverKey(place));
  return (before?.serial === serial ? before.serialSince : undefined) ?? new Date(now).toISOString();
};

/** A silent server is drift while others answer, since some clients will ask it. */
const worstOf = (servers: readonly ServerResult[]): SubdomainAnswers['status'] => {
  const statuses = new Set(servers.map(({ status }) => status));
  statuses.delete('failed');
  if (statuses.size === 0 || (statuses.size === 1 && statuses.has('silent'))) return 'failed';
  if (servers.every(({ status }) => status === 'in-sync')) return 'in-sync';
  return servers.every(({ status }) => status === 'in-sync' || status === 'pending') ? 'pending' : 'drifted';
};

const serverKey = ({ name, address }: Pick<ServerResult, 'name' | 'address'>): string => `${name} ${address}`;

const keyOf = ({ kind, server, address, name, type, current }: AnswerDifference): string =>
  JSON.stringify([kind, server, address, name, type, current]);

const addressText = ({ address, port }: KnownServer): string => {
  if (port === 53 || address === '') return address;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
};
