import type { StoreLocation } from '../../state/store-location.ts';
import type { Query } from './database.ts';

/** The bodies are this program's own; the schema version says which version wrote them. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion, typescript/no-unnecessary-type-parameters
export const parse = <T>(body: string): T => JSON.parse(body) as T;

/** Whose state a client without any takes over: of a name that is not set any more, and used this token last. */
export const renamedFrom = async (
  query: Query,
  { baseUrl, token, names }: StoreLocation,
): Promise<Earlier | null> => {
  if (baseUrl === null) return null;
  const gone = await query<Earlier>(queries.sameToken, [baseUrl, token, names]);
  return gone.length === 1 ? gone[0]! : null;
};

interface Earlier {
  readonly scope: string;
  readonly name: string;
}

/** Notes who has this state and with which token. Returns the name of the client whose state it took over; null if there was none. */
export const noteClient = async (
  query: Query,
  location: StoreLocation,
  isKnown: boolean,
): Promise<string | null> => {
  const { scope, baseUrl, name, token } = location;
  const before = isKnown ? null : await renamedFrom(query, location);
  for (const table of before ? owned : [])
    await query(`UPDATE dns_template_sync.${table} SET scope = $1 WHERE scope = $2`, [scope, before!.scope]);
  await query(queries.note, [scope, baseUrl, name, token]);
  return before?.name ?? null;
};

const owned = ['templates', 'records', 'journal', 'history', 'suspensions', 'compared', 'clients'];

/** Notes that it compares these, if no other client has within the last day; by template: the other client. */
export const noteCompared = async (
  query: Query,
  { scope, baseUrl }: StoreLocation,
  templateIds: readonly number[],
): Promise<ReadonlyMap<number, string>> => {
  await query(queries.compare, [baseUrl, templateIds, scope]);
  return comparedByOthers(query, { scope, baseUrl }, templateIds);
};

export const comparedByOthers = async (
  query: Query,
  { scope, baseUrl }: Pick<StoreLocation, 'scope' | 'baseUrl'>,
  templateIds: readonly number[],
): Promise<ReadonlyMap<number, string>> => {
  const rows = await query<{ id: string; name: string }>(queries.others, [baseUrl, templateIds, scope]);
  return new Map(rows.map(({ id, name }) => [Number(id), name]));
};

const queries = {
  sameToken: `SELECT scope, name FROM dns_template_sync.clients
    WHERE base_url = $1 AND token = $2 AND name <> ALL ($3::text[])`,
  note: `INSERT INTO dns_template_sync.clients (scope, base_url, name, token) VALUES ($1, $2, $3, $4)
    ON CONFLICT (scope) DO UPDATE SET name = excluded.name, token = excluded.token`,
  compare: `INSERT INTO dns_template_sync.compared (base_url, template_id, scope, at)
    SELECT $1, unnest($2::bigint[]), $3, clock_timestamp() ON CONFLICT (base_url, template_id)
    DO UPDATE SET scope = excluded.scope, at = excluded.at
    WHERE compared.scope = excluded.scope OR compared.at < excluded.at - interval '1 day'`,
  others: `SELECT template_id AS id, name FROM dns_template_sync.compared JOIN dns_template_sync.clients USING (scope)
    WHERE compared.base_url = $1 AND template_id = ANY ($2::bigint[]) AND scope <> $3
      AND at > clock_timestamp() - interval '1 day'`,
} as const;
