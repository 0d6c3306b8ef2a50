import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { Logger } from 'pino';
import type { Io, Output } from '../io.ts';
import type { Clock } from '../lib/clock.ts';
import { keepHeapSmall, keepYoungGenerationSmall, loadWasmOnce } from '../lib/own-v8.ts';
import type { Options } from './options.ts';
import { UserError } from '../errors.ts';
import { HostingError } from '../hosting/errors.ts';
import { createLogger } from '../log.ts';
import { currentRedactor, redactTexts } from '../secrets.ts';
import { readSettings, type Settings } from '../settings.ts';
import type { ClientSettings } from '../settings/client.ts';
import { checkTargets } from '../settings/notify.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { storeLocation } from '../state/store-location.ts';
import { fileStore, forgetState, type StateStore } from '../state/store.ts';
import { openClient, type Client, type ClientOptions } from './client.ts';
import { observedBelow } from './observer.ts';
import { isOpenToAll } from '../state/private-file.ts';
import { loggedWarnings, printedWarnings, saidOn, type WarningOutlet } from './warnings.ts';
import { postgresStore, type PostgresStore } from '../cluster/store.ts';
import { readVersion } from '../version.ts';

/** Settings, log and clients of one run of the program. */
export interface AppContext {
  readonly settings: Settings;
  readonly clients: readonly Client[];
  readonly log: Logger;
  readonly clock: Clock;
  readonly store: StateStore;
  /** The store, if processes share it; else null. */
  readonly shared: PostgresStore | null;
  /** Where the embedded service listens, if there is one. */
  readonly sandboxUrl: string | null;
  /** Replaces every secret in a value. */
  readonly redact: <T>(value: T) => T;
  /** The secrets that `redact` replaces. */
  readonly secrets: () => readonly string[];
  /** Reads the settings again and opens new clients with them. Throws a UserError if they are invalid. */
  reopen(): Pick<AppContext, 'settings' | 'clients'>;
  /** Reads the files of clients again and opens those that have changed. */
  reopenChanged(): Pick<AppContext, 'settings' | 'clients'>;
  /** Closes the clients that were opened first, and the embedded service. */
  close(): Promise<void>;
}

export interface AppContextOptions {
  readonly onRequest?: NonNullable<ClientOptions['onRequest']>;
  /** Whether clients with invalid files are left out while there are others. */
  readonly mayLeaveOut?: boolean;
}

/** Opens everything that commands need to talk to the service. A command logs to stderr, the daemon to stdout. */
export const openAppContext = async (
  options: Options,
  io: Io,
  { isDaemon = false, ...more }: AppContextOptions & { readonly isDaemon?: boolean } = {},
): Promise<AppContext> => {
  if (io.ownsProcess) {
    loadWasmOnce();
    keepYoungGenerationSmall();
    if (isDaemon) keepHeapSmall();
  }
  const logTo = isDaemon ? io.stdout : io.stderr;
  return openContext({
    ...more,
    clock: io.clock,
    read: (previous) =>
      readSettings({
        flags: options,
        env: io.env,
        cwd: io.cwd,
        needs: { baseUrl: true, tokens: true },
        mayLeaveOut: more.mayLeaveOut === true,
        ...(previous ? { previous } : { say: isDaemon ? loggedOn(io, options) : saidOn(io) }),
      }),
    isDaemon,
    strict: options['strict'] === true,
    allowEmpty: options['allowEmpty'] === true,
    reset: options['reset'] === true,
    outlet: (settings, secrets) => {
      const log = createLogger({
        level: levelOf(settings, isDaemon),
        out: logTo,
        secrets,
        format: formatOf(options, isDaemon, logTo),
        now: io.clock.now,
      });
      return { log, warnings: isDaemon ? loggedWarnings(log) : printedWarnings(log, io) };
    },
  });
};

/** What a daemon says before its log can begin. Whoever collects its lines takes those of stderr for the same. */
const loggedOn =
  ({ stderr, clock }: Io, options: Options) =>
  (notice: string): void =>
    createLogger({
      level: 'info',
      out: stderr,
      secrets: () => [],
      format: formatOf(options, true, stderr),
      now: clock.now,
    }).info({ event: 'notice', notice }, 'notice');

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

/** The client of a command that works on one. */
export const onlyClient = ({ clients }: Pick<AppContext, 'clients'>): Client => {
  const [client, ...others] = clients;
  if (!client || others.length > 0) throw severalClients(clients.map(({ settings }) => settings.name));
  return client;
};

export const severalClients = (names: readonly string[]): UserError => {
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : '';
  return new UserError(
    `there are several clients (${names.slice(0, maxNamed).join(', ')}${more}): choose one with --client`,
  );
};

const maxNamed = 10;

export interface ContextRequest extends Omit<AppContextOptions, 'mayLeaveOut'> {
  readonly clock: Clock;
  readonly read: (previous?: Settings) => Settings;
  readonly isDaemon: boolean;
  readonly strict: boolean;
  readonly allowEmpty: boolean;
  /** Whether the embedded service begins with its example data. */
  readonly reset: boolean;
  /** Where log and warnings go. */
  readonly outlet: (
    settings: Settings,
    secrets: () => readonly string[],
  ) => { readonly log: Logger; readonly warnings: WarningOutlet };
}

