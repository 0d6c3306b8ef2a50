import type { Options } from '../cli.ts';
import { readinessOf } from '../daemon/client-state.ts';
import { Journal } from '../daemon/journal.ts';
import { createMetrics } from '../daemon/metrics.ts';
import { startServer, type RunningServer } from '../daemon/server.ts';
import { sharedText } from '../daemon/shared-text.ts';
import { Updates } from '../daemon/updates.ts';
import { assembleReport } from '../report/assemble.ts';
import { renderJson } from '../report/json.ts';
import type { Notifier } from '../notify/notifier.ts';
import { readVersion } from '../version.ts';
import { Fleet, type Listeners } from './fleet.ts';
import { checkReceivers, openNotifier } from './news.ts';
import { openSession, type Session } from './session.ts';
import { onHangup, untilSignal } from './signals.ts';
import { statusPage } from './status-page.ts';

/** The daemon: a pass at start, on file change, on schedule and on request, until a signal ends it. */
export const run = async (options: Options): Promise<number> => {
  const stop = untilSignal();
  let reload = (): void => undefined;
  onHangup(() => reload());
  const metrics = createMetrics(readVersion());
  const session = await openSession(options, 1, metrics.countRequest);
  const { log } = session;
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
    log.info({ signal }, 'ending: no write starts any more, and the ones under way are waited for');
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
  if (settings.listen === null) return null;
  triggerToken();
  return startServer({
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
    log,
  });
};

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
