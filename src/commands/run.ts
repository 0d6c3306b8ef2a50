import type { Options } from '../cli.ts';
import { readinessOf } from '../daemon/client-state.ts';
import { Journal } from '../daemon/journal.ts';
import { createMetrics } from '../daemon/metrics.ts';
import { startServer, type RunningServer } from '../daemon/server.ts';
import { refusalLog } from '../daemon/refusals.ts';
import { sharedText } from '../daemon/shared-text.ts';
import { Updates } from '../daemon/updates.ts';
import { assembleReport } from '../report/assemble.ts';
import { renderJson } from '../report/json.ts';
import type { Notifier } from '../notify/notifier.ts';
import { readVersion } from '../version.ts';
import { Fleet, type Listeners } from './fleet.ts';
import { checkReceivers, openNotifier } from './news.ts';
import { openSession, type Session } from './session.ts';
import { onDebuggerSignal, onHangup, untilSignal } from './signals.ts';
import { statusPage } from './status-page.ts';

/** The daemon: a pass at start, on file change, on schedule and on request, until a signal ends it. */
export const run = async (options: Options): Promise<number> => {
  const stop = untilSignal();
  let reload = (): void => undefined;
  let ignore = (): void => undefined;
  onHangup(() => reload());
  onDebuggerSignal(() => ignore());
  const metrics = createMetrics(readVersion());
  const session = await openSession(options, 1, metrics.countRequest);
  const { log } = session;
  ignore = () => log.info({ event: 'signal.ignored', signal: 'SIGUSR1' }, 'signal ignored');
  const notifier: Notifier = openNotifier(session, () => fleet.settings, metrics);
  const listeners = { metrics, notifier, journal: new Journal(), updates: new Updates() };
  const fleet = new Fleet(session, listeners);
  let server: RunningServer | null = null;
  let signal: NodeJS.Signals;
  try {
    checkReceivers(session.settings);
    server = await listen(fleet, session, listeners);
    await fleet.start();
    const clients = startedClients(fleet, session);
    log.info({ event: 'daemon.started', clients, listen: server?.url ?? null }, 'daemon started');
    fleet.trigger('startup');
    reload = () => fleet.reload();
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
    await session.close();
  }
  log.info({ event: 'daemon.stopped', signal }, 'daemon stopped');
  return 0;
};

/** Milliseconds for news that are not told when all else has ended: what waits for the program has little patience. */
const lastTry = 1_500;

const listen = async (
  fleet: Fleet,
  session: Session,
  { metrics, journal, updates }: Listeners,
): Promise<RunningServer | null> => {
  const { settings, log, clean, secrets } = session;
  const triggerToken = (): string | null => fleet.settings.triggerToken?.read() ?? null;
  const pageToken = (): string | null => fleet.settings.pageToken?.read() ?? null;
  if (settings.listen === null) return null;
  triggerToken();
  const isOpen = pageToken() === null;
  const logRefusal = refusalLog(log);
  const server = await startServer({
    listen: settings.listen,
    allowedHosts: () => fleet.settings.allowedHosts,
    page: statusPage({ fleet, journal, updates, clean }),
    updates,
    readiness: () => clean(readinessOf(fleet.states)),
    metrics: {
      contentType: metrics.contentType,
      text: sharedText({
        key: () => [metrics.revision(), waitingIn(fleet)],
        make: () => metrics.text(waitingIn(fleet)),
        longest: 1_000,
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

const startedClients = ({ states }: Fleet, { clients, sandboxUrl }: Session): readonly unknown[] =>
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
