import type { Logger } from 'pino';
import type { SavedAt, Suspension, Suspensions } from '../model/suspension.ts';
import type { DesiredState } from '../model/template.ts';
import type { NotifyStore } from '../notify/outbox.ts';
import type { KnownAnswers } from '../report/answers.ts';
import type { Change, PassResult, Trigger } from '../result.ts';
import type { Settings } from '../settings.ts';
import type { ClientSettings } from '../settings/client.ts';
import type { WriteEntry } from '../status-page/facts.ts';
import type { FilesVersion, Fleet } from './fleet.ts';
import type { Look } from '../source/watch.ts';

/** The request for one pass. */
export interface DaemonPass {
  readonly run: string;
  readonly trigger: Trigger;
  readonly signal: AbortSignal;
  /** Called when the lock is held and the pass begins. */
  readonly onStart: () => void;
  /** Called with the loaded files before anything else. */
  readonly onDesired: (desired: DesiredState) => void;
  readonly onChange: (change: Change) => void;
}

/** One client, as the daemon uses it. */
export interface DaemonClient {
  readonly settings: ClientSettings;
  /** Throws a `LockedError` where another process writes for this client. */
  pass(request: DaemonPass): Promise<PassResult>;
  /** Asks the name servers of its subdomains, if the settings or files say so. */
  askNameServers(request: {
    readonly signal: AbortSignal;
    readonly previous: KnownAnswers;
  }): Promise<KnownAnswers>;
  /** What is suspended of it, without waiting for a pass that is running: `suspend` and `resume` change it. */
  suspending<T>(task: (suspensions: Suspensions) => Promise<T>): Promise<T>;
  /** Whether the template files are other ones than the last pass took. */
  readonly look: () => Promise<Look>;
  /** By what other processes can tell whether they have the same files; null if they are absent. */
  readonly files: () => Promise<FilesVersion | null>;
  /** A digest of its base URL and token. */
  readonly token: () => string;
  /** The ids of the templates that its token lists, asked now. */
  readonly listTemplateIds: () => Promise<readonly number[]>;
  /** Where its state is. */
  readonly savedAt: SavedAt;
  close(): Promise<void>;
}

/** What the daemon needs of the program. */
export interface DaemonContext {
  readonly settings: Settings;
  readonly clients: readonly DaemonClient[];
  readonly log: Logger;
  /** Those that share the clients, this process among them. */
  readonly fleet: Fleet;
  /** What receivers were told and are to be told. */
  readonly notified: NotifyStore;
  /** Where the embedded service listens, if there is one. */
  readonly sandboxUrl: string | null;
  /** Replaces every secret in a value. */
  readonly redact: <T>(value: T) => T;
  /** The secrets that `redact` replaces. */
  readonly secrets: () => readonly string[];
  /** Reads the settings again and opens new clients with them. Throws a UserError if they are invalid. */
  reopen(): Pick<DaemonContext, 'settings' | 'clients'>;
  /** Reads the files of clients again and opens those that have changed. */
  reopenChanged(): Pick<DaemonContext, 'settings' | 'clients'>;
  /** What is suspended at the moment of the clients whose state is there, one after the other. */
  readonly suspended: (places: readonly SavedAt[]) => Promise<readonly (readonly Suspension[])[]>;
  /** The newest writes of these clients, the oldest first. */
  readonly readHistory: (request: HistoryRequest) => Promise<readonly WriteEntry[]>;
  /** Closes the clients that were opened first, and the embedded service. */
  close(): Promise<void>;
}

export const outcomes = ['applied', 'failed', 'unknown', 'duplicate'] as const;

/** A query of the history of writes. */
export interface HistoryQuery {
  /** Empty: all. */
  readonly templates: readonly string[];
  /** Ms since the epoch. */
  readonly since: number;
  /** Null: any. */
  readonly outcome: (typeof outcomes)[number] | null;
  /** At most this many, the newest. */
  readonly limit: number;
}

export interface HistoryRequest {
  readonly clients: readonly ClientSettings[];
  readonly isSandbox: boolean;
  readonly query: HistoryQuery;
  /** Replaces every secret in the writes. */
  readonly redact: <T>(value: T) => T;
}
