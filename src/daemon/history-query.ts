import { parseMoment } from '../model/duration.ts';

/** Which writes of the past are asked for. */
export interface HistoryQuery {
  /** All where empty. */
  readonly templates: readonly string[];
  /** Ms since the epoch. */
  readonly since: number;
  /** Null: any. */
  readonly outcome: (typeof outcomes)[number] | null;
}

/** Reads `template` (repeatable), `since` and `outcome`; a text says what is wrong with them. */
export const readHistoryQuery = (query: URLSearchParams, now: number): HistoryQuery | string => {
  const stranger = [...query.keys()].find((key) => !keys.includes(key));
  if (stranger !== undefined) return `there is no filter of this name, only ${keys.join(', ')}`;
  const [since, outcome] = [query.get('since'), query.get('outcome')];
  const from = since === null ? 0 : parseMoment(since, now);
  if (from === null) return 'since: expected a duration such as 2d, or a time such as 2026-11-20T20:00:00Z';
  const known = outcomes.find((one) => one === outcome) ?? null;
  if (outcome !== known) return `outcome: expected one of ${outcomes.join(', ')}`;
  return { templates: query.getAll('template'), since: from, outcome: known };
};

const keys = ['template', 'since', 'outcome'];
const outcomes = ['applied', 'failed', 'unknown', 'duplicate'] as const;
