import { messageOf } from '../errors.ts';
import { HostingError } from '../hosting/errors.ts';
import type { PresentTemplate, SubdomainRecord } from '../model/template.ts';
import { compareSubdomain } from '../plan/subdomains.ts';
import type { SubdomainResult } from '../result.ts';

export interface SubdomainCheck {
  readonly subdomains: readonly string[];
  /** As it is at the service. */
  readonly present: PresentTemplate;
  /** Whether this program wrote the template so lately that its subdomains may still be following. */
  readonly isFresh: boolean;
  readonly listDnsRecords: (subdomain: string) => Promise<SubdomainRecord[]>;
}

/** Holds the DNS records of each subdomain against the template that it follows. */
export const checkSubdomains = (check: SubdomainCheck): Promise<SubdomainResult[]> =>
  Promise.all(check.subdomains.map((subdomain) => checkSubdomain(subdomain, check)));

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
