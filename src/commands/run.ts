import type { DaemonContext } from '../daemon/context.ts';
import { openDaemon } from '../daemon/daemon.ts';
import { createMetrics, type Metrics } from '../daemon/metrics.ts';
import { openFleet } from '../cluster/fleet.ts';
import { alone } from '../cluster/membership.ts';
import type { Io } from '../io.ts';
import { readVersion } from '../version.ts';
import type { Options } from '../app/options.ts';
import { openAppContext, type AppContext } from '../app/app-context.ts';
import type { Run } from './table.ts';

/** The daemon: a pass at start, on file change, on schedule and on request, until a signal ends it. */
export const run: Run = async (_, options, io) => {
  const { ended } = await startDaemon(options, io);
  await ended;
  return 0;
};

export type Daemon = Awaited<ReturnType<typeof startDaemon>>;

/** Resolves when it has started. */
export const startDaemon = async (options: Options, io: Io) => {
  let stop: (signal: NodeJS.Signals | null) => void = () => undefined;
  const stopped = new Promise<NodeJS.Signals | null>((resolve) => (stop = resolve));
  void io.signals.untilStop().then((signal) => stop(signal));
  let reload = (): void => undefined;
  let ignore = (): void => undefined;
  io.signals.onHangup(() => reload());
  io.signals.onDebugger(() => ignore());
  let outdated: Error | null = null;
  const metrics = createMetrics(readVersion());
  const opened = await openAppContext(options, io, {
    isDaemon: true,
    onRequest: metrics.countRequest,
    mayLeaveOut: true,
  });
  ignore = () => opened.log.info({ event: 'signal.ignored', signal: 'SIGUSR1' }, 'signal ignored');
  const shared = sharedParts(opened, metrics, (error) => {
    outdated ??= error;
    stop(null);
  });
  const daemon = await openDaemon({ ...opened, ...shared }, metrics);
  reload = daemon.reload;
  const untilEnd = async (): Promise<void> => {
    await daemon.close(await stopped);
    if (outdated !== null) throw outdated;
  };
  const ended = untilEnd();
  return {
    /** Of its HTTP server; null if it has none. */
    url: daemon.url,
    /** Resolves when it has ended: after SIGTERM, SIGINT or `close`. */
    ended,
    /** Lets the writes in flight end, and starts no other. Resolves when it has ended. */
    close: (): Promise<void> => {
      stop(null);
      return ended;
    },
  };
};

/** What processes share that have one store. Each embedded service is that of one process. */
const sharedParts = (
  { settings, clients, store: local, shared: store, sandboxUrl, log, redact }: AppContext,
  { countOwned: onOwned, showDatabase: onDatabase }: Metrics,
  onOutdated: (error: Error) => void,
): Pick<DaemonContext, 'fleet' | 'notified'> => {
  const tables = local.tables(clients[0]?.savedAt ?? { file: 'memory.db' });
  const notified = { ...tables, lookInterval: Infinity, isSender: () => true, clients: () => null };
  if (store === null || sandboxUrl !== null) return { fleet: alone(), notified };
  const { leaseDuration, storeConnections: most } = settings;
  const slow = settings.clients.find(({ requestTimeout }) => requestTimeout > leaseDuration);
  if (slow !== undefined)
    log.warn(
      { event: 'settings.lease', client: slow.name },
      'leaseDuration is shorter than requestTimeout: while one request is answered, another process may take a client over',
    );
  log.info({ event: 'store.connections', most }, 'most connections of this process to PostgreSQL');
  return {
    fleet: openFleet({ store, leaseDuration, redact, log, onOwned, onDatabase, onOutdated }),
    // The daemon that has run for longest sends, and another one goes on where that one has stopped.
    notified: { ...notified, lookInterval: 5_000, isSender: () => store.lease.isFirst },
  };
};
