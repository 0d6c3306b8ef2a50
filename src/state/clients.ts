import type { ActualTemplate } from '../model/template.ts';
import type { KnownClient } from './client-memory.ts';
import type { SqliteConnection } from './connection.ts';
import type { TemplateRow, RecordState } from './memory.ts';

/** All clients of one file. */
export interface Clients {
  /** Null for an unknown token. */
  ofToken(digest: string): KnownClient | null;
  /** Other clients of its base URL that know one of its templates or one of these, so they may be the same client. */
  rivalsOf(client: KnownClient, templateIds: readonly number[]): readonly string[];
  /** The clients at this base URL whose templates and records a listing shows. */
  fitting(baseUrl: string, listing: readonly ActualTemplate[]): readonly KnownClient[];
  /** From now on this token belongs to this client. */
  learn(client: KnownClient, digest: string, templateIds: readonly number[]): void;
}

export const clientsOf = (connection: SqliteConnection): Clients => {
  const all = <T>(sql: string, ...values: readonly string[]): T[] =>
    connection.all(sql, ...values).map((row): T => parse(row));
  const clients = (): KnownClient[] => all(queries.clients);
  return {
    ofToken: (digest) => all<KnownClient>(queries.ofToken, digest)[0] ?? null,
    rivalsOf: ({ scope, baseUrl }, templateIds) => {
      // Most files are of one client, and that may know many templates.
      if (baseUrl === null || all(queries.another, scope).length === 0) return [];
      const others = new Set(all<string>(queries.rivals, scope, JSON.stringify(templateIds)));
      if (others.size === 0) return [];
      return clients()
        .filter((client) => client.baseUrl === baseUrl && others.has(client.scope))
        .map((client) => client.scope);
    },
    fitting: (baseUrl, listing) => {
      const own = listing.filter(({ publiclyAvailable }) => !publiclyAvailable);
      // Whoever fits knows one of them at least.
      const ids = JSON.stringify(own.map(({ id }) => id));
      return all<KnownClient>(queries.knowing, ids)
        .filter((client) => client.baseUrl === null || client.baseUrl === baseUrl)
        .filter(({ scope }) => {
          const known = {
            templateIds: all<number>(queries.templateIds, scope),
            records: all<RecordState>(queries.records, scope),
            templates: all<TemplateRow>(queries.templates, scope),
          };
          return fits(known, own);
        });
    },
    learn: (client, digest, templateIds) => {
      connection.run(queries.learnClient, client.scope, JSON.stringify(client));
      connection.run(queries.learnToken, digest, client.scope);
      for (const id of templateIds) connection.run(queries.learnTemplate, client.scope, id);
    },
  };
};

/** Own templates belong to one client: to this one if a listing shows most of its templates and records. */
export const fits = (
  { templateIds, records, templates }: KnownClientRow,
  own: readonly ActualTemplate[],
): boolean => {
  const shownTemplates = new Set(own.map(({ id }) => id));
  const shownRecords = new Set(own.flatMap((template) => template.records.map(({ id }) => id)));
  const recordIds = new Set([
    ...records.flatMap(({ recordId, copies = [] }) => (recordId === null ? copies : [recordId, ...copies])),
    ...templates.flatMap(({ strangers }) => strangers ?? []),
  ]);
  const isOfRecords = recordIds.size === 0 || isMost([...recordIds], shownRecords);
  return isMost(templateIds, shownTemplates) && isOfRecords;
};

/** The state of a client to which a token may belong. */
export interface KnownClientRow {
  readonly templateIds: readonly number[];
  readonly records: readonly RecordState[];
  readonly templates: readonly TemplateRow[];
}

const isMost = (ids: readonly number[], shown: ReadonlySet<number>): boolean =>
  ids.filter((id) => shown.has(id)).length * 2 > ids.length;

/** Whoever knows one of these templates: found in the indexes of the tables, which SQLite does not use behind the view. */
const scopesOf = (ids: string): string => `SELECT scope FROM client_templates WHERE template_id IN ${ids}
  UNION SELECT scope FROM templates WHERE template_id IN ${ids}
  UNION SELECT scope FROM intents WHERE json_extract(body, '$.templateId') IN ${ids}`;

/** Each row as JSON: texts of a damaged file must be checked before they are read. */
const queries = {
  clients: 'SELECT body FROM clients ORDER BY scope',
  another: 'SELECT body FROM clients WHERE scope <> ? LIMIT 1',
  knowing: `SELECT body FROM clients WHERE scope IN (${scopesOf('(SELECT value FROM json_each(?1))')}) ORDER BY scope`,
  ofToken: 'SELECT body FROM clients WHERE scope = (SELECT scope FROM tokens WHERE digest = ?)',
  templateIds: 'SELECT template_id AS body FROM known_templates WHERE scope = ?',
  records: 'SELECT body FROM records WHERE scope = ?',
  templates: 'SELECT body FROM templates WHERE scope = ?',
  rivals: `WITH own AS (SELECT template_id FROM known_templates WHERE scope = ?1 UNION SELECT value FROM json_each(?2))
    SELECT json_quote(scope) AS body FROM (${scopesOf('own')}) WHERE scope <> ?1`,
  learnClient:
    'INSERT INTO clients (scope, body) VALUES (?, ?) ON CONFLICT DO UPDATE SET body = excluded.body',
  learnToken:
    'INSERT INTO tokens (digest, scope) VALUES (?, ?) ON CONFLICT DO UPDATE SET scope = excluded.scope',
  learnTemplate: 'INSERT OR IGNORE INTO client_templates (scope, template_id) VALUES (?, ?)',
} as const;

const parse = (row: unknown): never => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this program's own, by the schema version
  return JSON.parse(String((row as { body: unknown }).body)) as never;
};
