import type { Logger } from 'pino';
import type { PassEvent } from '../../notify/health.ts';
import type { PassEntry } from '../../status-page/facts.ts';
import { assembleReport, summaryOf } from '../../report/assemble.ts';
import { problemView } from '../../report/view.ts';
import type { PassResult, Status } from '../../result.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { PassHistory } from './pass-history.ts';
import { passLog, type PassId } from './pass-log.ts';

/** Where passes are reported to. */
export interface PassSinks {
  readonly log: Logger;
  readonly metrics: Metrics;
  /** For the status page. */
  readonly passHistory: PassHistory;
  /** Called after each pass with its result, or with why there was none. Resolves once what is new in it is saved. */
  readonly onPass: (event: PassEvent) => Promise<void>;
}

/** A pass as it was recorded. */
export interface RecordedPass {
  readonly event: PassEvent;
  readonly entry: PassEntry;
}

/** Records a pass that has ended. `result` is its own; `latest` that of the client, this pass included; null: none. */
export const recordPass = async (
  event: PassEvent & PassId,
  { result, latest, durationMs }: Compared,
  { log, metrics, passHistory, onPass }: PassSinks,
): Promise<RecordedPass> => {
  const { client, run, trigger, failure, isEnding } = event;
  const own = assembleReport(result === null ? [] : [result]);
  // A pass after which nothing had changed has compared nothing: the client is as it was.
  const isEmpty = result?.templates.length === 0 && latest !== null;
  const status = result === null ? 'failed' : isEmpty ? assembleReport([latest]).status : own.status;
  const error = result === null ? failure : errorOf(result, status);
  const lines = passLog({ client, run, trigger }, log);
  if (result !== null) lines.drift(result.templates, isEnding);
  const startedAt = Date.now() - durationMs;
  // Before the log says that the pass has ended: a process that is killed after that has lost nothing.
  await onPass(event);
  lines.finished({ ...own, status, durationMs }, error, isEnding);
  metrics.countPass({ client, trigger, status, durationMs });
  const entry = {
    client,
    trigger,
    startedAt,
    durationMs,
    status,
    written: own.summary.applied,
    left: result?.wasRead === true && latest !== null ? differencesIn(latest) : null,
    error: result === null ? failure : result.holdReason,
  };
  passHistory.add(entry);
  return { event, entry };
};

interface Compared {
  readonly result: PassResult | null;
  readonly latest: PassResult | null;
  readonly durationMs: number;
}

/** Why it ended early, or what failed in it: the first of all. */
const errorOf = ({ holdReason, templates, problems }: PassResult, status: Status): string | null => {
  if (holdReason !== null || status !== 'failed') return holdReason;
  const failures = [
    ...templates
      .filter((one) => one.status === 'failed')
      .map(({ template, message, differences }) => {
        const error = message ?? differences.find((one) => one.error !== undefined)?.error;
        return `${template}: ${error ?? 'a write failed'}`;
      }),
    ...problems
      .filter(({ severity }) => severity === 'error')
      .map((one) => `${problemView(one, false).place}: ${one.message}`),
  ];
  const [first = ''] = failures;
  return failures.length > 1 ? `${first} (and ${failures.length - 1} more)` : first;
};

const differencesIn = (latest: PassResult): number => {
  const { add, update, park, surplus, blocked, subdomainDifferences } = summaryOf(latest.templates);
  return add + update + park + surplus + blocked + subdomainDifferences;
};
