import type { KnownClient } from '../../state/client-memory.ts';
import { parse } from './clients.ts';
import { planned, type Query } from './database.ts';
import { takenOver, currentTimeline } from './fence.ts';

/** What a pass needs to know of its client and of the database before it compares anything. */
export interface Opening {
  /** The key of its state. */
  readonly scope: string;
  /** The client of the token; null while that is unknown. */
  readonly client: KnownClient | null;
  /** Other clients, of any service, that know one of its templates. */
  readonly rivals: readonly KnownClient[];
  /** Also those of others in its templates. */
  readonly intents: readonly IntentRow[];
  /** By template. */
  readonly revisions: ReadonlyMap<number, string>;
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
  readonly scope: string;
  readonly body: string;
}

/** By one statement. `scope`: the key of its state, if it is not that of the token. */
export const readOpening = async (query: Query, digest: string, scope: string | null): Promise<Opening> => {
  const [row] = await query<OpeningRow>(openingOf, [digest, scope]);
  if (row === undefined) throw takenOver();
  const { client, rivals, intents, revisions, since, failedOverTo, now, ...rest } = row;
  return {
    ...rest,
    client: client === null ? null : parse<KnownClient>(client),
    rivals: rivals.map((body) => parse<KnownClient>(body)),
    intents: intents.map((intent) => parse<IntentRow>(intent)),
    revisions: new Map(
      revisions.map((one) => [Number(one.split(' ')[0]), one.slice(one.indexOf(' ') + 1)] as const),
    ),
    failover: { timeline: failedOverTo, since },
    clockOffset: now - performance.now(),
  };
};

interface OpeningRow extends Pick<Opening, 'scope' | 'timeline' | 'leaseTimeline'> {
  readonly client: string | null;
  readonly rivals: readonly string[];
  readonly intents: readonly string[];
  readonly revisions: readonly string[];
  readonly failedOverTo: string;
  readonly since: number;
  readonly now: number;
}

const milliseconds = (time: string): string => `(extract(epoch FROM ${time}) * 1000)::float8`;

/** By arrays, for which there are indexes: joined with the view, it would read what is known of all clients. */
const openingOf = planned(`WITH token AS (SELECT c.scope, c.body FROM dns_template_sync.tokens t
      JOIN dns_template_sync.clients c USING (scope) WHERE t.digest = $1),
    own AS (SELECT coalesce($2, (SELECT scope FROM token), $1) AS scope),
    known AS (SELECT template_id FROM dns_template_sync.known_templates WHERE scope = (SELECT scope FROM own))
  SELECT own.scope, (SELECT body FROM token) AS client,
    ARRAY(SELECT body FROM dns_template_sync.clients
      WHERE scope <> own.scope AND scope = ANY (ARRAY(SELECT scope FROM dns_template_sync.known_templates
        WHERE template_id = ANY (ARRAY(SELECT template_id FROM known)))) ORDER BY scope) AS rivals,
    ARRAY(SELECT json_build_object('id', id, 'scope', scope, 'body', body)::text FROM dns_template_sync.intents
      WHERE scope = own.scope OR template_id = ANY (ARRAY(SELECT template_id FROM known)) ORDER BY id) AS intents,
    ARRAY(SELECT template_id || ' ' || revision FROM dns_template_sync.templates
      WHERE scope = own.scope ORDER BY template_id) AS revisions,
    ${currentTimeline} AS timeline, lease.timeline AS "leaseTimeline", failover.timeline AS "failedOverTo",
    ${milliseconds('failover.since')} AS since, ${milliseconds('clock_timestamp()')} AS now
  FROM own CROSS JOIN (SELECT timeline, since FROM dns_template_sync.failovers LIMIT 1) failover
    LEFT JOIN dns_template_sync.leases lease ON lease.name = 'lock-' || own.scope`);
