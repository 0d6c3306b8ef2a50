import type { PostgresDatabase } from './database.ts';

/** On which processes tell each other what is new. */
export const newsChannel = 'dns_sync_news';

/** `clients`: some are free, or wanted, or there is a new process; `requests`: of passes; `reports`: a pass has ended. */
export type News = 'clients' | 'requests' | 'reports';

/** By itself, after a commit, for it would keep the commits of others waiting. */
export const tell = async ({ query }: Pick<PostgresDatabase, 'query'>, what: News): Promise<void> =>
  void (await query(`NOTIFY ${newsChannel}, '${what}'`));
