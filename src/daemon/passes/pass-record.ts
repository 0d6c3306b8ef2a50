import type { Logger } from 'pino';
import type { DesiredState } from '../../model/template.ts';
import type { EndedPass } from '../../notify/news.ts';
import { assembleReport } from '../../report/assemble.ts';
import { problemText } from '../../report/view.ts';
import type { Change, PassResult, Report, Status, TemplateResult, Trigger } from '../../result.ts';
import type { PassEntry } from '../../status-page/facts.ts';

interface PassId {
  readonly client: string;
  readonly run: string;
  readonly trigger: Trigger;
}

/** The log lines of one pass, with their fixed messages, and what is kept of it. */
export const passRecord = (id: PassId, log: Logger) => {
  const { client, run, trigger } = id;
  return {
    started: (): void =>
      log[trigger === 'schedule' ? 'debug' : 'info']({ event: 'pass.started', ...id }, 'pass started'),
    waiting: (reason: string): void =>
      log.warn({ event: 'pass.waiting', client, trigger, reason }, 'the pass has to wait'),
    invalid: ({ problems }: DesiredState): void => {
      if (problems.some(({ severity }) => severity === 'error'))
        log.error({ event: 'templates.invalid', ...id, problems }, 'templates invalid');
    },
    change: ({ outcome, error, ...change }: Change): void => {
      const fields = { client, run, ...change, ...(error === null ? {} : { error }) };
      if (outcome === 'applied') log.info({ event: 'change.applied', ...fields }, 'change applied');
      else if (outcome === 'failed') log.error({ event: 'change.failed', ...fields }, 'change failed');
      else log.error({ event: 'change.unknown', ...fields }, 'change outcome unknown');
    },
    /**
     * The pass has ended, or could not be made. `save`: resolves once what is new is saved, before the log says that the pass
     * has ended: a process that is killed after that has lost nothing.
     */
    ended: async (
      { result, failure, removed, isEnding }: EndedPass,
      durationMs: number,
      save: () => Promise<void>,
    ): Promise<PassEntry> => {
      for (const template of removed)
        log.warn(
          { event: 'template.unmanaged', ...id, template },
          'no file describes this template any more; it is no longer managed',
        );
      const own = assembleReport(result === null ? [] : [result]);
      const status = result === null ? 'failed' : own.status;
      for (const template of result?.templates ?? []) {
        const fields = { event: 'drift.report', ...template, run, trigger };
        const level = isQuiet(template) ? 'debug' : levelOf(template.status, isEnding);
        if (log.isLevelEnabled(level)) log[level](fields, 'drift report');
      }
      await save();
      const error = result === null ? failure : errorOf(result, status);
      const fields = { event: 'pass.finished', ...id, status, durationMs, summary: own.summary };
      log[levelOf(status, isEnding)]({ ...fields, ...(error !== null && { error }) }, 'pass finished');
      return {
        client,
        trigger,
        startedAt: Date.now() - durationMs,
        durationMs,
        status,
        written: own.summary.applied,
        left: result?.wasRead === true ? differencesIn(own.summary) : null,
        error: result === null ? failure : result.holdReason,
      };
    },
  };
};

/** Whether `pass.finished` says all there is to say: all in sync, or the service could not be read. */
const isQuiet = ({ status, asOf, message, differences, subdomains }: TemplateResult): boolean =>
  asOf !== undefined ||
  (status === 'in-sync' &&
    message === null &&
    differences.length === 0 &&
    subdomains.every((subdomain) => subdomain.status === 'in-sync'));

/** The shutdown cuts a pass short, which is no problem. */
const levelOf = (worst: Status, isEnding: boolean): 'info' | 'warn' | 'error' => {
  if (isEnding) return 'info';
  return worst === 'failed' ? 'error' : worst === 'held' ? 'warn' : 'info';
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
    ...errors.map(problemText),
  ];
  return others.length > 0 ? `${first} (and ${others.length} more)` : first;
};

const differencesIn = (summary: Report['summary']): number => {
  const { add, update, park, surplus, blocked, subdomainDifferences } = summary;
  return add + update + park + surplus + blocked + subdomainDifferences;
};
