import type { FleetClient } from './membership.ts';
import { isYieldDue, yieldToOthers } from '../lib/yield.ts';
import type { PostgresDatabase } from './database.ts';

/** A client, as this process knows it. */
export interface Account {
  readonly client: FleetClient;
  readonly scope: string;
  /** Its token, since that was found to be another one than the owner's; null where it is the same. */
  differing: string | null;
  /** Why it cannot be the client that others know by this name; null if it can. */
  trouble: string | null;
}

/**
 * Compares tokens with those of the owners. One that was rotated is soon the owner's too; one of another account never is:
 * that is looked for where it differs at the second time as well. Returns whether all are the same.
 */
export const checkTokens = async (
  { query }: PostgresDatabase,
  accounts: readonly Account[],
  onTrouble: (account: Account) => void,
): Promise<boolean> => {
  const tokens: string[] = [];
  for (const { client } of accounts) {
    if (isYieldDue()) await yieldToOthers();
    tokens.push(tokenOf(client));
  }
  const rows = await query<{ scope: string }>(differing, [accounts.map(({ scope }) => scope), tokens]);
  const found = new Set(rows.map(({ scope }) => scope));
  for (const [at, account] of accounts.entries()) {
    const before = account.differing;
    account.differing = found.has(account.scope) ? tokens[at]! : null;
    if (account.differing === null) account.trouble = null;
    else if (account.differing === before && account.trouble === null) {
      if (!(await listsOthers(query, account))) continue;
      account.trouble = `client ${account.client.name} of this store is another account: name the client, or correct its token`;
      onTrouble(account);
    }
  }
  return found.size === 0;
};

/** Whether templates are remembered, and its token lists none of them. */
const listsOthers = async (
  query: PostgresDatabase['query'],
  { client, scope }: Account,
): Promise<boolean> => {
  const rows = await query<{ id: string }>(remembered, [scope]);
  const known = rows.map(({ id }) => Number(id));
  const listed = new Set(await client.listTemplateIds().catch(() => known));
  return known.length > 0 && !known.some((id) => listed.has(id));
};

/** None where it cannot be read, which its passes will say. */
const tokenOf = (client: FleetClient): string => {
  try {
    return client.token();
  } catch {
    return '';
  }
};

const differing = `SELECT scope FROM unnest($1::text[], $2::text[]) AS own(scope, token)
  JOIN dns_sync.clients c USING (scope) WHERE c.token <> own.token AND '' NOT IN (c.token, own.token)`;

const remembered = 'SELECT template_id AS id FROM dns_sync.templates WHERE scope = $1';
