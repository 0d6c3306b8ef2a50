import { setKey, type Present } from '../../plan/entry.ts';
import { unusual } from '../checks/ttl-checks.ts';
import { statableTtl } from './entry.ts';

/**
 * The TTL that most records have, to be said once for all; the lowest of several. Null where a record has none that
 * a file could state, for it would take that one, and where a check would complain of it.
 */
export const commonTtl = (desired: readonly Present[]): number | null => {
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
export const withOwnTtl = (desired: readonly Present[]): Present[] => {
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
