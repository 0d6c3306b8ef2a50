import type { AnswerDifference, ServerResult, SubdomainAnswers } from '../result.ts';
import type { KnownServer } from './find-servers.ts';
import type { ServerReading } from './read-server.ts';

/** The result of one server, or why it was not asked. */
export interface ReadServer extends ServerReading {
  readonly found: KnownServer;
}

/** Combines all servers of a subdomain. `isFresh`: it was written so recently that new differences are pending. */
export const summed = (
  reads: readonly ReadServer[],
  isFresh: boolean,
  previous: SubdomainAnswers | null,
): SubdomainAnswers => {
  const isBehind = hasSeveralSerials(reads);
  const known = new Set(previous?.status === 'drifted' ? previous.differences.map(keyOf) : []);
  const differences = reads.flatMap((read) =>
    read.differences.map((difference) => ({ ...difference, server: read.found.name })),
  );
  const servers = reads.map((read): ServerResult => {
    const { found, status, message, serial, differences: own } = read;
    const isRecent = own.every((one) => !known.has(keyOf({ ...one, server: found.name })));
    const isPending = status === 'drifted' && (isBehind || (isFresh && isRecent));
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

/** Serials are only comparable between servers of one primary: two providers each have their own. */
const hasSeveralSerials = (reads: readonly ServerReading[]): boolean => {
  const serials = new Map<string | null, number>();
  return reads.some(({ primary, serial }) => {
    if (serial === null) return false;
    const other = serials.get(primary) ?? serial;
    serials.set(primary, other);
    return other !== serial;
  });
};

/** A silent server is drift while others answer, since some clients will ask it. */
const worstOf = (servers: readonly ServerResult[]): SubdomainAnswers['status'] => {
  const statuses = new Set(servers.map(({ status }) => status));
  if (!(['in-sync', 'pending', 'drifted'] as const).some((status) => statuses.has(status))) return 'failed';
  statuses.delete('in-sync');
  if (statuses.size === 0) return 'in-sync';
  return statuses.size === 1 && statuses.has('pending') ? 'pending' : 'drifted';
};

const keyOf = ({ kind, server, name, type, current }: AnswerDifference): string =>
  JSON.stringify([kind, server, name, type, current]);

const addressText = ({ address, port }: KnownServer): string => {
  if (port === 53 || address === '') return address;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
};
