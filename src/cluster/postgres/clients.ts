import { fits } from '../../state/clients.ts';
import type { ClientMemory, KnownClient } from '../../state/client-memory.ts';
import type { RecordState, TemplateRow } from '../../state/memory.ts';
import type { PostgresDatabase } from './database.ts';

/** The clients of one database, all of them. */
export interface PostgresClients {
  fitting: ClientMemory['clients']['fitting'];
  rivalsOf: ClientMemory['clients']['rivalsOf'];
  /** From now on this token is this client's. */
  learn(client: KnownClient, digest: string, templateIds: readonly number[]): Promise<void>;
}

export const clientsOf = ({ query, transaction }: PostgresDatabase): PostgresClients => {
  const all = async <T>(sql: string, ...values: readonly unknown[]): Promise<T[]> =>
    (await query<{ body: string }>(sql, values)).map(({ body }) => parse<T>(body));
  return {
    rivalsOf: async ({ scope, baseUrl }, templateIds) => {
      if (baseUrl === null) return [];
      return rivalsAt(baseUrl, await all<KnownClient>(queries.rivals, scope, templateIds));
    },
    fitting: async (baseUrl, listing) => {
      const own = listing.filter(({ publiclyAvailable }) => !publiclyAvailable);
      const sharing = await all<KnownClient>(
        queries.sharing,
        own.map(({ id }) => id),
      );
      const found: KnownClient[] = [];
      for (const client of sharing) {
        if (client.baseUrl !== null && client.baseUrl !== baseUrl) continue;
        const known = {
          templateIds: await all<number>(queries.templateIds, client.scope),
          records: await all<RecordState>(queries.records, client.scope),
          templates: await all<TemplateRow>(queries.templates, client.scope),
        };
        if (fits(known, own)) found.push(client);
      }
      return found;
    },
    learn: (client, digest, templateIds) =>
      transaction(async (run) => {
        await run(queries.learnClient, [client.scope, JSON.stringify(client)]);
        await run(queries.learnToken, [digest, client.scope]);
        await run(queries.learnTemplates, [client.scope, templateIds]);
      }),
  };
};

/** Those of the same service. */
export const rivalsAt = (baseUrl: string | null, others: readonly KnownClient[]): readonly string[] =>
  baseUrl === null ? [] : others.filter((client) => client.baseUrl === baseUrl).map(({ scope }) => scope);

/** The bodies are this program's own; the schema version says which version wrote them. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion, typescript/no-unnecessary-type-parameters
export const parse = <T>(body: string): T => JSON.parse(body) as T;

const queries = {
  templateIds:
    'SELECT template_id::text AS body FROM dns_template_sync.known_templates WHERE scope = $1 ORDER BY template_id',
  records: 'SELECT body FROM dns_template_sync.records WHERE scope = $1',
  templates: 'SELECT body FROM dns_template_sync.templates WHERE scope = $1',
  // By arrays, for which there are indexes: joined with the view, each of these reads what is known of all clients.
  sharing: `SELECT body FROM dns_template_sync.clients WHERE scope = ANY (ARRAY
    (SELECT scope FROM dns_template_sync.known_templates WHERE template_id = ANY ($1::bigint[]))) ORDER BY scope`,
  rivals: `SELECT body FROM dns_template_sync.clients WHERE scope <> $1 AND scope = ANY (ARRAY
    (SELECT scope FROM dns_template_sync.known_templates WHERE template_id = ANY (ARRAY
      (SELECT template_id FROM dns_template_sync.known_templates WHERE scope = $1 UNION SELECT unnest($2::bigint[])))))
    ORDER BY scope`,
  learnClient: `INSERT INTO dns_template_sync.clients (scope, body) VALUES ($1, $2)
    ON CONFLICT (scope) DO UPDATE SET body = excluded.body`,
  learnToken: `INSERT INTO dns_template_sync.tokens (digest, scope) VALUES ($1, $2)
    ON CONFLICT (digest) DO UPDATE SET scope = excluded.scope`,
  learnTemplates: `INSERT INTO dns_template_sync.client_templates (scope, template_id)
    SELECT $1, unnest($2::bigint[]) ON CONFLICT DO NOTHING`,
} as const;
