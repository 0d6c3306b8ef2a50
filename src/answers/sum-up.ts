import type { AnswerDifference, ServerResult, SubdomainAnswers } from '../result.ts';
import type { FoundServer } from './find-servers.ts';
import type { ServerReading } from './read-server.ts';

/** What was found at one server, or why it was not asked. */
export interface ReadServer extends ServerReading {
  readonly found: FoundServer;
}

/** All servers of a subdomain together. `isFresh`: it was written so lately that what is new may still follow. */
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
