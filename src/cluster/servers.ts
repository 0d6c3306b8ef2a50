import type { PostgresDatabase } from './database.ts';

/** Hosting servers that asked to be left alone for a while, whoever they asked. */
export interface PausedServers {
  /** For so many milliseconds from now on, by the clock of the database. */
  pause(server: string, duration: number): Promise<void>;
  /** Those that are to be left alone now. */
  list(): Promise<readonly string[]>;
}

export const pausedServers = ({ query }: Pick<PostgresDatabase, 'query'>): PausedServers => ({
  pause: async (server, duration) => void (await query(pause, [server, Math.min(duration, longest)])),
  list: async () => (await query<{ name: string }>(paused)).map(({ name }) => name),
});

/** Milliseconds. One client that is asked to wait for longer waits by itself. */
const longest = 5 * 60_000;

const pause = `INSERT INTO dns_template_sync.servers AS server (name, retry_at)
  VALUES ($1, clock_timestamp() + $2 * interval '1 millisecond')
  ON CONFLICT (name) DO UPDATE SET retry_at = greatest(server.retry_at, excluded.retry_at)`;

const paused = 'SELECT name FROM dns_template_sync.servers WHERE retry_at > clock_timestamp()';
