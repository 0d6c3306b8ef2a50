import { setKey, type ActualEntry } from '../plan/entry.ts';
import { unusual } from '../desired/checks/ttl-checks.ts';
import { statableTtl } from './entry.ts';

/**
 * The most common TTL, which the template can state once; the lowest of several. Null if a record has no TTL
 * that a file can state, since it would get this one, or if a check would object to it.
 */
export const commonTtl = (desired: readonly ActualEntry[]): number | null => {
  const counts = new Map<number, number>();
  for (const { record } of desired) {
    const ttl = statableTtl(record);
    if (ttl === null) return null;
    counts.set(ttl, (counts.get(ttl) ?? 0) + 1);
  }
  const [first] = [...counts].sort(([a, times], [b, others]) => others - times || a - b);
  return first === undefined || unusual(first[0]) !== null ? null : first[0];
};

/** The records whose TTL is not that of their record set. */
export const withOwnTtl = (desired: readonly ActualEntry[]): ActualEntry[] => {
  const ttls = new Map<string, number>();
  return desired.filter((entry) => {
    const ttl = statableTtl(entry.record);
    if (ttl === null) return false;
    const set = setKey(entry);
    const first = ttls.get(set) ?? ttl;
    ttls.set(set, first);
    return ttl !== first;
  });
};
