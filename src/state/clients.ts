import { bodyIn, type SqliteConnection } from './connection.ts';
import type { StoreLocation } from './store-location.ts';

/** A client with state in a file. */
interface KnownClient {
  readonly scope: string;
  /** Null for the embedded service. */
  readonly baseUrl: string | null;
  readonly name: string;
  /** The digest of the token that it used last. */
  readonly token: string;
}

/** A row of the suspensions, as it is saved. */
export interface SavedSuspension {
  readonly scope: string;
  readonly key: string;
  readonly body: string;
}

/** How long a template is that of the client which has compared it last. */
const comparedFor = 86_400_000;

/** Whose state a client without any takes over: of a name that is not set any more, and used this token last. */
export const renamedFrom = (
  connection: SqliteConnection,
  { scope, baseUrl, token, names }: StoreLocation,
): KnownClient | null => {
  if (baseUrl === null || connection.get(queries.client, scope) !== undefined) return null;
  const gone = connection
    .all(queries.sameToken, baseUrl, token)
    .map(clientIn)
    .filter(({ name }) => !names.includes(name));
  return gone.length === 1 ? gone[0]! : null;
};

/** Whether it is known that this client has this state, and uses this token. */
export const isNoted = (connection: SqliteConnection, { scope, token }: StoreLocation): boolean => {
  const row = connection.get(queries.client, scope);
  return row !== undefined && clientIn(row).token === token;
};

/** Notes that, and takes over the state of a client that was renamed. Returns the name that it had; null if it was not. */
export const noteClient = (connection: SqliteConnection, location: StoreLocation): string | null => {
  const { scope, baseUrl, name, token } = location;
  const before = renamedFrom(connection, location);
  if (before) for (const table of owned) connection.run(takeOver(table), scope, before.scope);
  const client: KnownClient = { scope, baseUrl, name, token };
  connection.run(queries.note, scope, JSON.stringify(client));
  return before?.name ?? null;
};

/** By template: the name of another client that has compared it within the last day. */
export const comparedByOthers = (
  connection: SqliteConnection,
  { scope, baseUrl }: Pick<StoreLocation, 'scope' | 'baseUrl'>,
  templateIds: readonly number[],
  now: number,
): ReadonlyMap<number, string> => {
  if (baseUrl === null) return new Map();
  const values = [baseUrl, JSON.stringify(templateIds), scope, now - comparedFor, now + comparedFor];
  const rows = connection.all(queries.others, ...values);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns that were asked for
  return new Map(rows.map((row) => [(row as { readonly id: number }).id, clientIn(row).name]));
};

/** Whether it is not noted, or for longer than an hour, that it compares them. */
export const isComparing = (
  connection: SqliteConnection,
  { scope, baseUrl }: Pick<StoreLocation, 'scope' | 'baseUrl'>,
  templateIds: readonly number[],
  now: number,
): boolean => {
  if (baseUrl === null) return true;
  const values = [baseUrl, JSON.stringify(templateIds), scope, now - comparedFor / 24, now];
  return connection.get(queries.notNoted, ...values) === undefined;
};

/** That it compares them now, those of others excepted. */
export const noteCompared = (
  connection: SqliteConnection,
  { scope, baseUrl }: Pick<StoreLocation, 'scope' | 'baseUrl'>,
  templateIds: readonly number[],
  now: number,
): void => {
  const values = [
    baseUrl ?? '',
    JSON.stringify(templateIds),
    scope,
    now,
    now - comparedFor,
    now + comparedFor,
  ];
  connection.run(queries.compare, ...values);
};

const owned = ['templates', 'records', 'journal', 'history', 'suspensions', 'compared', 'clients'] as const;

const takeOver = (table: (typeof owned)[number]): string => `UPDATE ${table} SET scope = ?1 WHERE scope = ?2`;

/** A clock may have been set back since, by less than a day. */
const queries = {
  client: 'SELECT CAST(body AS BLOB) AS body FROM clients WHERE scope = ?',
  sameToken: `SELECT CAST(body AS BLOB) AS body FROM clients WHERE json_extract(body, '$.baseUrl') = ? AND json_extract(body, '$.token') = ?`,
  note: 'INSERT INTO clients (scope, body) VALUES (?, ?) ON CONFLICT DO UPDATE SET body = excluded.body',
  others: `SELECT template_id AS id, CAST(body AS BLOB) AS body FROM compared JOIN clients USING (scope)
    WHERE base_url = ? AND template_id IN (SELECT value FROM json_each(?)) AND scope <> ? AND at BETWEEN ? AND ?`,
  notNoted: `SELECT 1 FROM json_each(?2) WHERE NOT EXISTS (SELECT 1 FROM compared
    WHERE base_url = ?1 AND template_id = value AND scope = ?3 AND at BETWEEN ?4 AND ?5) LIMIT 1`,
  compare: `INSERT INTO compared (base_url, template_id, scope, at) SELECT ?1, value, ?3, ?4 FROM json_each(?2) WHERE true
    ON CONFLICT DO UPDATE SET scope = excluded.scope, at = excluded.at
    WHERE scope = excluded.scope OR at NOT BETWEEN ?5 AND ?6`,
} as const;

const clientIn = (row: unknown): KnownClient => bodyIn(row);
