import type { DaemonContext } from '../daemon/context.ts';
import { runDaemon } from '../daemon/daemon.ts';
import { alone, type Fleet } from '../daemon/fleet.ts';
import { createMetrics, type Metrics } from '../daemon/metrics.ts';
import { openFleet } from '../fleet/shared-fleet.ts';
import { sharedOutboxes } from '../fleet/shared-outboxes.ts';
import type { Outboxes } from '../notify/outbox.ts';
import { readVersion } from '../version.ts';
import { readHistoryPage } from './history-pages.ts';
import type { Options } from './options.ts';
import { openAppContext, type AppContext } from './app-context.ts';
import { onDebuggerSignal, onHangup, untilSignal } from './signals.ts';

/** The daemon: a pass at start, on file change, on schedule and on request, until a signal ends it. */
export const run = async (options: Options): Promise<number> => {
  const stop = untilSignal();
  let reload = (): void => undefined;
  let ignore = (): void => undefined;
  onHangup(() => reload());
  onDebuggerSignal(() => ignore());
  const metrics = createMetrics(readVersion());
  const opened = await openAppContext(options, 1, {
    onRequest: metrics.countRequest,
    onLeaseChange: metrics.countLease,
    asksNameServers: true,
  });
  ignore = () => opened.log.info({ event: 'signal.ignored', signal: 'SIGUSR1' }, 'signal ignored');
  const context: DaemonContext = {
    ...opened,
    fleet: fleetOf(opened, metrics),
    outboxes: outboxesOf(opened, metrics),
    readHistory: (request) => readHistoryPage(request, opened.store()),
  };
  await runDaemon({ context, metrics, stop, onReload: (call) => void (reload = call) });
  return 0;
};

/** Null where this process shares nothing: each embedded service is that of one process. */
const sharedStoreOf = ({ settings, sandboxUrl }: AppContext): string | null =>
  settings.store === null || sandboxUrl !== null ? null : settings.store.read();

const fleetOf = (opened: AppContext, { countLateness }: Metrics): Fleet => {
  const { settings, log, redact } = opened;
  const url = sharedStoreOf(opened);
  return url === null
    ? alone
    : openFleet({ ...settings, url, version: readVersion(), onTaken: countLateness, log, redact });
};

const outboxesOf = (opened: AppContext, { countLease }: Metrics): Outboxes | null => {
  const { settings, log } = opened;
  const url = sharedStoreOf(opened);
  return url === null ? null : sharedOutboxes({ ...settings, url, onLeaseChange: countLease, log });
};
