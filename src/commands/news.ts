import path from 'node:path';
import type { Metrics } from '../daemon/metrics.ts';
import { Notifier } from '../notify/notifier.ts';
import type { Settings } from '../settings.ts';
import type { Session } from './session.ts';

/** Throws a UserError where an address or a secret cannot be used. */
export const checkReceivers = ({ notify }: Settings): void => {
  for (const { url, secret } of notify) {
    url.read();
    secret?.read();
  }
};

/**
 * Tells those whom the settings name under `notify`. What was told of a client is remembered beside its memory;
 * `settings` are those that hold when somebody asks.
 */
export const openNotifier = (
  { sandboxUrl, clean, log, settings: { notify } }: Session,
  settings: () => Settings,
  { countNotification }: Metrics,
): Notifier => {
  const fileFor = (client: string): string => {
    const { stateDir = '.' } = settings().clients.find(({ name }) => name === client) ?? {};
    return path.join(stateDir, `${sandboxUrl === null ? '' : 'sandbox-'}told-${client}.json`);
  };
  return new Notifier({ receivers: notify, fileFor, clean, log, count: countNotification });
};
