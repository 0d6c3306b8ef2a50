import type { ActualTemplate } from '../../model/template.ts';
import type { RecordState } from '../../state/memory.ts';
import { longestLag } from './backoff.ts';

/** When an add was accepted, if that was a short while ago and the listing does not show it; ms since the epoch. */
export const unlistedSince = (
  { recordId, adds, stored }: RecordState,
  { records }: Pick<ActualTemplate, 'records'>,
  /** When the pass opened the template: what it has added itself is not asked for again. */
  openedAt: number,
  /** Milliseconds. */
  settle: number,
): number | null => {
  const at = stored?.at.at(-1);
  if (at === undefined || at >= openedAt || openedAt >= at + longestLag(settle)) return null;
  return adds > 0 && recordId !== null && !records.some(({ id }) => id === recordId) ? at : null;
};
