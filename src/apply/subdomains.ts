import { messageOf } from '../errors.ts';
import { HostingError } from '../hosting/errors.ts';
import type { PresentTemplate, SubdomainRecord } from '../model/template.ts';
import { compareSubdomain } from '../plan/subdomains.ts';
import type { SubdomainResult } from '../result.ts';
import type { BoundTemplate } from './bind.ts';
import type { Clock, Halt } from './context.ts';
import { concernsAll, haltFor, isClosed } from './halt.ts';

/** What of a pass says whether and how subdomains are looked at. */
export interface SubdomainContext {
  readonly service: { listDnsRecords(subdomain: string): Promise<SubdomainRecord[]> };
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly halt: Halt;
  /** Lets so many readings run at a time; the others wait. */
  readonly limitReads: <T>(task: () => Promise<T>) => Promise<T>;
  /** Milliseconds. */
  readonly subdomainGrace: number;
  readonly ignoreSubdomains: boolean;
}

/** Holds the DNS records of each subdomain against the template that it follows. */
export const checkSubdomains = async (
  { desired, present }: Pick<BoundTemplate, 'desired' | 'present'>,
  lastWriteAt: number | null,
  context: SubdomainContext,
): Promise<SubdomainResult[]> => {
  const { ignoreSubdomains, clock, signal, subdomainGrace } = context;
  if (ignoreSubdomains || signal.aborted) return [];
  const isFresh = lastWriteAt !== null && Math.abs(clock.now() - lastWriteAt) < subdomainGrace;
  return Promise.all(
    desired.subdomains.map(async (subdomain) => {
      const records = await readSubdomain(subdomain, context);
      return typeof records === 'string'
        ? { subdomain, status: 'failed', message: records, differences: [] }
        : compared(subdomain, present, records, isFresh);
    }),
  );
};

const compared = (
  subdomain: string,
  present: PresentTemplate,
  records: readonly SubdomainRecord[],
  isFresh: boolean,
): SubdomainResult => {
  const differences = compareSubdomain(subdomain, present, records);
  if (differences.length === 0) return { subdomain, status: 'in-sync', message: null, differences };
  return { subdomain, status: isFresh ? 'pending' : 'drifted', message: null, differences };
};

/** Its records, or why they cannot be read. */
const readSubdomain = (subdomain: string, context: SubdomainContext): Promise<SubdomainRecord[] | string> =>
  context.limitReads(async () => {
    if (isClosed(context.halt)) return `not read: ${context.halt.reason}`;
    try {
      return await context.service.listDnsRecords(subdomain);
    } catch (error) {
      if (!(error instanceof HostingError)) throw error;
      if (concernsAll(error)) haltFor(error, context);
      return messageOf(error);
    }
  });
