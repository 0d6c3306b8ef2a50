import type { DaemonContext } from '../daemon/context.ts';
import { runDaemon } from '../daemon/daemon.ts';
import { alone, type Fleet } from '../daemon/fleet.ts';
import { createMetrics, type Metrics } from '../daemon/metrics.ts';
import { openFleet } from '../fleet/shared-fleet.ts';
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
    asksNameServers: true,
  });
  ignore = () => opened.log.info({ event: 'signal.ignored', signal: 'SIGUSR1' }, 'signal ignored');
  const context: DaemonContext = {
    ...opened,
    fleet: fleetOf(opened, metrics),
    readHistory: (request) => readHistoryPage(request, opened.store()),
  };
  await runDaemon({ context, metrics, stop, onReload: (call) => void (reload = call) });
  return 0;
};

/** Each embedded service is that of one process. */
const fleetOf = ({ settings, sandboxUrl, log, redact }: AppContext, { countLateness }: Metrics): Fleet =>
  settings.store === null || sandboxUrl !== null
    ? alone
    : openFleet({
        ...settings,
        url: settings.store.read(),
        version: readVersion(),
        onTaken: countLateness,
        log,
        redact,
      });
