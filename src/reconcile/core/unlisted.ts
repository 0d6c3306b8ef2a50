import type { ActualTemplate } from '../../model/template.ts';
import type { Block } from '../../plan/plan-input.ts';
import type { RecordState } from '../../state/memory.ts';
import { longestLag } from './backoff.ts';

/** When an add was accepted, if that was a short while ago and the listing does not show it; ms since the epoch. */
export const unlistedSince = (
  { recordId, adds, stored }: RecordState,
  listedIds: ReadonlySet<number>,
  /** When the pass opened the template: what it has added itself is not asked for again. */
  openedAt: number,
  /** Milliseconds. */
  settle: number,
): number | null => {
  const at = stored?.at.at(-1);
  if (at === undefined || at >= openedAt || openedAt >= at + longestLag(settle)) return null;
  return adds > 0 && recordId !== null && !listedIds.has(recordId) ? at : null;
};

/** From when until when an accepted add is waited for that a listing does not show. */
interface UnlistedWait {
  readonly recordId: number | null;
  readonly since: string;
  readonly retryAt: string;
}

type WaitFor = (record: RecordState) => UnlistedWait | null;

export const unlistedWaits = (
  { records }: Pick<ActualTemplate, 'records'>,
  now: number,
  settle: number,
): WaitFor => {
  let listedIds: ReadonlySet<number> | undefined;
  return (record) => {
    listedIds ??= new Set(records.map(({ id }) => id));
    const at = unlistedSince(record, listedIds, now, settle);
    if (at === null) return null;
    const retryAt = new Date(at + longestLag(settle)).toISOString();
    return { recordId: record.recordId, since: new Date(at).toISOString(), retryAt };
  };
};

/** Why an add is not repeated that was accepted a short while ago: a listing that is behind does not show it. */
export const notListedYet = (wait: UnlistedWait | null): Block | null =>
  wait && {
    reason: 'pending-write',
    message: `written as record ${wait.recordId} at ${wait.since}, and missing in the listings, which may be behind; not added again before ${wait.retryAt}`,
    retryAt: wait.retryAt,
  };

/** An edit changes the record that the file listed before, once a listing shows it. */
export const besideUnlisted = (dropped: readonly RecordState[], waitFor: WaitFor): Block | null => {
  for (const one of dropped) {
    const wait = waitFor(one);
    if (wait === null) continue;
    const { recordId, since, retryAt } = wait;
    const message = `record ${recordId}, which the file listed before, was written at ${since} and is missing in the listings, which may be behind; it is changed once a listing shows it, else this one is added after ${retryAt}`;
    return { reason: 'pending-write', message, retryAt };
  }
  return null;
};
