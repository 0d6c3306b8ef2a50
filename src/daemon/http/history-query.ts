import { parseMoment } from '../../model/duration.ts';

/** A query of the history of writes. */
export interface HistoryQuery {
  /** Empty: all. */
  readonly templates: readonly string[];
  /** Ms since the epoch. */
  readonly since: number;
  /** Null: any. */
  readonly outcome: (typeof outcomes)[number] | null;
  /** At most this many, the newest, */
  readonly limit: number;
  /** of those before this one; null: of all. */
  readonly before: HistoryCursor | null;
}

/** The position of a write in the history of all clients. */
export interface HistoryCursor {
  /** Ms since the epoch. */
  readonly at: number;
  readonly client: string;
  readonly id: number;
}

export interface HistoryPage<Entry = unknown> {
  /** The oldest first. */
  readonly entries: readonly Entry[];
  /** Where the previous page begins; null if there is none. */
  readonly next: HistoryCursor | null;
}

/** Reads `template` (repeatable), `since`, `outcome`, `limit` and `before`; returns a message if one is invalid. */
export const readHistoryQuery = (query: URLSearchParams, now: number): HistoryQuery | string => {
  const stranger = [...query.keys()].find((key) => !keys.includes(key));
  if (stranger !== undefined) return `unknown filter, expected ${keys.join(', ')}`;
  const [since, outcome] = [query.get('since'), query.get('outcome')];
  const from = since === null ? 0 : parseMoment(since, now);
  if (from === null) return 'since: expected a duration such as 2d, or a time such as 2026-11-20T20:00:00Z';
  const known = outcomes.find((one) => one === outcome) ?? null;
  if (outcome !== known) return `outcome: expected one of ${outcomes.join(', ')}`;
  const limit = query.get('limit') ?? String(maxWrites);
  if (!/^[1-9]\d{0,3}$/.test(limit) || Number(limit) > maxWrites)
    return `limit: expected a number from 1 to ${maxWrites}`;
  const place = query.get('before');
  const before = place === null ? null : readCursor(place);
  if (before === undefined) return 'before: expected the value from the Link header of the next page';
  return { templates: query.getAll('template'), since: from, outcome: known, limit: Number(limit), before };
};

/** The Link header: the same query for the previous page. */
export const linkTo = (query: URLSearchParams, { at, client, id }: HistoryCursor): string => {
  const next = new URLSearchParams(query);
  next.set('before', `${at}.${id}.${client}`);
  return `</api/history?${next.toString()}>; rel="next"`;
};

const readCursor = (text: string): HistoryCursor | undefined => {
  const [, at, id, client] = /^(\d{1,15})\.(\d{1,15})\.([A-Za-z0-9][\w.-]*)$/.exec(text) ?? [];
  return client === undefined ? undefined : { at: Number(at), id: Number(id), client };
};

const keys = ['template', 'since', 'outcome', 'limit', 'before'];
const outcomes = ['applied', 'failed', 'unknown', 'duplicate'] as const;

/** The largest limit, and the default. */
const maxWrites = 1_000;
