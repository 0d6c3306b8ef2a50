import path from 'node:path';
import type { Logger } from 'pino';
import { postgresStore, type PostgresStore } from '../cluster/store.ts';
import { UserError } from '../errors.ts';
import { HostingError } from '../hosting/errors.ts';
import type { Io, Output } from '../io.ts';
import type { Clock } from '../lib/clock.ts';
import { keepHeapSmall, keepYoungGenerationSmall, largeFiles, loadWasmOnce } from '../lib/own-v8.ts';
import { createLogger } from '../log.ts';
import { currentRedactor, redactTexts } from '../secrets.ts';
import { readSettings, type Settings } from '../settings.ts';
import type { ClientSettings } from '../settings/client.ts';
import { checkTargets } from '../settings/receivers.ts';
import { removeDatabase } from '../state/database.ts';
import { storeLocation } from '../state/store-location.ts';
import { fileStore } from '../state/store.ts';
import type { StateStore } from '../state/store-handle.ts';
import { readVersion } from '../version.ts';
import { openClient, type Client, type ClientOptions } from './client.ts';
import type { Options } from './options.ts';
import { loggedWarnings, printedWarnings, saidOn, type Warn } from './progress.ts';

/** Settings, log and clients of one run of the program. */
export type AppContext = Awaited<ReturnType<typeof openContext>>;

interface AppContextOptions {
  readonly isDaemon?: boolean;
  readonly onRequest?: ClientOptions['onRequest'];
  /** Whether clients with invalid files are left out while there are others. */
  readonly mayLeaveOut?: boolean;
}

/** Runs a command's task with that. If the service fails it, throws what the service said as a `UserError`. */
export const inAppContext = async <T>(
  options: Options,
  io: Io,
  task: (context: AppContext) => Promise<T>,
  more: AppContextOptions = {},
): Promise<T> => {
  const context = await openAppContext(options, io, more);
  try {
    return await task(context);
  } catch (error) {
    if (error instanceof HostingError) throw new UserError(error.message, { cause: error });
    throw error;
  } finally {
    await context.close();
  }
};

/** Opens everything that commands need to talk to the service. A command logs to stderr, the daemon to stdout. */
export const openAppContext = async (
  options: Options,
  io: Io,
  { isDaemon = false, mayLeaveOut = false, onRequest }: AppContextOptions = {},
): Promise<AppContext> => {
  if (io.ownsProcess) {
    loadWasmOnce();
    keepYoungGenerationSmall();
    if (isDaemon) keepHeapSmall();
  }
  // V8 sets the limit of its heap early, so this is decided by what will be read. All clients of a command count.
  let found = 0;
  const onFound = (octets: number): void => {
    if (found < largeFiles && (found += octets) >= largeFiles) keepHeapSmall();
  };
  const { logFormat, strict, allowEmpty, reset } = options;
  const logOn = (out: Output, level: Settings['logLevel'], secrets: () => readonly string[]): Logger => {
    // A command's log is for debugging; a daemon's is text only on a terminal.
    const usual = isDaemon && out.isTTY === true ? 'text' : 'json';
    const format = logFormat === 'json' || logFormat === 'text' ? logFormat : usual;
    return createLogger({ level, out, secrets, format, now: io.clock.now });
  };
  // Before the log can begin. Whoever collects a daemon's lines takes those of stderr for the same.
  const say = isDaemon
    ? (notice: string) => logOn(io.stderr, 'info', () => []).info({ event: 'notice', notice }, 'notice')
    : saidOn(io);
  const { env, cwd, clock } = io;
  return openContext({
    clock,
    read: (previous) =>
      readSettings({
        flags: options,
        env,
        cwd,
        needsService: true,
        mayLeaveOut,
        ...(previous ? { previous } : { say }),
      }),
    isDaemon,
    ...(io.ownsProcess && !isDaemon ? { onFound } : {}),
    strict: strict === true,
    allowEmpty: allowEmpty === true,
    reset: reset === true,
    outlet: ({ logLevel }, secrets) => {
      // A command's result is on stdout; the steps of its passes are logged only on request.
      const level = !isDaemon && logLevel === 'info' ? 'warn' : logLevel;
      const log = logOn(isDaemon ? io.stdout : io.stderr, level, secrets);
      return { log, warn: isDaemon ? loggedWarnings(log) : printedWarnings(log, io) };
    },
    ...(onRequest ? { onRequest } : {}),
  });
};

interface ContextRequest
  extends
    Pick<AppContextOptions, 'onRequest'>,
    Pick<ClientOptions, 'clock' | 'isDaemon' | 'onFound' | 'strict' | 'allowEmpty'> {
  readonly read: (previous?: Settings) => Settings;
  /** Whether the embedded service begins with its example data. */
  readonly reset: boolean;
  /** Where log and warnings go. */
  readonly outlet: (
    settings: Settings,
    secrets: () => readonly string[],
  ) => { readonly log: Logger; readonly warn: Warn };
}

