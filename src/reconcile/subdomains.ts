import type { DesiredTemplate, ActualTemplate } from '../model/template.ts';
import { countAdds } from '../plan/guard.ts';
import { compareSubdomain, type SubdomainDifference } from '../plan/subdomains.ts';
import { notAsked, type SubdomainResult } from '../result.ts';
import type { TemplateRow } from '../state/memory.ts';
import { shownElsewhere } from './memory.ts';
import type { ClientRun } from './run.ts';
import { changed, planOf, type TemplateState } from './state.ts';

/**
 * Compares the DNS records of each subdomain with the template that it follows. `row`: with the keys of current drift, and of
 * earlier drift that could not be read; null if nothing is new.
 */
export const checkSubdomains = async (
  desired: DesiredTemplate,
  actual: ActualTemplate,
  before: TemplateRow,
  run: ClientRun,
): Promise<{ readonly results: readonly SubdomainResult[]; readonly row: TemplateRow | null }> => {
  const { lastWriteAt, reportedDrift } = before;
  const { ignoreSubdomains, clock, signal, subdomainGrace, service } = run.pass;
  if (ignoreSubdomains || signal.aborted) return { results: [], row: null };
  const isFresh = lastWriteAt !== null && Math.abs(clock.now() - lastWriteAt) < subdomainGrace;
  const reported = new Set(reportedDrift);
  const drift: string[] = [];
  const results = await Promise.all(
    desired.subdomains.map(async (subdomain): Promise<SubdomainResult> => {
      const records = await run.readSubdomain(() => service.listDnsRecords(subdomain));
      if (typeof records === 'string') {
        drift.push(...reportedDrift.filter((key) => key.startsWith(`${subdomain} `)));
        return { subdomain, status: 'failed', message: records, differences: [], answers: notAsked };
      }
      const differences = compareSubdomain(subdomain, actual, records);
      const keys = differences.map((difference) => driftKey(subdomain, difference));
      const own = isFresh ? keys.filter((key) => reported.has(key)) : keys;
      drift.push(...own);
      const status = own.length > 0 ? 'drifted' : differences.length > 0 ? 'pending' : 'in-sync';
      return { subdomain, status, message: null, differences, answers: notAsked };
    }),
  );
  const isNew = drift.toSorted().join() !== reportedDrift.join();
  return { results, row: isNew ? { ...before, reportedDrift: drift.toSorted() } : null };
};

/**
 * Before the first write to a template: the records of a subdomain name the template records that they derive from. One that
 * no listing shows means that the listing is not whole, and what it lacks may be there. `listed`: the ids of all records in
 * the listing.
 */
export const noteHidden = async (
  state: TemplateState,
  listed: () => ReadonlySet<number>,
  run: ClientRun,
): Promise<TemplateState> => {
  const { desired, memory } = state;
  const [subdomain] = desired.subdomains;
  const { ignoreSubdomains, retry, signal, service } = run.pass;
  if (subdomain === undefined || ignoreSubdomains || retry || signal.aborted) return state;
  if (memory.byId.size > 0 || countAdds(planOf(state)) === 0) return state;
  const records = await run.readSubdomain(() => service.listDnsRecords(subdomain));
  if (typeof records === 'string') return state;
  const derived = records.flatMap(({ templateRecordId: id }) =>
    id === null || listed().has(id) ? [] : [id],
  );
  if (derived.length === 0) return state;
  return changed(state, shownElsewhere(derived));
};

/** The same key while the same template record is missing or stale, or the same record is foreign. */
const driftKey = (subdomain: string, { kind, templateRecord, record }: SubdomainDifference): string =>
  `${subdomain} ${kind} ${(templateRecord ?? record)!.id}`;
