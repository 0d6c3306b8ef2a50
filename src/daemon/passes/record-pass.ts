import type { Logger } from 'pino';
import type { PassEvent } from '../../notify/health.ts';
import type { PassEntry } from '../../status-page/facts.ts';
import { assembleReport, summaryOf } from '../../report/assemble.ts';
import { problemView } from '../../report/view.ts';
import type { PassResult, Status, TemplateResult } from '../../result.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { PassHistory } from './pass-history.ts';
import { logFinished, logDrift, type PassId } from './pass-log.ts';
import type { Report } from '../../report/report.ts';

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

interface CompletedPass {
  readonly id: PassId;
  readonly result: PassResult;
  /** The latest results of the client, this pass included. */
  readonly latest: PassResult | null;
  /** The result with the answers of name servers. */
  readonly shown: PassResult;
  readonly removed: readonly string[];
  readonly isEnding: boolean;
}

export const recordPass = (
  { id, result, latest, shown, removed, isEnding }: CompletedPass,
  sinks: PassSinks,
): Promise<RecordedPass> => {
  const own = assembleReport([result]);
  // A pass after which nothing had changed has compared nothing: the client is as it was.
  const isEmpty = result.templates.length === 0 && latest !== null;
  const report = isEmpty ? { ...own, status: assembleReport([latest]).status } : own;
  logDrift(result, id, isEnding, sinks.log);
  const event = { ...id, at: result.startedAt, result: shown, failure: null, removed, isEnding };
  return record(event, report, errorOf(result, report.status), result, latest, sinks);
};

/** A pass that could not begin. `started`: when it was to, by `performance.now()`. */
export const recordFailure = (
  id: PassId,
  message: string,
  { started, isEnding }: { readonly started: number; readonly isEnding: boolean },
  sinks: PassSinks,
): Promise<RecordedPass> => {
  const durationMs = Math.round(performance.now() - started);
  const at = new Date(Date.now() - durationMs).toISOString();
  const event = { ...id, at, result: null, failure: message, removed: [], isEnding };
  const report = { ...assembleReport([]), status: 'failed', durationMs } as const;
  return record(event, report, message, { holdReason: message }, null, sinks);
};

const record = async (
  event: PassEvent & PassId,
  { status, durationMs, summary }: Pick<Report, 'status' | 'durationMs' | 'summary'>,
  error: string | null,
  { holdReason, wasRead }: Pick<PassResult, 'holdReason' | 'wasRead'>,
  latest: PassResult | null,
  { log, metrics, passHistory, onPass }: PassSinks,
): Promise<RecordedPass> => {
  const { client, run, trigger, isEnding } = event;
  const startedAt = Date.now() - durationMs;
  // Before the log says that the pass has ended: a process that is killed after that has lost nothing.
  await onPass(event);
  logFinished({ status, durationMs, summary }, error, { client, run, trigger }, isEnding, log);
  metrics.countPass({ client, trigger, status, durationMs });
  const entry = {
    client,
    trigger,
    startedAt,
    durationMs,
    status,
    written: summary.applied,
    left: wasRead === true && latest !== null ? differencesIn(latest) : null,
    error: holdReason,
  };
  passHistory.add(entry);
  return { event, entry };
};

/** Why it ended early, or what failed in it: the first of all. */
const errorOf = ({ holdReason, templates, problems }: PassResult, status: Status): string | null => {
  if (holdReason !== null || status !== 'failed') return holdReason;
  const failures = [
    ...templates
      .filter((one) => one.status === 'failed')
      .map((one) => `${one.template}: ${one.message ?? firstErrorOf(one)}`),
    ...problems
      .filter(({ severity }) => severity === 'error')
      .map((one) => `${problemView(one, false).place}: ${one.message}`),
  ];
  const [first = ''] = failures;
  return failures.length > 1 ? `${first} (and ${failures.length - 1} more)` : first;
};

const firstErrorOf = ({ differences }: TemplateResult): string =>
  differences.find(({ error }) => error !== undefined)?.error ?? 'a write failed';

const differencesIn = (latest: PassResult): number => {
  const { add, update, park, surplus, blocked, subdomainDifferences } = summaryOf(latest.templates);
  return add + update + park + surplus + blocked + subdomainDifferences;
};
