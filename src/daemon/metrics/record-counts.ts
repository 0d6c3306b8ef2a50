import type { TemplateResult } from '../../result.ts';

export const recordStates = ['in_sync', 'add', 'update', 'park', 'surplus', 'blocked'] as const;

export type RecordCounts = Readonly<Record<(typeof recordStates)[number], number>>;

/** The records of some templates by state; null if one of them could not be read. */
export const countsOf = (results: readonly TemplateResult[]): RecordCounts | null => {
  if (!results.every(wasCompared)) return null;
  const counts = { in_sync: 0, add: 0, update: 0, park: 0, surplus: 0, blocked: 0 };
  for (const { inSync, differences } of results) {
    counts.in_sync += inSync;
    for (const { action, outcome } of differences) if (outcome !== 'applied') counts[action] += 1;
  }
  return counts;
};

/** If the service or the file could not be read, nothing was counted. */
const wasCompared = ({ status, inSync, parked, ignored, differences }: TemplateResult): boolean =>
  status === 'in-sync' || status === 'drifted' || inSync + parked + ignored + differences.length > 0;
