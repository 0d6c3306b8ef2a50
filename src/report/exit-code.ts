import type { Report } from './report.ts';

interface ExitOptions {
  readonly detailed: boolean;
  /** Whether a pass did not get to all that it was to write. */
  readonly isIncomplete?: boolean;
}

/**
 * What a command ends with: 1 for an error, else 2 if differences remain and `detailed` asks for it, else 0.
 * A report that wrote is also an error when a write was not sent or did not succeed for sure, or a template was held.
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
