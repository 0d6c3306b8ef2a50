import type { Report } from './report.ts';

interface ExitOptions {
  readonly detailed: boolean;
  /** Whether a pass left planned writes undone. */
  readonly isIncomplete?: boolean;
}

/**
 * The exit code: 1 for an error, else 2 if differences remain and `detailed` is set, else 0. After writing it
 * is also an error if a write was not sent or did not certainly succeed, or a template was held.
 */
export const exitCodeOf = (report: Report, { detailed, isIncomplete = false }: ExitOptions): 0 | 1 | 2 => {
  if (report.status === 'failed' || isIncomplete || (!report.dryRun && leftUndone(report))) return 1;
  return detailed && report.status !== 'in-sync' ? 2 : 0;
};

const leftUndone = ({ templates }: Report): boolean =>
  templates.some(({ status, differences }) => status === 'held' || differences.some(isUncertain));

const isUncertain = (difference: Report['templates'][number]['differences'][number]): boolean =>
  difference.outcome === 'failed' ||
  difference.outcome === 'unknown' ||
  (difference.action === 'blocked' && difference.reason === 'pending-write');
