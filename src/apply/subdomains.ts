import { messageOf } from '../errors.ts';
import { HostingError } from '../hosting/errors.ts';
import type { PresentTemplate, SubdomainRecord } from '../model/template.ts';
import { compareSubdomain } from '../plan/subdomains.ts';
import type { SubdomainResult } from '../result.ts';
import type { BoundTemplate } from './bind.ts';
import type { Clock } from './context.ts';

interface SubdomainCheck {
  /** As it is at the service. */
  readonly present: PresentTemplate;
  /** Whether this program wrote the template so lately that its subdomains may still be following. */
  readonly isFresh: boolean;
  readonly listDnsRecords: (subdomain: string) => Promise<SubdomainRecord[]>;
}

/** What of a pass says whether and how subdomains are looked at. */
export interface SubdomainContext {
  readonly service: { listDnsRecords(subdomain: string): Promise<SubdomainRecord[]> };
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Milliseconds. */
  readonly subdomainGrace: number;
  readonly ignoreSubdomains: boolean;
}

/** Holds the DNS records of each subdomain against the template that it follows. */
export const checkSubdomains = async (
  { desired, present }: Pick<BoundTemplate, 'desired' | 'present'>,
  lastWriteAt: number | null,
  { ignoreSubdomains, service, clock, signal, subdomainGrace }: SubdomainContext,
): Promise<SubdomainResult[]> => {
  if (ignoreSubdomains || signal.aborted) return [];
  const check: SubdomainCheck = {
    present,
    isFresh: lastWriteAt !== null && Math.abs(clock.now() - lastWriteAt) < subdomainGrace,
    listDnsRecords: (subdomain) => service.listDnsRecords(subdomain),
  };
  return Promise.all(desired.subdomains.map((subdomain) => checkSubdomain(subdomain, check)));
};

const checkSubdomain = async (
  subdomain: string,
  { present, isFresh, listDnsRecords }: SubdomainCheck,
): Promise<SubdomainResult> => {
  let records: SubdomainRecord[];
  try {
    records = await listDnsRecords(subdomain);
  } catch (error) {
    if (!(error instanceof HostingError)) throw error;
    return { subdomain, status: 'failed', message: messageOf(error), differences: [] };
  }
  const differences = compareSubdomain(subdomain, present, records);
  if (differences.length === 0) return { subdomain, status: 'in-sync', message: null, differences };
  return { subdomain, status: isFresh ? 'pending' : 'drifted', message: null, differences };
};
