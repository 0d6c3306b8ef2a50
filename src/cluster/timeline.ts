import { MemoryError } from '../state/memory.ts';

/**
 * Of the database: another one since a standby took over (the timeline of its write-ahead log) or a dump was restored (the
 * identity of server or table). Then what was acknowledged last may be forgotten, and a row may look as it did before.
 */
export const currentTimeline = `(SELECT concat_ws(' ', system_identifier,
  substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), pg_relation_filenode('dns_sync.clients')) FROM pg_control_system())`;

export const takenOver = (): MemoryError =>
  new MemoryError(
    'another process has taken over this client, because this one did not renew its lease in time: nothing more is sent, and the other process settles open writes',
  );

/** Milliseconds since the epoch. */
export const milliseconds = (time: string): string => `(extract(epoch FROM ${time}) * 1000)::float8`;