/** The same, for settings from anywhere. */
export const openContext = async ({
  read,
  reset,
  outlet,
  onRequest = () => undefined,
  ...how
}: ContextRequest) => {
  const { clock, isDaemon } = how;
  const settings = read();
  let current = settings;
  /** Made once for all: each of thousands of clients asks in each pass. */
  let names: readonly string[] = [];
  const use = (fresh: Settings): void => {
    current = fresh;
    names = fresh.clients.map(({ name }) => name);
  };
  use(settings);
  const secrets = everSeen(() => current.secrets());
  const redactNow = currentRedactor(secrets);
  const { log, warn } = outlet(settings, secrets);
  if (reset && !settings.sandbox) throw new UserError('--reset goes with --sandbox only');
  const store = openStore(settings, clock, isDaemon);
  // The state describes the old data.
  if (reset)
    for (const client of settings.clients)
      removeDatabase(storeLocation(client, sandboxTokens(client.name).clientToken, true).file);
  const dataFile = path.join(settings.clients[0]?.stateDir ?? '.', 'sandbox.json');
  const sandbox = settings.sandbox
    ? await (await import('../sandbox/sandbox.ts')).startSandbox({ dataFile, reset })
    : null;
  const open = (client: ClientSettings): Client =>
    openClient({
      ...how,
      settings: sandbox
        ? { ...client, baseUrl: sandbox.url, proxy: null, tokens: { read: () => sandboxTokens(client.name) } }
        : client,
      names: () => names,
      store,
      isSandbox: sandbox !== null,
      warn: (message, level) => warn(redactNow()(message), client.name, level),
      onRequest: (request) => {
        log.debug({ event: 'service.request', client: client.name, ...request }, 'request');
        onRequest(request);
      },
    });
  const clients = settings.clients.map(open);
  const rereadAll = (): void => {
    // What was a secret stays one.
    secrets();
    const fresh = read(current);
    fresh.triggerToken?.read();
    fresh.pageToken?.read();
    checkTargets(fresh.notify);
    for (const name of ['listen', 'store', 'leaseDuration'] as const)
      if (JSON.stringify(fresh[name]) !== JSON.stringify(settings[name]))
        log.warn(
          { event: 'settings.unapplied' },
          `${name} has changed: the new one takes effect after a restart`,
        );
    use(fresh);
  };
  return {
    settings,
    clients,
    log,
    clock,
    store,
    /** The store, if processes share it; else null. */
    shared: 'lease' in store ? store : null,
    /** Where the embedded service listens, if there is one. */
    sandboxUrl: sandbox?.url ?? null,
    /** Replaces every secret in a value. */
    redact: <T>(value: T): T => redactTexts(value, redactNow()),
    /** The secrets that `redact` replaces. */
    secrets,
    /**
     * Reads the settings again, or only what has changed of the files of clients, and opens clients with them. Throws a
     * UserError if they are invalid.
     */
    reopen: (what: 'all' | 'client-files') => {
      const before = new Set(what === 'all' ? [] : current.clients);
      if (what === 'all') rereadAll();
      else if (current.clientFiles !== null) {
        const { clients: now, problems } = current.clientFiles.read();
        use({ ...current, clients: now, leftOut: problems });
      }
      const changed = current.clients.filter((client) => !before.has(client));
      return { settings: current, clients: changed.map(open) };
    },
    /** Closes the clients that were opened first, and the embedded service. */
    close: async () => {
      await Promise.all(clients.map((client) => client.close()));
      await sandbox?.close();
      await store.close();
    },
  };
};

/** One list that only grows. */
const everSeen = (now: () => readonly string[]): (() => readonly string[]) => {
  const all = new Set<string>();
  let [last, count]: [readonly string[] | null, number] = [null, 0];
  let list: readonly string[] = [];
  return () => {
    const current = now();
    if (current === last && current.length === count) return list;
    for (const one of current) all.add(one);
    [last, count, list] = [current, current.length, [...all]];
    return list;
  };
};

/** The store that the settings name; each embedded service is that of one process. Nothing is opened before it is needed. */
const openStore = (
  { store, sandbox, leaseDuration, storeConnections, publicUrl }: Settings,
  clock: Clock,
  isDaemon: boolean,
): StateStore | PostgresStore =>
  store === null || sandbox
    ? fileStore(clock)
    : postgresStore({
        url: () => store.read(),
        connections: storeConnections,
        leaseDuration,
        isDaemon,
        version: readVersion(),
        address: publicUrl || null,
      });

/** The embedded service takes any tokens. */
const sandboxTokens = (client: string) => ({
  userToken: 'sandbox-user',
  clientToken: `sandbox-${client}`,
});

/** The client of a command that works on one. */
export const onlyClient = ({ clients }: Pick<AppContext, 'clients'>): Client =>
  onlyOne(clients, ({ settings }) => settings.name);

export const onlyOne = <T>(clients: readonly T[], nameOf: (client: T) => string): T => {
  const [client, ...others] = clients;
  if (client !== undefined && others.length === 0) return client;
  const more = clients.length > maxNamed ? ` and ${clients.length - maxNamed} more` : '';
  const names = clients.slice(0, maxNamed).map(nameOf).join(', ');
  throw new UserError(`there are several clients (${names}${more}): choose one with --client`);
};

const maxNamed = 10;
