import type { Notifier } from '../notify/notifier.ts';
import { assembleReport } from '../report/assemble.ts';
import { renderJson } from '../report/json.ts';
import { checkTargets } from '../settings/notify.ts';
import { readinessOf } from './client-state.ts';
import type { DaemonContext } from './context.ts';
import { Fleet, type Listeners } from './fleet.ts';
import { Journal } from './journal.ts';
import type { Metrics } from './metrics.ts';
import { openNotifier } from './open-notifier.ts';
import { refusalLog } from './refusals.ts';
import { startServer, type RunningServer } from './server.ts';
import { sharedText } from './shared-text.ts';
import { statusPages } from './status-page.ts';
import { Updates } from './updates.ts';

export interface DaemonOptions {
  readonly context: DaemonContext;
  readonly metrics: Metrics;
  /** Resolves when the daemon is to end. */
  readonly stop: Promise<NodeJS.Signals>;
  /** Given, once passes are made, what reads the settings again. */
  readonly onReload: (reload: () => void) => void;
}

/** Passes of all clients, and what answers those who ask about them, until it is to stop. */
export const runDaemon = async ({ context, metrics, stop, onReload }: DaemonOptions): Promise<void> => {
  const { log } = context;
  const notifier: Notifier = openNotifier(context, () => fleet.settings, metrics);
  const listeners = { metrics, notifier, journal: new Journal(), updates: new Updates() };
  const fleet = new Fleet(context, listeners);
  let server: RunningServer | null = null;
  let signal: NodeJS.Signals;
  try {
    checkTargets(context.settings.notify);
    server = await listen(fleet, context, listeners);
    await fleet.start();
    const clients = startedClients(fleet, context);
    log.info({ event: 'daemon.started', clients, listen: server?.url ?? null }, 'daemon started');
    fleet.trigger('startup');
    onReload(() => fleet.reload());
    signal = await stop;
    log.info(
      { event: 'daemon.stopping', signal },
      'ending: no write starts any more, and the ones under way are waited for',
    );
  } finally {
    // Passes end first: until they have, probes are answered.
    await fleet.close();
    await notifier.close(lastTry);
    await server?.close();
    await context.close();
  }
  log.info({ event: 'daemon.stopped', signal }, 'daemon stopped');
};

/** Milliseconds for news that are not told when all else has ended: what waits for the program has little patience. */
const lastTry = 1_500;

const listen = async (
  fleet: Fleet,
  context: DaemonContext,
  { metrics, journal, updates }: Listeners,
): Promise<RunningServer | null> => {
  const { settings, log, clean, secrets } = context;
  const triggerToken = (): string | null => fleet.settings.triggerToken?.read() ?? null;
  const pageToken = (): string | null => fleet.settings.pageToken?.read() ?? null;
  if (settings.listen === null) return null;
  triggerToken();
  const isOpen = pageToken() === null;
  const logRefusal = refusalLog(log);
  const server = await startServer({
    listen: settings.listen,
    allowedHosts: () => fleet.settings.allowedHosts,
    pages: statusPages({ fleet, journal, updates, clean, secrets }),
    updates,
    readiness: () => clean(readinessOf(fleet.states)),
    metrics: {
      contentType: metrics.contentType,
      text: sharedText({
        key: () => [metrics.revision(), waitingIn(fleet)],
        make: () => metrics.text(waitingIn(fleet)),
        maxAge: 1_000,
      }),
    },
    report: sharedText({
      key: () => [...fleet.newest, ...secrets()],
      make: () => renderJson(clean(assembleReport(fleet.newest))),
    }),
    history: (query, signal) => fleet.history(query, signal),
    triggerToken,
    requestPass: () => fleet.trigger('request'),
    pageToken,
    onRefused: (refusal) => {
      metrics.countRefusal(refusal);
      logRefusal(refusal);
    },
    log,
  });
  if (isOpen && !server.isLocal) log.warn({ event: 'listen.open', listen: server.url }, openToAll);
  return server;
};

const openToAll =
  'whoever reaches this address sees the page and the API: set pageToken, or listen on 127.0.0.1';

const waitingIn = ({ states }: Fleet): number => states.filter(({ waiting }) => waiting !== null).length;

const startedClients = ({ states }: Fleet, { clients, sandboxUrl }: DaemonContext): readonly unknown[] =>
  clients.map(({ settings: { name, baseUrl, templates, schedule, timezone, dryRun } }) => ({
    client: name,
    baseUrl,
    sandbox: sandboxUrl !== null,
    templates,
    schedule,
    timezone,
    next: states.find(({ client }) => client === name)?.nextScheduled ?? null,
    dryRun,
  }));
