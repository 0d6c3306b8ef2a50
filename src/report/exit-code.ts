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
  { status, dryRun, templates }: Report,
  { detailed, isIncomplete = false, named = [] }: ExitOptions,
): 0 | 1 | 2 => {
  const isLeftUndone = templates.some(
    (one) =>
      one.status === 'held' ||
      (one.status === 'suspended' && named.includes(one.template) && differs(one)) ||
      one.differences.some(isUncertain),
  );
  if (status === 'failed' || isIncomplete || (!dryRun && isLeftUndone)) return 1;
  // Nothing may differ in what is suspended.
  const isBehind = templates.some((one) => differs(one) || !['in-sync', 'suspended'].includes(one.status));
  return detailed && isBehind ? 2 : 0;
};

const differs = ({ differences, subdomains }: Report['templates'][number]): boolean =>
  differences.some(({ outcome }) => outcome !== 'applied') ||
  subdomains.some(({ status }) => status !== 'in-sync' && status !== 'pending');

/** Also what the pass itself kept from being sent, rather than a mode or a person. */
const isUncertain = ({ outcome, skippedBy }: Report['templates'][number]['differences'][number]): boolean =>
  outcome === 'failed' || outcome === 'unknown' || skippedBy === 'pass';
