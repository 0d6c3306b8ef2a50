import { sleep } from '../lib/sleep.ts';
import { connectionOptions, loadPg, type PostgresDatabase } from './database.ts';

/** On which processes tell each other what is new. */
const channel = 'dns_sync_news';

/** `clients`: some are free, or wanted, or there is a new process; `requests`: of passes; `reports`: a pass has ended. */
export type Topic = 'clients' | 'requests' | 'reports';

/** By itself, after a commit, for it would keep the commits of others waiting. */
export const tell = async ({ query }: PostgresDatabase, what: Topic): Promise<void> =>
  void (await query(`NOTIFY ${channel}, '${what}'`));

/** The same, as a part of a statement. */
export const telling = (what: Topic): string => `pg_notify('${channel}', '${what}')`;

/** Hears what others tell, over a connection of its own. */
export interface Listener {
  close(): Promise<void>;
}

/**
 * Calls back with what others tell, and with null each time it has connected, since something may have
 * been missed until then. It cannot tell a network that is silent: whoever needs to know asks from time to time, too.
 */
export const listenOn = (url: () => string, onNews: (payload: string | null) => void): Listener => {
  const closing = new AbortController();
  const { signal } = closing;
  const hear = async (): Promise<void> => {
    const client = new (loadPg().Client)({
      ...connectionOptions,
      connectionString: url(),
      query_timeout: patience,
    });
    const ended = new Promise<void>((resolve) => {
      client.on('end', resolve);
      // The end follows.
      client.on('error', () => undefined);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    client.on('notification', ({ payload = '' }) => onNews(payload));
    try {
      await client.connect();
      await client.query(`LISTEN ${channel}`);
      onNews(null);
      await ended;
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  const hearAgain = async (): Promise<void> => {
    while (!signal.aborted) {
      await hear().catch(() => undefined);
      await sleep(retryAfter * (0.5 + Math.random()), signal);
    }
  };
  const heard = hearAgain();
  return {
    close: async () => {
      closing.abort();
      await heard;
    },
  };
};

/** Milliseconds. */
const patience = 2_000;
const retryAfter = 1_000;
