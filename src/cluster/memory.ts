import { LockedError } from '../errors.ts';
import { bodyIn } from '../state/client-memory.ts';
import type { TemplateRow } from '../state/memory.ts';
import type { StoreLocation } from '../state/store-location.ts';
import { statementsIn, type ClientTables, type OpeningRow, type Tables } from '../state/tables.ts';
import {
  currentTimeline,
  dialect,
  isoTime,
  milliseconds,
  planned,
  type PostgresDatabase,
} from './database.ts';
import { takenOver, type WriteDeadline } from './lease.ts';
import { heldClaim, type Claim } from './owners.ts';

/** Those of all clients. */
export const tablesIn = ({ query, transaction }: PostgresDatabase): Tables => ({
  sql,
  query,
  ask: (task) => task(query),
  transaction,
  now: async () => (await query<{ now: number }>(`SELECT ${databaseNow} AS now`))[0]!.now,
});

const databaseNow = `floor(${milliseconds('clock_timestamp()')})`;

/** What each opening shows beside the state of the client. */
interface Opened {
  /** Whether the claim holds. */
  readonly isOurs: boolean | null;
  /** The living process that has had another client with this token for longer; null if there is none. */
  readonly sharedWith: string | null;
  /** Of the database. */
  readonly timeline: string;
  /** Under which readings were made that are remembered; null: there are none. */
  readonly rememberedOn: string | null;
  /** The last failover that a process has noticed: to this timeline, at this time in ms by the clock of the database. */
  readonly failedOverTo: string;
  readonly failedOverAt: number;
  readonly now: number;
  /** From the monotonic clock of this process to that of the database. */
  readonly offset: number;
}

export interface HeldClaim extends Claim {
  readonly deadline: WriteDeadline;
}

/**
 * Those of one client. Where there is a claim, they throw `MemoryError` as soon as the client is not ours any more, and
 * begin again after a failover: the first process to see another timeline notes it, and readings from before it count no more.
 */
export const claimedTables = (
  database: PostgresDatabase,
  { baseUrl, token }: Pick<StoreLocation, 'baseUrl' | 'token'>,
  claim: HeldClaim | null,
): ClientTables & { readonly opened: () => Opened } => {
  const all = tablesIn(database);
  const { query } = database;
  let latest: Opened | null = null;
  const transaction: Tables['transaction'] = (task) =>
    database.transaction(async (run) => {
      if (claim !== null) {
        const held = await run(`SELECT ${heldClaim}`, [claim.scope, claim.process, claim.epoch]);
        if (held.length === 0) throw takenOver();
      }
      return task(run);
    });
  const read = async (scope: string): Promise<readonly OpeningRow[]> => {
    const values = [scope, claim?.process ?? null, claim?.epoch ?? null, baseUrl, token];
    const rows = await query<OpeningRow>(opening, values);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the statement makes
    const found = JSON.parse(rows.find(({ kind }) => kind === 'claim')!.body) as Opened;
    if (claim !== null && found.isOurs !== true) throw takenOver();
    if (claim !== null && found.sharedWith !== null)
      throw new LockedError(`another pass for this client is running: ${found.sharedWith}`);
    latest = { ...found, offset: found.now - performance.now() };
    return rows;
  };
  const forgetReadings = async (scope: string): Promise<void> => {
    const templates = await query<{ body: string }>(sql.templates, [scope]);
    await transaction(async (run) => {
      for (const { body } of templates) {
        const row: TemplateRow = { ...bodyIn<TemplateRow>({ body }), lastReading: null };
        await run(sql.saveTemplate, [scope, row.templateId, JSON.stringify(row)]);
      }
      await run(`UPDATE dns_sync.clients SET remembered_on = ${currentTimeline} WHERE scope = $1`, [scope]);
    });
  };
  return {
    ...all,
    transaction,
    opening: async (scope, make) => {
      const rows = await read(scope);
      const { timeline, failedOverTo, rememberedOn } = latest!;
      if (claim === null || (failedOverTo === timeline && rememberedOn === timeline)) return make(rows);
      if (failedOverTo !== timeline) await query(noticeFailover);
      if (rememberedOn !== timeline) await forgetReadings(scope);
      return make(await read(scope));
    },
    opened: () => latest!,
    begin: async (scope, body) => {
      if (claim === null) throw takenOver();
      const { process, epoch, deadline } = claim;
      // By the renewal that is known before it.
      deadline.begun(body);
      const [begun] = await query<{ id: string }>(begin, [scope, process, epoch, body], beginPatience).catch(
        async (error: unknown) => {
          // It may be stored, and nothing was sent. Where it stays, it counts as sent. Its body names its pass, so it is like no other.
          deadline.ended(body);
          await query(unbegin, [scope, body], beginPatience).catch(() => undefined);
          throw error;
        },
      );
      if (!begun) throw takenOver();
      deadline.begun(begun.id, body);
      deadline.ended(body);
      return Number(begun.id);
    },
    ended: (ids) => ids.forEach((id) => claim?.deadline.ended(String(id))),
    now: async () => (latest === null ? all.now() : Math.round(performance.now() + latest.offset)),
    // A standby that takes over may give numbers again that it did not hear of.
    era: () => latest?.timeline ?? '',
  };
};

const sql = statementsIn(dialect);
planned(sql.template);

/** By one statement, which also shows whether the client is still ours. */
const opening = planned(`${sql.opening}
  UNION ALL SELECT 'claim', 0, json_build_object(
    'isOurs', client.owner = $2 AND client.epoch = $3::bigint AND client.timeline = now.timeline,
    'sharedWith', (SELECT p.place || ', since ' || ${isoTime('c.claimed_at')}
      FROM dns_sync.clients c JOIN dns_sync.processes p ON p.id = c.owner AND p.alive_until > clock_timestamp()
      WHERE c.token = $5 AND c.base_url = $4 AND c.scope <> $1 AND c.claimed_at < client.claimed_at LIMIT 1),
    'timeline', now.timeline, 'rememberedOn', client.remembered_on, 'failedOverTo', failover.timeline,
    'failedOverAt', ${milliseconds("greatest(failover.since, 'epoch')")}, 'now', ${databaseNow})::text
  FROM (SELECT ${currentTimeline} AS timeline) now
    CROSS JOIN (SELECT timeline, since FROM dns_sync.failovers LIMIT 1) failover
    LEFT JOIN dns_sync.clients client ON client.scope = $1`);

const noticeFailover = `UPDATE dns_sync.failovers SET timeline = ${currentTimeline}, since = clock_timestamp()
  WHERE timeline <> ${currentTimeline}`;

/** A machine that was paused with its clocks would take an intent for older than it is, and send what it believes in time. */
const begin = `WITH held AS (SELECT ${heldClaim})
  INSERT INTO dns_sync.journal (scope, body) SELECT scope, $4 FROM held
    WHERE EXISTS (SELECT FROM dns_sync.processes WHERE id = $2 AND alive_until > clock_timestamp()) RETURNING id`;

const unbegin = 'DELETE FROM dns_sync.journal WHERE scope = $1 AND body = $2';

/** Milliseconds: an intent that takes longer is not begun. */
const beginPatience = 2_000;
