import path from 'node:path';
import { Notifier } from '../notify/notifier.ts';
import type { Settings } from '../settings.ts';
import type { DaemonContext } from './context.ts';
import type { Metrics } from './metrics.ts';

/**
 * Tells those whom the settings name under `notify`. What was told of a client is remembered beside its memory;
 * `settings` are those that hold when somebody asks.
 */
export const openNotifier = (
  { sandboxUrl, redact, log, settings: { notify } }: DaemonContext,
  settings: () => Settings,
  { countNotification }: Metrics,
): Notifier => {
  const fileFor = (client: string): string => {
    const { stateDir = '.' } = settings().clients.find(({ name }) => name === client) ?? {};
    return path.join(stateDir, `${sandboxUrl === null ? '' : 'sandbox-'}told-${client}.json`);
  };
  return new Notifier({ receivers: notify, fileFor, redact, log, count: countNotification });
};
