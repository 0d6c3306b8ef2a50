import { MemoryError } from '../../state/memory.ts';
import type { Query } from './database.ts';

/** Of the write-ahead log: another one since a standby took over. */
export const walTimeline = 'substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)';

/** Another one since a standby took over or a dump was restored: then what was acknowledged last may be forgotten. */
export const currentTimeline = `(SELECT concat_ws(' ', system_identifier, ${walTimeline},
  pg_relation_filenode('dns_template_sync.leases')) FROM pg_control_system())`;

/** How the lease of this token is stored. The claim ends with its timeline: another server may have forgotten its successor. */
export const onTimeline = (token: string): string => `${token} || ' ' || ${currentTimeline}`;

/** The leases under which something is written: each by its name, with the token it was given for. */
export interface Fence {
  readonly names: readonly string[];
  readonly tokens: readonly string[];
}

/**
 * A part of a statement or a statement: the leases that are still ours, of `$1` names and `$2` tokens. Whoever takes a
 * lease over changes its row, so it comes before this, and then the row is not found any more; or it waits for the end
 * of our transaction, and then sees all that this has written. `FOR KEY SHARE` would not wait, nor be waited for.
 */
export const heldLeases = `SELECT lease.name FROM dns_template_sync.leases AS lease
  JOIN unnest($1::text[], $2::text[]) AS held (name, token) ON lease.name = held.name AND lease.token = ${onTimeline('held.token')}
  FOR SHARE OF lease`;

/** Throws where one of them is somebody else's by now. From here to the end of the transaction none can become that. */
export const requireLeases = async (query: Query, { names, tokens }: Fence): Promise<void> => {
  if (names.length === 0) return;
  const held = await query(heldLeases, [names, tokens]);
  if (held.length < names.length) throw takenOver();
};

export const takenOver = (): MemoryError =>
  new MemoryError(
    'another process has taken over this client, because this one did not renew its lease in time: nothing more is sent, and the other process settles open writes',
  );

export const noFence: Fence = { names: [], tokens: [] };
