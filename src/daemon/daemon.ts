import { Notifier } from '../notify/notifier.ts';
import { checkTargets } from '../settings/receivers.ts';
import { readinessOf } from './clients/client-state.ts';
import type { DaemonContext } from './context.ts';
import { ClientManager, type Listeners } from './clients/client-manager.ts';
import { Day } from './passes/day.ts';
import type { Metrics, Seen } from './metrics.ts';
import { startServer, type RunningServer } from './http/server.ts';
import { statusPages } from './http/pages.ts';
import { ChangeFeed } from './http/events.ts';
import type { Settings } from '../settings.ts';

export interface RunningDaemon {
  /** Of its HTTP server; null if it has none. */
  readonly url: string | null;
  /** Reads the settings again. */
  readonly reload: () => void;
  /** Resolves once the running writes and all else have ended. `signal`: what asked for it; null: no signal. */
  readonly close: (signal: NodeJS.Signals | null) => Promise<void>;
}

/** Starts the passes of all clients and the HTTP server. Closes all of it, the context too, if that fails. */
export const openDaemon = async (context: DaemonContext, metrics: Metrics): Promise<RunningDaemon> => {
  const { log } = context;
  let current: Pick<DaemonContext, 'settings'> = context;
  const notifier = openNotifier(context, () => current.settings, metrics);
  const listeners = { metrics, notifier, day: new Day(), changeFeed: new ChangeFeed() };
  const manager = new ClientManager(context, listeners);
  current = manager;
  let server: RunningServer | null = null;
  const closeAll = async (): Promise<void> => {
    // Passes end first, so that probes are answered until then.
    await manager.close();
    await notifier.close(longestAttempt);
    await server?.close();
    await context.close();
  };
  try {
    checkTargets(context.settings.notify);
    server = await listen(manager, context, listeners);
    await manager.start();
  } catch (error) {
    await closeAll();
    throw error;
  }
  const url = server?.url ?? null;
  log.info(
    { event: 'daemon.started', clients: startedClients(manager, context), listen: url },
    'daemon started',
  );
  manager.trigger('startup');
  return {
    url,
    reload: () => manager.reload(),
    close: async (signal) => {
      log.info({ event: 'daemon.stopping', signal }, 'shutting down; waiting for running writes');
      await closeAll();
      log.info({ event: 'daemon.stopped', signal }, 'daemon stopped');
    },
  };
};

/** Milliseconds for a notification that is on its way. Whoever stops the program does not wait much longer. */
const longestAttempt = 1_500;

const listen = async (
  manager: ClientManager,
  context: DaemonContext,
  { metrics, day, changeFeed }: Listeners,
): Promise<RunningServer | null> => {
  const { settings, log, redact, secrets, fleet } = context;
  if (settings.listen === null) return null;
  const triggerToken = settings.triggerToken?.read() ?? null;
  const pageToken = settings.pageToken?.read() ?? null;
  let mayLogAt = -Infinity;
  const server = await startServer({
    listen: settings.listen,
    manager,
    fleet,
    log,
    redact,
    changeFeed,
    pages: statusPages({ manager, day, changeFeed, redact, secrets, fleet }),
    readiness: () => redact(readinessOf(manager.states, fleet.trouble)),
    metrics: { contentType: metrics.contentType, text: () => metrics.text(seenOf(manager)) },
    onRefused: (refusal) => {
      metrics.countRefusal(refusal);
      // Guessing tokens must not fill the log; the metric counts them all.
      if (performance.now() < mayLogAt) return;
      log.warn({ event: 'request.refused', ...refusal }, 'request refused: token missing or wrong');
      mayLogAt = performance.now() + 10_000;
    },
  });
  if (pageToken === null && !server.isLocal)
    log.warn({ event: 'listen.open', listen: server.url }, openToAll);
  if (triggerToken !== null && triggerToken === pageToken)
    log.warn({ event: 'notice', notice: sameTokens }, 'notice');
  return server;
};

const sameTokens =
  'triggerToken and pageToken are the same, so nobody may act on the page: whoever may see it could act';

const openToAll =
  'anybody who can reach this address can read the page and the API: set pageToken, or listen on 127.0.0.1';

const seenOf = ({ clients, states, problems }: ClientManager): Seen => ({
  clients: clients.map(({ client: { settings }, newest, times }) => ({
    client: settings.name,
    latest: newest,
    ...times,
  })),
  refused: problems.map(({ client }) => client),
  queueDepth: states.filter(({ waiting }) => waiting !== null).length,
});

const startedClients = ({ states }: ClientManager, { clients }: DaemonContext): readonly unknown[] =>
  clients.map(({ settings: { name, baseUrl, templates, schedule, timezone, dryRun } }) => {
    const next = states.find(({ client }) => client === name)?.nextScheduled ?? null;
    return { client: name, baseUrl, templates, schedule, timezone, next, dryRun };
  });

/** Opens the notifier for the receivers under `notify`. */
const openNotifier = (
  { redact, log, notified, fleet, settings: { notify } }: DaemonContext,
  settings: () => Settings,
  { countNotification }: Metrics,
): Notifier => {
  // Daemons of other clients may have the same state directory.
  const clients = (): readonly string[] => settings().clients.map(({ name }) => name);
  return new Notifier({
    receivers: notify,
    store: fleet.isShared ? notified : { ...notified, clients },
    redact,
    log,
    count: countNotification,
  });
};
