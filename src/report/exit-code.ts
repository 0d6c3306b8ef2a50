import type { Report } from './report.ts';

interface ExitOptions {
  readonly detailed: boolean;
  /** Whether it was ended by a signal. */
  readonly isIncomplete?: boolean;
  /** Templates that the command named. */
  readonly named?: readonly string[];
}

/**
 * The exit code: 1 for an error, else 2 if differences remain and `detailed` is set, else 0. After writing it
 * is also an error if a write was not sent or did not certainly succeed, or a template was held, or one that was named is
 * suspended and differs.
 */
export const exitCodeOf = (
  report: Report,
  { detailed, isIncomplete = false, named = [] }: ExitOptions,
): 0 | 1 | 2 => {
  if (report.status === 'failed' || isIncomplete || (!report.dryRun && leftUndone(report, named))) return 1;
  return detailed && report.status !== 'in-sync' && !isCalm(report) ? 2 : 0;
};

const leftUndone = ({ templates }: Report, named: readonly string[]): boolean =>
  templates.some(
    (one) =>
      one.status === 'held' ||
      (one.status === 'suspended' && named.includes(one.template) && differs(one)) ||
      one.differences.some(isUncertain),
  );

/** Nothing differs in what is suspended, and all the rest is in sync. */
const isCalm = ({ templates, status }: Report): boolean =>
  status === 'suspended' &&
  templates.every((one) => (one.status === 'suspended' ? !differs(one) : one.status === 'in-sync'));

type TemplateReport = Report['templates'][number];

const differs = ({ differences, subdomains }: TemplateReport): boolean =>
  differences.some(({ outcome }) => outcome !== 'applied') ||
  subdomains.some(({ status }) => status !== 'in-sync' && status !== 'pending');

/** Also what the pass itself kept from being sent, rather than a mode or a person. */
const isUncertain = ({ outcome, skippedBy }: TemplateReport['differences'][number]): boolean =>
  outcome === 'failed' || outcome === 'unknown' || skippedBy === 'pass';
