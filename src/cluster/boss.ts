import { createRequire } from 'node:module';
import type { PgBoss } from 'pg-boss';
import { messageOf, UserError } from '../errors.ts';
import type { PostgresDatabase } from './postgres/database.ts';

export interface BossOptions {
  readonly database: Pick<PostgresDatabase, 'execute' | 'query' | 'place'>;
  /** Whether it cleans up jobs without a running process. */
  readonly supervises: boolean;
  /** Called with errors between two calls. */
  readonly onTrouble: (what: unknown) => void;
}

/** Creates its tables if they are missing. */
export const startBoss = async ({ database, supervises, onTrouble }: BossOptions): Promise<PgBoss> => {
  const boss = new (loadPgBoss().PgBoss)({
    ...queueOptions,
    db: { executeSql: database.execute },
    ...(supervises ? supervisor : idle),
  });
  boss.on('error', onTrouble);
  boss.on('warning', onTrouble);
  try {
    await boss.start();
    await boss.createQueue(passQueue, { policy: 'stately' });
    return boss;
  } catch (error) {
    await boss.stop({ graceful: false }).catch(() => undefined);
    const holders = await database.query<{ usename: string }>(otherHolders).catch(() => []);
    if (holders.length === 0) throw error;
    const names = holders.map(({ usename }) => usename).join(', ');
    throw new UserError(
      `the queue of passes in ${database.place} cannot be opened (${messageOf(error)}) while other roles hold advisory locks in that database: ${names}. End their sessions, and let no other role connect: REVOKE CONNECT ON DATABASE … FROM PUBLIC`,
      { cause: error },
    );
  }
};

/** Any role that may connect to the database may take the locks that the queue waits for. */
const otherHolders = `SELECT DISTINCT a.usename FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_stat_activity a USING (pid)
  WHERE l.locktype = 'advisory' AND l.granted AND a.datname = current_database() AND a.usename <> current_user`;

/** The queue of all passes: at most one running and one waiting for each client. */
export const passQueue = 'pass';

/** Whether this Node.js can load it. */
const hasBoss = (): boolean => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > 22 || (major === 22 && minor >= 12);
};

/** Throws `UserError`. */
export const requireBoss = (): void => {
  if (!hasBoss())
    throw new UserError(
      `run with a PostgreSQL store needs Node.js 22.12 or later, and this is ${process.versions.node}: use a newer one, or the image; everything else works on this one`,
    );
};

const queueOptions = {
  schema: 'dns_template_sync_queue',
  schedule: false,
  registerInstance: false,
  warningQueueSize: 1_000_000,
  openTelemetry: { enabled: false },
};

/** Seconds until a silent process is noticed. */
const supervisor = { supervise: true, superviseIntervalSeconds: 1, monitorIntervalSeconds: 1 };
const idle = { supervise: false };

/** Loaded only if there is a queue. The build puts it beside the program. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the package exports
const loadPgBoss = (): { PgBoss: typeof PgBoss } => createRequire(import.meta.url)('pg-boss') as never;
