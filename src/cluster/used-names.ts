import type { UsedNames } from '../daemon/fleet.ts';
import type { PostgresDatabase } from './database.ts';

/** Notes that these are in use, and removes what belongs to names that no process has used for 30 days. */
export const forgetUnused = async (
  { transaction }: Pick<PostgresDatabase, 'transaction'>,
  { clients, files, receivers }: UsedNames,
): Promise<void> => {
  const used = Object.entries({ client: clients, files, receiver: receivers });
  await transaction(async (query) => {
    for (const [kind, names] of used) await query(note, [kind, [...names].sort()], patience);
    for (const statement of removals) await query(statement, [], patience);
  });
};

/** Milliseconds: of thousands of clients. */
const patience = 60_000;

const note = `INSERT INTO dns_template_sync.used (kind, name, used_on)
  SELECT $1, name, current_date FROM unnest($2::text[]) AS name
  ON CONFLICT (kind, name) DO UPDATE SET used_on = current_date WHERE used.used_on <> current_date`;

const unused = (kind: string): string =>
  `(SELECT name FROM dns_template_sync.used WHERE kind = '${kind}' AND used_on < current_date - 30)`;

const removals = [
  `DELETE FROM dns_template_sync.reports WHERE client IN ${unused('client')}`,
  `DELETE FROM dns_template_sync.repeated_passes WHERE client IN ${unused('client')}`,
  `DELETE FROM dns_template_sync.snapshot_files WHERE client IN ${unused('files')}`,
  `DELETE FROM dns_template_sync.snapshots WHERE client IN ${unused('files')}`,
  `DELETE FROM dns_template_sync.blobs b WHERE EXISTS ${unused('files')}
    AND NOT EXISTS (SELECT FROM dns_template_sync.snapshot_files f WHERE f.hash = b.hash)`,
  `DELETE FROM dns_template_sync.notified WHERE client IN ${unused('client')} OR receiver IN ${unused('receiver')}`,
  'DELETE FROM dns_template_sync.used WHERE used_on < current_date - 30',
];
