import { parse } from './clients.ts';
import { planned, type Query } from './database.ts';
import { takenOver, currentTimeline } from './fence.ts';

/** What a pass needs to know of its client and of the database before it compares anything. */
export interface Opening {
  /** Of the token that the client used last; null while the client has no state. */
  readonly token: string | null;
  readonly intents: readonly IntentRow[];
  /** By template. */
  readonly revisions: ReadonlyMap<number, string>;
  /** Templates of which was noted within the last hour that it compares them. */
  readonly compared: readonly number[];
  /** Of the database. */
  readonly timeline: string;
  /** Of the last lease on it; null if there was none. */
  readonly leaseTimeline: string | null;
  /** The last failover that a process has noticed: to this timeline, at this time in ms by the clock of the database. */
  readonly failover: { readonly timeline: string; readonly since: number };
  /** The clock of the database minus `performance.now()`. */
  readonly clockOffset: number;
}

export interface IntentRow {
  readonly id: number;
  readonly body: string;
}

/** By one statement. */
export const readOpening = async (query: Query, scope: string): Promise<Opening> => {
  const [row] = await query<OpeningRow>(openingOf, [scope]);
  if (row === undefined) throw takenOver();
  const { intents, revisions, compared, since, failedOverTo, now, ...rest } = row;
  return {
    ...rest,
    intents: intents.map((intent) => parse<IntentRow>(intent)),
    revisions: new Map(
      revisions.map((one) => [Number(one.split(' ')[0]), one.slice(one.indexOf(' ') + 1)] as const),
    ),
    compared: compared.map(Number),
    failover: { timeline: failedOverTo, since },
    clockOffset: now - performance.now(),
  };
};

interface OpeningRow extends Pick<Opening, 'token' | 'timeline' | 'leaseTimeline'> {
  readonly intents: readonly string[];
  readonly revisions: readonly string[];
  readonly compared: readonly string[];
  readonly failedOverTo: string;
  readonly since: number;
  readonly now: number;
}

const milliseconds = (time: string): string => `(extract(epoch FROM ${time}) * 1000)::float8`;

const openingOf = planned(`SELECT (SELECT token FROM dns_template_sync.clients WHERE scope = $1) AS token,
    ARRAY(SELECT json_build_object('id', id, 'body', body)::text FROM dns_template_sync.journal
      WHERE scope = $1 ORDER BY id) AS intents,
    ARRAY(SELECT template_id || ' ' || revision FROM dns_template_sync.templates
      WHERE scope = $1 ORDER BY template_id) AS revisions,
    ARRAY(SELECT template_id::text FROM dns_template_sync.compared
      WHERE scope = $1 AND at > clock_timestamp() - interval '1 hour') AS compared,
    ${currentTimeline} AS timeline, lease.timeline AS "leaseTimeline", failover.timeline AS "failedOverTo",
    ${milliseconds('failover.since')} AS since, ${milliseconds('clock_timestamp()')} AS now
  FROM (SELECT timeline, since FROM dns_template_sync.failovers LIMIT 1) failover
    LEFT JOIN dns_template_sync.leases lease ON lease.name = 'name-' || $1::text`);
