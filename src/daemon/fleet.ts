import type { PassEvent } from '../notify/health.ts';
import type { PassResult } from '../result.ts';
import type { ClientSettings } from '../settings/client.ts';
import type { FleetSummary, PassEntry } from '../status-page/facts.ts';
import { PassLoop, type PassLoopOptions, type PassStarter } from './passes/loop.ts';

/** The processes that share the passes of all clients, as one of them sees it. */
export interface Fleet {
  readonly duties: Duties;
  /** Why no passes can be made at all; null if they can. */
  readonly trouble: string | null;
  /** What a page shows of the processes; null if there is one, or nothing is known yet. */
  readonly summary: FleetSummary | null;
  /** What starts the passes of this client in this process. */
  passesOf(client: FleetClient): PassStarter;
  /** Takes part from now on. `onReport` is called for each pass that another process made. */
  start(onReport: (report: PassReport) => void, used: () => UsedNames): Promise<void>;
  /** Lets the others know of a pass that this process made, soon. Does not throw. */
  share(report: PassReport): void;
  /** Hands over what it was about to do, and what is asked for until `others` have ended. */
  close(others: Promise<unknown>): Promise<void>;
}

/** What the settings of a process name. */
export interface UsedNames {
  readonly clients: readonly string[];
  /** Keys of published files. */
  readonly files: readonly string[];
  readonly receivers: readonly string[];
}

/** What else this process does for each client. */
export interface Duties {
  /** Watches template files, and asks for a pass when they change. */
  readonly files: boolean;
  /** Asks for passes by schedule. */
  readonly schedule: boolean;
  /** Asks name servers, by a schedule of their own. */
  readonly answers: boolean;
}

export interface FleetClient extends PassLoopOptions {
  /** The newest ones. */
  readonly settings: () => ClientSettings;
}

/** What is known of a client after a pass. */
export interface PassReport {
  /** Its result is `latest`, unless there was none. */
  readonly event: Omit<PassEvent, 'result'>;
  readonly entry: PassEntry;
  readonly latest: PassResult | null;
  readonly lastError: string | null;
  /** Whether its templates and the service were ever read, and passes can be made. */
  readonly isReady: boolean;
}

/** One process that does everything. */
export const alone: Fleet = {
  duties: { files: true, schedule: true, answers: true },
  trouble: null,
  summary: null,
  passesOf: (client) => new PassLoop(client),
  start: () => Promise.resolve(),
  share: () => undefined,
  close: () => Promise.resolve(),
};
