/** Of the write-ahead log: another one since a standby took over. */
export const walTimeline = 'substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)';

/** Another one since a standby took over or a dump was restored: then what was acknowledged last may be forgotten. */
export const currentTimeline = `(SELECT concat_ws(' ', system_identifier, ${walTimeline},
  pg_relation_filenode('dns_template_sync.leases')) FROM pg_control_system())`;

/** How the lease of this token is stored. The claim ends with its timeline: another server may have forgotten its successor. */
export const onTimeline = (token: string): string => `${token} || ' ' || ${currentTimeline}`;