/** The same, for settings from anywhere. */
export const openContext = async ({
  clock,
  read,
  isDaemon,
  strict,
  allowEmpty,
  reset,
  outlet,
  onRequest = () => undefined,
}: ContextRequest): Promise<AppContext> => {
  const settings = read();
  let current = settings;
  const previousSecrets = new Set<string>();
  let known = { now: current.secrets(), previous: 0, all: current.secrets() };
  /** The same array as long as there are no more. */
  const secrets = (): readonly string[] => {
    const now = current.secrets();
    if (now !== known.now || previousSecrets.size !== known.previous)
      known = { now, previous: previousSecrets.size, all: [...previousSecrets, ...now] };
    return known.all;
  };
  const redactNow = currentRedactor(secrets);
  const { log, warnings } = outlet(settings, secrets);
  if (reset && !settings.sandbox) throw new UserError('--reset goes with --sandbox only');
  const store = openStore(settings, clock, isDaemon);
  if (reset) forgetSandbox(settings);
  const sandbox = settings.sandbox ? await openSandbox(settings, reset) : null;
  let named = { clients: settings.clients, names: namesOf(settings) };
  /** Made once for all: each of thousands of clients asks in each pass. */
  const names = (): readonly string[] => {
    if (named.clients !== current.clients) named = { clients: current.clients, names: namesOf(current) };
    return named.names;
  };
  const open = (client: ClientSettings): Client => {
    return openClient({
      clock,
      settings: sandbox
        ? { ...client, baseUrl: sandbox.url, proxy: null, tokens: sandboxTokens(client.name) }
        : client,
      strict,
      allowEmpty,
      isDaemon,
      names,
      store,
      isSandbox: sandbox !== null,
      warn: (message, level) =>
        warnings.warn(redactNow()(message), client.name, current.clients.length, level),
      onRequest: (request) => {
        log.debug({ event: 'service.request', client: client.name, ...request }, 'request');
        onRequest(request);
      },
    });
  };
  const clients = settings.clients.map(open);
  for (const directory of new Set(settings.clients.map(({ stateDir }) => stateDir))) {
    if (settings.store !== null || !isOpenToAll(directory)) continue;
    warnings.warn(
      `every user of this machine can change the state in ${directory}, and so what is written: run \`chmod o-w ${directory}\``,
    );
  }
  return {
    settings,
    clients,
    log,
    clock,
    store,
    shared: 'lease' in store ? store : null,
    sandboxUrl: sandbox?.url ?? null,
    redact: (value) => redactTexts(value, redactNow()),
    secrets,
    reopen: () => {
      const fresh = read(current);
      fresh.triggerToken?.read();
      fresh.pageToken?.read();
      checkTargets(fresh.notify);
      for (const secret of current.secrets()) previousSecrets.add(secret);
      if (!isSameStore(fresh, settings))
        log.warn(
          { event: 'settings.unapplied' },
          'store or leaseDuration has changed: the new one takes effect after a restart',
        );
      current = fresh;
      return { settings: fresh, clients: fresh.clients.map(open) };
    },
    reopenChanged: () => {
      if (current.clientFiles === null) return { settings: current, clients: [] };
      const before = new Set(current.clients);
      const { clients: now, problems } = current.clientFiles.read();
      current = { ...current, clients: now, leftOut: problems };
      return { settings: current, clients: now.filter((client) => !before.has(client)).map(open) };
    },
    close: async () => {
      warnings.close(current.clients.length);
      await Promise.all(clients.map((client) => client.close()));
      await sandbox?.close();
      await store.close();
    },
  };
};

const namesOf = ({ clients }: Settings): readonly string[] => clients.map(({ name }) => name);

/** A command's result is on stdout; the steps of its passes are logged only on request. */
const levelOf = ({ logLevel }: Settings, isDaemon: boolean): Settings['logLevel'] =>
  !isDaemon && logLevel === 'info' ? 'warn' : logLevel;

/** A command's log is for debugging; a daemon's is text only on a terminal. */
const formatOf = ({ logFormat }: Options, isDaemon: boolean, out: Output): 'json' | 'text' => {
  if (logFormat === 'json' || logFormat === 'text') return logFormat;
  return isDaemon && out.isTTY === true ? 'text' : 'json';
};

const openSandbox = async ({ clients }: Settings, reset: boolean): Promise<Sandbox> => {
  const { startSandbox } = await import('../sandbox/sandbox.ts');
  const stateDir = clients[0]?.stateDir ?? '.';
  return startSandbox({ dataFile: path.join(stateDir, 'sandbox.json'), reset });
};

/** The state describes the old data. */
const forgetSandbox = ({ clients }: Settings): void => {
  for (const client of clients) {
    const { clientToken } = sandboxTokens(client.name).read();
    for (const stateDir of [client.stateDir, observedBelow(client.stateDir)])
      forgetState(storeLocation({ ...client, stateDir }, clientToken, true));
  }
};

/** A password that was rotated is read again where it is needed. */
const isSameStore = (one: Settings, other: Settings): boolean =>
  one.leaseDuration === other.leaseDuration && placeOf(one) === placeOf(other);

const placeOf = ({ store }: Settings): string | null => {
  const text = store?.read() ?? null;
  if (text === null || !URL.canParse(text)) return text;
  const url = new URL(text);
  url.password = '';
  return url.href;
};

/** The embedded service takes any tokens. */
export const sandboxTokens = (client: string): { read(): { userToken: string; clientToken: string } } => ({
  read: () => ({ userToken: 'sandbox-user', clientToken: `sandbox-${client}` }),
});

export const newRun = (): string => randomUUID();

/** The store that the settings name; each embedded service is that of one process. Nothing is opened before it is needed. */
export const openStore = (
  {
    store,
    sandbox,
    leaseDuration,
    storeConnections,
    publicUrl,
  }: Pick<Settings, 'store' | 'sandbox' | 'leaseDuration' | 'storeConnections' | 'publicUrl'>,
  clock: Clock,
  isDaemon = false,
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
