import { atMostEvery } from '../lib/at-most-every.ts';
import { Notifier } from '../notify/notifier.ts';
import { checkTargets } from '../settings/receivers.ts';
import type { ClientController } from './clients/client-controller.ts';
import { ClientManager } from './clients/client-manager.ts';
import type { DaemonContext, Listeners } from './context.ts';
import { Day } from './passes/day.ts';
import type { Metrics } from './metrics.ts';
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
  const notifier = openNotifier(context, () => manager.settings, metrics);
  const listeners = { metrics, notifier, day: new Day(), changeFeed: new ChangeFeed() };
  const manager = new ClientManager(context, listeners);
  let server: RunningServer | null = null;
  const closeAll = async (): Promise<void> => {
    // Passes end first, so that probes are answered until then.
    await manager.close();
    await notifier.close(longestAttempt);
    await server?.close();
    await context.close();
  };
  try {
    const { notify } = context.settings;
    checkTargets(notify);
    // Not before the manager is there, which says whose messages are sent.
    notifier.configure(notify);
    server = await listen(manager, context, listeners);
    await manager.start();
  } catch (error) {
    await closeAll();
    throw error;
  }
  const url = server?.url ?? null;
  log.info(
    { event: 'daemon.started', clients: manager.clients.map(startedClient), listen: url },
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
  const mayLog = atMostEvery(10_000);
  const server = await startServer({
    listen: settings.listen,
    manager,
    fleet,
    log,
    redact,
    changeFeed,
    pages: statusPages({ manager, day, changeFeed, redact, secrets, fleet }),
    unready: () => redact(unreadyOf(manager, fleet.trouble)),
    metrics: { contentType: metrics.contentType, text: () => metrics.text(manager) },
    onRefused: (refusal) => {
      metrics.countRefusal(refusal);
      // Somebody may guess tokens; the metric counts them all.
      if (mayLog())
        log.warn({ event: 'request.refused', ...refusal }, 'request refused: token missing or wrong');
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

/** Why not all clients are ready, and passes cannot be made; null if they can. */
const unreadyOf = ({ clients }: ClientManager, trouble: string | null): string | null => {
  const unready = clients.map(({ state }) => state).filter(({ isReady }) => !isReady);
  const whys = unready.map(({ client, why }) => `${client}: ${why ?? 'it was not read yet'}`);
  return [trouble ?? [], whys].flat().join('; ') || null;
};

const startedClient = ({ client, state: { nextScheduled: next } }: ClientController) => {
  const { name, baseUrl, templates, schedule, timezone, dryRun } = client.settings;
  return { client: name, baseUrl, templates, schedule, timezone, next, dryRun };
};

/** Opens the notifier, which has no receivers yet. */
const openNotifier = (
  { redact, log, notified, fleet }: DaemonContext,
  settings: () => Settings,
  { countNotification }: Metrics,
): Notifier => {
  // Daemons of other clients may have the same state directory.
  const clients = (): readonly string[] => settings().clients.map(({ name }) => name);
  return new Notifier({
    receivers: [],
    store: fleet.isShared ? notified : { ...notified, clients },
    redact,
    log,
    count: countNotification,
  });
};
