import type { StoreLocation } from '../state/store-location.ts';
import type { Query } from './database.ts';

/** Whose state a client without any takes over: of a name that is not set any more, and used this token last. */
export const renamedFrom = async (
  query: Query,
  { scope, baseUrl, token, names }: StoreLocation,
): Promise<Earlier | null> => {
  if (baseUrl === null) return null;
  const gone = await query<Earlier>(sql.renamed, [scope, baseUrl, token, names]);
  return gone.length === 1 ? gone[0]! : null;
};

interface Earlier {
  readonly scope: string;
  readonly name: string;
}

/** Notes who has this state and with which token. Returns the name of the client whose state it took over; null if there was none. */
export const noteClient = async (query: Query, location: StoreLocation): Promise<string | null> => {
  const { scope, token, name } = location;
  const before = await renamedFrom(query, location);
  for (const table of before ? owned : [])
    await query(`UPDATE dns_sync.${table} SET scope = $1 WHERE scope = $2`, [scope, before!.scope]);
  if (before) await query('DELETE FROM dns_sync.clients WHERE scope = $1', [before.scope]);
  await query(sql.note, [scope, name, token]);
  return before?.name ?? null;
};

const owned = ['templates', 'records', 'journal', 'history', 'suspensions', 'compared'];

/** Notes that it compares these, if no other client has within the last day; by template: the other client. */
export const noteCompared = async (
  query: Query,
  location: StoreLocation,
  templateIds: readonly number[],
): Promise<ReadonlyMap<number, string>> => {
  if (location.baseUrl === null) return new Map();
  await query(sql.compare, [location.baseUrl, templateIds, location.scope]);
  return comparedByOthers(query, location, templateIds);
};

export const comparedByOthers = async (
  query: Query,
  { scope, baseUrl }: Pick<StoreLocation, 'scope' | 'baseUrl'>,
  templateIds: readonly number[],
): Promise<ReadonlyMap<number, string>> => {
  if (baseUrl === null || templateIds.length === 0) return new Map();
  const rows = await query<{ id: string; name: string }>(sql.others, [baseUrl, templateIds, scope]);
  return new Map(rows.map(({ id, name }) => [Number(id), name]));
};

const sql = {
  // One that has state of its own has nothing to take over.
  renamed: `SELECT c.scope, c.name FROM dns_sync.clients c
    WHERE c.base_url = $2 AND c.token = $3 AND c.name <> ALL ($4::text[])
      AND NOT EXISTS (SELECT FROM dns_sync.clients own WHERE own.scope = $1 AND own.token <> '')
    FOR UPDATE OF c`,
  note: 'UPDATE dns_sync.clients SET name = $2, token = $3 WHERE scope = $1',
  compare: `INSERT INTO dns_sync.compared (base_url, template_id, scope, at)
    SELECT $1, unnest($2::bigint[]), $3, clock_timestamp() ON CONFLICT (base_url, template_id)
    DO UPDATE SET scope = excluded.scope, at = excluded.at
    WHERE compared.scope = excluded.scope OR compared.at < excluded.at - interval '1 day'`,
  others: `SELECT template_id AS id, name FROM dns_sync.compared JOIN dns_sync.clients USING (scope)
    WHERE compared.base_url = $1 AND template_id = ANY ($2::bigint[]) AND scope <> $3
      AND at > clock_timestamp() - interval '1 day'`,
} as const;
