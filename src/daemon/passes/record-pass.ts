import type { PassEvent } from '../../notify/health.ts';
import type { PassEntry } from '../../status-page/facts.ts';
import { assembleReport, summaryOf } from '../../report/assemble.ts';
import { problemView } from '../../report/view.ts';
import type { PassResult, Status } from '../../result.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { PassLog } from './pass-log.ts';

interface RecordOptions extends Pick<PassEntry, 'trigger' | 'durationMs'> {
  readonly lines: PassLog;
  readonly metrics: Pick<Metrics, 'countPass'>;
  /** That of the client, this pass included; null before the first one. */
  readonly latest: PassResult | null;
  /** Resolves once what is new in the pass is saved. */
  readonly onPass: (event: PassEvent) => Promise<void>;
}

/** Records a pass that has ended, or could not be made. */
export const recordPass = async (
  event: PassEvent,
  { trigger, durationMs, lines, metrics, latest, onPass }: RecordOptions,
): Promise<PassEntry> => {
  const { client, result, failure, isEnding } = event;
  const own = assembleReport(result === null ? [] : [result]);
  // A pass after which nothing had changed has compared nothing: the client is as it was.
  const compared = result?.templates.length === 0 && latest !== null ? assembleReport([latest]) : own;
  const status = result === null ? 'failed' : compared.status;
  const error = result === null ? failure : errorOf(result, status);
  if (result !== null) lines.drift(result.templates, isEnding);
  const startedAt = Date.now() - durationMs;
  // Before the log says that the pass has ended: a process that is killed after that has lost nothing.
  await onPass(event);
  lines.finished({ ...own, status, durationMs }, error, isEnding);
  metrics.countPass({ client, trigger, status, durationMs });
  return {
    client,
    trigger,
    startedAt,
    durationMs,
    status,
    written: own.summary.applied,
    left: result?.wasRead === true && latest !== null ? differencesIn(latest) : null,
    error: result === null ? failure : result.holdReason,
  };
};

/** Why it ended early, or what failed in it: the first of all. */
const errorOf = ({ holdReason, templates, problems }: PassResult, status: Status): string | null => {
  if (holdReason !== null || status !== 'failed') return holdReason;
  const failed = templates.filter((one) => one.status === 'failed');
  const errors = problems.filter(({ severity }) => severity === 'error');
  const [first = '', ...others] = [
    ...failed.map(({ template, message, differences }) => {
      const error = message ?? differences.find((one) => one.error !== undefined)?.error;
      return `${template}: ${error ?? 'a write failed'}`;
    }),
    ...errors.map((one) => `${problemView(one, false).place}: ${one.message}`),
  ];
  return others.length > 0 ? `${first} (and ${others.length} more)` : first;
};

const differencesIn = (latest: PassResult): number => {
  const { add, update, park, surplus, blocked, subdomainDifferences } = summaryOf(latest.templates);
  return add + update + park + surplus + blocked + subdomainDifferences;
};
