import { summaryOf } from '../../report/assemble.ts';
import type { Report } from '../../report/report.ts';
import type { PassResult } from '../../result.ts';
import type { PassEntry } from '../../status-page/facts.ts';
import type { PassId } from './pass-log.ts';

/**
 * The entry of a pass in the pass history. `newest`: the latest results of the client; null if the pass
 * compared nothing.
 */
export const passEntry = (
  { client, trigger }: PassId,
  { status, durationMs, summary }: Pick<Report, 'status' | 'durationMs' | 'summary'>,
  latest: PassResult | null,
  error: string | null,
): PassEntry => ({
  client,
  trigger,
  startedAt: Date.now() - durationMs,
  durationMs,
  status,
  written: summary.applied,
  left: latest === null ? null : differencesIn(latest),
  error,
});

const differencesIn = (latest: PassResult): number => {
  const { add, update, park, surplus, blocked, subdomainDifferences } = summaryOf(latest.templates);
  return add + update + park + surplus + blocked + subdomainDifferences;
};
