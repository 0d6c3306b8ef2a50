import type { Logger } from 'pino';
import type { DesiredState } from '../../model/template.ts';
import type { EndedTrouble } from './open-troubles.ts';
import type { Report } from '../../report/report.ts';
import type { Change, PassResult, Status, TemplateResult, Trigger } from '../../result.ts';

/** The fields of every log line of a pass. */
export interface PassId {
  readonly client: string;
  readonly run: string;
  readonly trigger: Trigger;
}

/** The log lines of passes, with their fixed messages. */
export const logStarted = (id: PassId, log: Logger): void =>
  log[id.trigger === 'schedule' ? 'debug' : 'info']({ event: 'pass.started', ...id }, 'pass started');

export const logChange = (
  { outcome, error, ...change }: Change,
  { client, run }: PassId,
  log: Logger,
): void => {
  const fields = { client, run, ...change, ...(error === null ? {} : { error }) };
  switch (outcome) {
    case 'applied':
      log.info({ event: 'change.applied', ...fields }, 'change applied');
      break;
    case 'failed':
      log.error({ event: 'change.failed', ...fields }, 'change failed');
      break;
    case 'unknown':
      log.error({ event: 'change.unknown', ...fields }, 'change outcome unknown');
  }
};

export const logInvalid = ({ problems }: DesiredState, id: PassId, log: Logger): void => {
  if (problems.some(({ severity }) => severity === 'error')) {
    log.error({ event: 'templates.invalid', ...id, problems }, 'templates invalid');
  }
};

export const logRemoved = (templates: readonly string[], id: PassId, log: Logger): void => {
  for (const template of templates)
    log.warn(
      { event: 'template.unmanaged', ...id, template },
      'no file describes this template any more; it is no longer managed',
    );
};

/** Once, and again only if there are others. */
export const logUnmanaged = (
  before: PassResult['unmanaged'] = [],
  now: PassResult['unmanaged'] = [],
  id: PassId,
  log: Logger,
): void => {
  const known = new Set(before.map((one) => one.id));
  if (now.every((one) => known.has(one.id))) return;
  const templates = now.map(({ template, id: templateId, hadFile }) => ({ template, templateId, hadFile }));
  log.info({ event: 'templates.unmanaged', ...id, templates }, 'templates at the service have no file');
};

export const logEnded = (ended: readonly EndedTrouble[], id: PassId, log: Logger): void => {
  for (const one of ended) log.info({ event: 'drift.ended', ...id, ...one }, 'in sync again');
};

/** `isEnding`: the shutdown cut the pass short, which is no problem. */
export const logDrift = (
  { templates }: PassResult,
  { run, trigger }: PassId,
  isEnding: boolean,
  log: Logger,
): void => {
  for (const template of templates) {
    const level = isQuiet(template) ? 'debug' : levelOf(template.status, isEnding);
    if (log.isLevelEnabled(level)) logOf(template, log)[level]({ run, trigger }, 'drift report');
  }
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

/** `error`: why there was no pass, why it ended early, or what failed in it; null if nothing did. */
export const logFinished = (
  { status, durationMs, summary }: Pick<Report, 'status' | 'durationMs' | 'summary'>,
  error: string | null,
  id: PassId,
  isEnding: boolean,
  log: Logger,
): void => {
  const fields = { event: 'pass.finished', ...id, status, durationMs, summary };
  log[levelOf(status, isEnding)](error === null ? fields : { ...fields, error }, 'pass finished');
};

const levelOf = (worst: Status, isEnding: boolean): 'info' | 'warn' | 'error' =>
  isEnding
    ? 'info'
    : ({ 'in-sync': 'info', drifted: 'info', suspended: 'info', held: 'warn', failed: 'error' } as const)[
        worst
      ];
