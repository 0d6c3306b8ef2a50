import { parseMoment } from '../../model/duration.ts';

/** A query of the history of writes. */
export interface HistoryQuery {
  /** Empty: all. */
  readonly templates: readonly string[];
  /** Ms since the epoch. */
  readonly since: number;
  /** Null: any. */
  readonly outcome: (typeof outcomes)[number] | null;
  /** At most this many, the newest. */
  readonly limit: number;
}

/** Reads `template` (repeatable), `since` and `outcome`; returns a message if one is invalid. */
export const readHistoryQuery = (query: URLSearchParams, now: number): HistoryQuery | string => {
  if ([...query.keys()].some((key) => !keys.includes(key)))
    return `unknown filter, expected ${keys.join(', ')}`;
  const [since, outcome] = [query.get('since'), query.get('outcome')];
  const from = since === null ? 0 : parseMoment(since, now);
  if (from === null) return 'since: expected a duration such as 2d, or a time such as 2026-11-20T20:00:00Z';
  const known = outcomes.find((one) => one === outcome) ?? null;
  if (outcome !== known) return `outcome: expected one of ${outcomes.join(', ')}`;
  return { templates: query.getAll('template'), since: from, outcome: known, limit: 1_000 };
};

const keys = ['template', 'since', 'outcome'];
const outcomes = ['applied', 'failed', 'unknown', 'duplicate'] as const;
