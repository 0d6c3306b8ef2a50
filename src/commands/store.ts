import type { Options } from '../app/options.ts';
import { hasBoss, startBoss } from '../cluster/boss.ts';
import { clientPasses } from '../cluster/fleet-status.ts';
import { aliveReplicas } from '../cluster/replicas.ts';
import { pausedServers as pausedNow } from '../cluster/servers.ts';
import { UserError } from '../errors.ts';
import type { Io, Output } from '../io.ts';
import { asJson } from '../lib/escape-control.ts';
import { readSettings, type Settings } from '../settings.ts';
import { giveFile, takeIntoFile } from '../state/copy-files.ts';
import { giveFromPostgres, takeIntoPostgres } from '../cluster/postgres/copy.ts';
import { openDatabase, type PostgresDatabase } from '../cluster/postgres/database.ts';
import { clientHolders } from '../cluster/postgres/holders.ts';
import { migrate, versionIn } from '../cluster/postgres/schema.ts';
import { asTable } from '../report/columns.ts';

/** The state in PostgreSQL: creates its tables, shows which processes use it, copies a state directory. */
export const store = async (
  what: 'migrate' | 'status' | 'copy',
  options: Options,
  io: Io,
): Promise<number> => {
  const settings = readSettings({
    flags: options,
    needs: { baseUrl: false, tokens: false },
    env: io.env,
    cwd: io.cwd,
  });
  if (settings.store === null)
    throw new UserError(
      'no PostgreSQL is set: give DNS_SYNC_STORE=postgres://…, DNS_SYNC_STORE_FILE or store in the settings file',
    );
  const database = openDatabase(() => settings.store!.read());
  try {
    await tasks[what](database, settings, options, io.stdout);
    return 0;
  } finally {
    await database.close();
  }
};

type Task = (
  database: PostgresDatabase,
  settings: Settings,
  options: Options,
  stdout: Output,
) => Promise<void>;

const say = (stdout: Output, text: string): void => void stdout.write(`${text}\n`);

const makeTables: Task = async (database, _settings, _options, stdout) => {
  const { from, to } = await migrate(database);
  if (hasBoss()) await makeQueue(database);
  else
    say(
      stdout,
      `the tables of the queue of run are made with Node.js 22.12 or later, by this or by run itself`,
    );
  if (from === to) say(stdout, `${database.place}: the tables are up to date (schema ${to})`);
  else
    say(
      stdout,
      `${database.place}: ${from === 0 ? 'created the tables' : 'upgraded the tables'} (schema ${to})`,
    );
};

const makeQueue = async (database: PostgresDatabase): Promise<void> => {
  const boss = await startBoss({ database, supervises: false, onTrouble: () => undefined });
  await boss.stop({ graceful: false });
};

const tellStatus: Task = async (database, _, { format }, stdout) => {
  const schema = await versionIn(database.query);
  const clients = schema === 0 ? [] : await clientHolders(database);
  const replicas = schema < fleetSchema ? [] : (await aliveReplicas(database)).map((one) => ({ ...one }));
  const hasQueue = (await database.query(queueTables)).length > 0;
  const passes = hasQueue ? (await clientPasses(database)).map((one) => ({ ...one })) : [];
  const pausedServers = schema < fleetSchema ? [] : await pausedNow(database).list();
  const shown = clients.map(({ client, ...rest }) => ({
    client: client.name,
    baseUrl: client.baseUrl,
    ...rest,
  }));
  if (format === 'json') {
    stdout.write(asJson({ place: database.place, schema, replicas, clients: shown, passes, pausedServers }));
    return;
  }
  say(
    stdout,
    `${database.place}: ${schema === 0 ? 'no tables yet' : `schema ${schema}, ${shown.length} clients`}`,
  );
  if (replicas.length > 0) stdout.write(`${asTable(replicas)}\n`);
  if (shown.length > 0) stdout.write(asTable(shown));
  if (passes.length > 0) stdout.write(`\n${asTable(passes)}`);
  for (const server of pausedServers) say(stdout, `\nasked to wait: ${server}`);
};

const queueTables =
  "SELECT FROM pg_catalog.pg_views WHERE schemaname = 'dns_template_sync_queue' AND viewname = 'job' UNION ALL SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'dns_template_sync_queue' AND tablename = 'job'";

/** From this one on there are tables of the processes that run. */
const fleetSchema = 2;

const copy: Task = async (database, settings, { to }, stdout) => {
  await migrate(database);
  const stateDirs = [...new Set(settings.clients.map(({ stateDir }) => stateDir))];
  if (to === 'postgres') {
    for (const stateDir of stateDirs) await copyIn(database, stateDir, stdout);
    return;
  }
  const [stateDir, ...others] = stateDirs;
  if (stateDir === undefined || others.length > 0)
    throw new UserError('clients have state directories of their own: name one for all with --state-dir');
  await giveFromPostgres(database, (batches) => takeIntoFile(stateDir, batches));
  say(stdout, `moved the state from ${database.place} to ${stateDir}`);
};

const copyIn = async (database: PostgresDatabase, stateDir: string, stdout: Output): Promise<void> => {
  const waiting = { timeout: 0, signal: new AbortController().signal, onWait: () => undefined };
  const aside = await giveFile(stateDir, waiting, (batches) => takeIntoPostgres(database, batches));
  if (aside === null) throw new UserError(`there is no state in ${stateDir}`);
  say(stdout, `moved the state from ${stateDir} to ${database.place}; its file is now ${aside}`);
};

const tasks: Readonly<Record<'migrate' | 'status' | 'copy', Task>> = {
  migrate: makeTables,
  status: tellStatus,
  copy,
};
