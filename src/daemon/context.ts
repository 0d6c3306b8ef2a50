import type { AppContext } from '../app/app-context.ts';
import type { Client } from '../app/client.ts';
import type { Fleet } from '../cluster/membership.ts';
import type { Notifier } from '../notify/notifier.ts';
import type { NotifyStore } from '../notify/outbox.ts';
import type { ChangeFeed } from './http/events.ts';
import type { Metrics } from './metrics.ts';
import type { Day } from './passes/day.ts';

/** What the daemon needs of the program. */
export interface DaemonContext extends AppContext {
  /** Those that share the clients, this process among them. */
  readonly fleet: Fleet;
  /** What receivers were told and are to be told. */
  readonly notified: NotifyStore;
}

/** One client, as the daemon uses it. */
export type DaemonClient = Omit<Client, 'service' | 'load'>;

/** What clients report to while they run. */
export interface Listeners {
  readonly metrics: Metrics;
  readonly notifier: Pick<Notifier, 'publish' | 'configure'>;
  readonly day: Day;
  readonly changeFeed: ChangeFeed;
}
