import { parse } from './clients.ts';
import type { KnownClient } from '../../state/client-memory.ts';
import type { PostgresDatabase } from './database.ts';

/** A client of a shared store, and who is at work for it. */
export interface ClientHolder {
  readonly client: KnownClient;
  readonly templates: number;
  readonly openIntents: number;
  /** How often it was claimed. */
  readonly epoch: number;
  /** Null where nobody is at work for it. */
  readonly holder: string | null;
  /** ISO 8601, by the clock of the database; null where nobody is. */
  readonly leaseUntil: string | null;
}

/** All that anything is remembered of. */
export const clientHolders = async ({ query }: PostgresDatabase): Promise<ClientHolder[]> => {
  const rows = await query<HolderRow>(holders);
  return rows.map(({ body, templates, intents, epoch, holder, until }) => ({
    client: parse<KnownClient>(body),
    templates: Number(templates),
    openIntents: Number(intents),
    epoch: Number(epoch ?? 0),
    holder,
    leaseUntil: until?.toISOString() ?? null,
  }));
};

interface HolderRow {
  readonly body: string;
  readonly templates: string;
  readonly intents: string;
  readonly epoch: string | null;
  readonly holder: string | null;
  readonly until: Date | null;
}

const holders = `SELECT c.body,
    (SELECT count(*) FROM dns_template_sync.templates t WHERE t.scope = c.scope) AS templates,
    (SELECT count(*) FROM dns_template_sync.intents i WHERE i.scope = c.scope) AS intents,
    l.epoch, CASE WHEN l.lease_until > clock_timestamp() THEN l.holder END AS holder,
    CASE WHEN l.lease_until > clock_timestamp() THEN l.lease_until END AS until
  FROM dns_template_sync.clients c LEFT JOIN dns_template_sync.leases l ON l.name = 'lock-' || c.scope
  ORDER BY c.body`;
