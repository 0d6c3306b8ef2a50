import { LockedError, UserError } from '../../errors.ts';
import {
  batchSize,
  fieldOf,
  portableNames,
  portableTables,
  type RowBatch,
} from '../../state/portable-rows.ts';
import type { PostgresDatabase, Query } from './database.ts';
import { requireSuspensions } from './schema.ts';

/** Takes what another store gives, while nobody is at work here; all of it or nothing. */
export const takeIntoPostgres = (database: PostgresDatabase, batches: Iterable<RowBatch>): Promise<void> =>
  database.transaction(async (query) => {
    await keepOthersOut(query);
    for (const batch of batches) {
      if (batch.table === 'clients') await refuseKnown(query, batch, database.place);
      if (batch.table === 'suspensions') await requireSuspensions(query);
      await insert(query, batch);
    }
  });

/** Gives all that is remembered here, while nobody is at work, and keeps nothing of it once it was taken. */
export const giveFromPostgres = (
  database: PostgresDatabase,
  take: (batches: readonly RowBatch[]) => Promise<void>,
): Promise<void> =>
  database.transaction(async (query) => {
    await keepOthersOut(query);
    await take(await allBatches(query));
    for (const table of portableNames) await query(`DELETE FROM dns_template_sync.${table}`, [], patience);
  });

/** Milliseconds. */
const patience = 600_000;

/** To the end of the transaction nobody can take a lease, nor begin or keep anything under one. */
const keepOthersOut = async (query: Query): Promise<void> => {
  await query('LOCK TABLE dns_template_sync.leases IN EXCLUSIVE MODE');
  const held = await query<{ holder: string }>(
    'SELECT holder FROM dns_template_sync.leases WHERE lease_until > clock_timestamp() ORDER BY lease_until',
  );
  if (held.length > 0)
    throw new LockedError(
      `another process is using this state: ${held.at(-1)!.holder}; stop it first, on every machine`,
    );
};

const refuseKnown = async (query: Query, { rows }: RowBatch, place: string): Promise<void> => {
  const scopes = rows.map(({ scope }) => scope);
  const known = await query('SELECT FROM dns_template_sync.clients WHERE scope = ANY ($1::text[])', [scopes]);
  if (known.length > 0)
    throw new UserError(
      `${place} already has the state of ${known.length} of these clients, so nothing was copied`,
    );
};

/** In memory, as a state directory has room for it: the transaction must not be idle for long. */
const allBatches = async (query: Query): Promise<RowBatch[]> => {
  const batches: RowBatch[] = [];
  for (const table of portableNames) {
    const { columns, order } = portableTables[table];
    const numbers = columns.map((name) => (numeric.has(name) ? `${name}::float8 AS ${name}` : name));
    const sql = `SELECT ${numbers.join()} FROM dns_template_sync.${table} ORDER BY ${order.join()} LIMIT $1 OFFSET $2`;
    for (let offset = 0; ; offset += batchSize) {
      const rows = await query<RowBatch['rows'][number]>(sql, [batchSize, offset]);
      if (rows.length > 0) batches.push({ table, rows });
      if (rows.length < batchSize) break;
    }
  }
  return batches;
};

const numeric: ReadonlySet<string> = new Set(['template_id', 'at']);

const insert = async (query: Query, { table, rows }: RowBatch): Promise<void> => {
  const values = {
    ...Object.fromEntries(portableTables[table].columns.map((name) => [name, rows.map((row) => row[name])])),
    ...(table === 'records' ? { key: rows.map((row) => JSON.stringify(fieldOf(row, 'key'))) } : {}),
    ...(table === 'intents' ? { template_id: rows.map((row) => fieldOf(row, 'templateId')) } : {}),
  };
  const names = Object.keys(values);
  const unnested = names.map((name, at) => `$${at + 1}::${numeric.has(name) ? 'bigint' : 'text'}[]`);
  const own = table === 'templates' ? ['revision', `nextval('dns_template_sync.revisions')`] : ['', ''];
  await query(
    `INSERT INTO dns_template_sync.${table} (${[...names, own[0]].filter(Boolean).join()})
     SELECT ${[...names, own[1]].filter(Boolean).join()} FROM unnest(${unnested.join()}) AS given (${names.join()})`,
    Object.values(values),
    patience,
  );
};
