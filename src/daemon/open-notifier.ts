import path from 'node:path';
import { localOutboxes } from '../notify/local-outboxes.ts';
import { Notifier } from '../notify/notifier.ts';
import type { Settings } from '../settings.ts';
import type { DaemonContext } from './context.ts';
import type { Metrics } from './metrics/metrics.ts';

/**
 * Opens the notifier for the receivers under `notify`. What they were last told of a client is stored in its
 * state directory, unless processes share it; `settings` returns the current settings.
 */
export const openNotifier = (
  { sandboxUrl, redact, log, outboxes, settings: { notify } }: DaemonContext,
  settings: () => Settings,
  { countNotification }: Metrics,
): Notifier => {
  const fileFor = (client: string): string => {
    const { stateDir = '.' } = settings().clients.find(({ name }) => name === client) ?? {};
    return path.join(stateDir, `${sandboxUrl === null ? '' : 'sandbox-'}told-${client}.json`);
  };
  return new Notifier({
    receivers: notify,
    outboxes: outboxes ?? localOutboxes({ fileFor, log }),
    redact,
    log,
    count: countNotification,
  });
};
