import type { Logger } from 'pino';
import type { DesiredState } from '../../model/template.ts';
import type { EndedTrouble } from './results.ts';
import type { Report } from '../../report/report.ts';
import type { Change, PassResult, Status, TemplateResult, Trigger } from '../../result.ts';

/** The fields of every log line of a pass. */
export interface PassId {
  readonly client: string;
  readonly run: string;
  readonly trigger: Trigger;
}

export type PassLog = ReturnType<typeof passLog>;

/** The log lines of one pass, with their fixed messages. `isEnding`: the shutdown cuts it short, which is no problem. */
export const passLog = ({ client, run, trigger }: PassId, log: Logger) => {
  const id = { client, run, trigger };
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
    removed: (templates: readonly string[]): void => {
      for (const template of templates)
        log.warn(
          { event: 'template.unmanaged', ...id, template },
          'no file describes this template any more; it is no longer managed',
        );
    },
    /** Once, and again only if there are others. */
    unmanaged: (before: PassResult['unmanaged'] = [], now: PassResult['unmanaged'] = []): void => {
      const known = new Set(before.map((one) => one.id));
      if (now.every((one) => known.has(one.id))) return;
      const templates = now.map((one) => ({
        template: one.template,
        templateId: one.id,
        hadFile: one.hadFile,
      }));
      log.info({ event: 'templates.unmanaged', ...id, templates }, 'templates at the service have no file');
    },
    ended: (troubles: readonly EndedTrouble[]): void => {
      for (const one of troubles) log.info({ event: 'drift.ended', ...id, ...one }, 'in sync again');
    },
    drift: (templates: readonly TemplateResult[], isEnding: boolean): void => {
      for (const template of templates) {
        const level = isQuiet(template) ? 'debug' : levelOf(template.status, isEnding);
        if (log.isLevelEnabled(level)) logOf(template, log)[level]({ run, trigger }, 'drift report');
      }
    },
    /** `error`: why there was no pass, why it ended early, or what failed in it; null if nothing did. */
    finished: (
      { status, durationMs, summary }: Pick<Report, 'status' | 'durationMs' | 'summary'>,
      error: string | null,
      isEnding: boolean,
    ): void => {
      const fields = { event: 'pass.finished', ...id, status, durationMs, summary };
      log[levelOf(status, isEnding)](error === null ? fields : { ...fields, error }, 'pass finished');
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

/** An unchanged template keeps its result object, so its part of the line is serialised once. */
const logOf = (result: TemplateResult, log: Logger): Logger => {
  const known = logs.get(result);
  if (known?.parent === log) return known.own;
  const own = log.child({ event: 'drift.report', ...result });
  logs.set(result, { parent: log, own });
  return own;
};

const logs = new WeakMap<TemplateResult, { readonly parent: Logger; readonly own: Logger }>();

const levelOf = (worst: Status, isEnding: boolean): 'info' | 'warn' | 'error' => {
  if (isEnding) return 'info';
  return worst === 'failed' ? 'error' : worst === 'held' ? 'warn' : 'info';
};
