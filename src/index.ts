/// <reference lib="esnext.disposable" preserve="true" />
import type { Connection, ConnectOptions, Settings } from './library/types.ts';
import type { Report } from './result.ts';

export type * from './library/types.ts';
export type {
  AnswerDifference,
  Change,
  Report,
  ServerResult,
  Status,
  SubdomainAnswers,
  SubdomainDifference,
  SubdomainResult,
  Summary,
  TemplateResult,
  Trigger,
} from './result.ts';
export type { Difference } from './plan/difference.ts';
export type { RecordData } from './model/record.ts';

/**
 * The program as a library: the passes of the commands, without a console, without environment and signals. Nothing is
 * read before the first call, and what is wrong with the settings is in its result.
 */
export const connect = (settings: Settings, options: ConnectOptions = {}): Connection => {
  let opened: Promise<Omit<Connection, typeof Symbol.asyncDispose>> | null = null;
  const open = () =>
    (opened ??= import('./library/connection.ts').then(({ openConnection }) =>
      openConnection(settings, options),
    ));
  const close = async (): Promise<void> => (await open()).close();
  return {
    validate: async (request) => (await open()).validate(request),
    plan: async (request) => (await open()).plan(request),
    apply: async (request) => (await open()).apply(request),
    close,
    [Symbol.asyncDispose]: close,
  };
};

/** A report for people: as `plan` shows it, as a comment on a pull request, or as a page. */
export const render = async (
  report: Report,
  format: 'text' | 'markdown' | 'html' | 'json' = 'text',
): Promise<string> =>
  (await import('./report/text.ts')).renderReport(report, format, { color: false, width: 100 });
