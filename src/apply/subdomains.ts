import { messageOf } from '../errors.ts';
import { HostingError } from '../hosting/errors.ts';
import type { SubdomainRecord } from '../model/template.ts';
import { compareSubdomain, type SubdomainDifference } from '../plan/subdomains.ts';
import { notAsked, type SubdomainResult } from '../result.ts';
import type { TemplateFacts } from '../state/memory.ts';
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

/** What was found of the subdomains of a template, and what memory has to know of it. */
export interface SubdomainCheck {
  readonly results: readonly SubdomainResult[];
  /** What is drift by now, and what could not be looked at and was. */
  readonly reportedDrift: readonly string[];
}

/** Holds the DNS records of each subdomain against the template that it follows. */
export const checkSubdomains = async (
  { desired, present }: Pick<BoundTemplate, 'desired' | 'present'>,
  { lastWriteAt, reportedDrift = [] }: Pick<TemplateFacts, 'lastWriteAt' | 'reportedDrift'>,
  context: SubdomainContext,
): Promise<SubdomainCheck> => {
  const { ignoreSubdomains, clock, signal, subdomainGrace } = context;
  if (ignoreSubdomains || signal.aborted) return { results: [], reportedDrift };
  const isFresh = lastWriteAt !== null && Math.abs(clock.now() - lastWriteAt) < subdomainGrace;
  const reported = new Set(reportedDrift);
  const drift: string[] = [];
  const results = await Promise.all(
    desired.subdomains.map(async (subdomain): Promise<SubdomainResult> => {
      const records = await readSubdomain(subdomain, context);
      if (typeof records === 'string') {
        drift.push(...reportedDrift.filter((key) => key.startsWith(`${subdomain} `)));
        return { subdomain, status: 'failed', message: records, differences: [], answers: notAsked };
      }
      const differences = compareSubdomain(subdomain, present, records);
      const keys = differences.map((difference) => driftKey(subdomain, difference));
      const own = isFresh ? keys.filter((key) => reported.has(key)) : keys;
      drift.push(...own);
      const status = own.length > 0 ? 'drifted' : differences.length > 0 ? 'pending' : 'in-sync';
      return { subdomain, status, message: null, differences, answers: notAsked };
    }),
  );
  return { results, reportedDrift: drift.toSorted() };
};

/** The facts with what was reported now; null where that is nothing new. */
export const factsAfter = (facts: TemplateFacts, { reportedDrift }: SubdomainCheck): TemplateFacts | null =>
  reportedDrift.join() === (facts.reportedDrift ?? []).join() ? null : { ...facts, reportedDrift };

/** The same as long as the same record of the template is missing or stale, or the same record is foreign. */
const driftKey = (subdomain: string, { kind, templateRecord, record }: SubdomainDifference): string =>
  `${subdomain} ${kind} ${(templateRecord ?? record)!.id}`;

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
