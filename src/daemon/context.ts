import type { Logger } from 'pino';
import type { DesiredState } from '../model/template.ts';
import type { KnownAnswers } from '../report/with-answers.ts';
import type { Change, PassResult, Trigger } from '../result.ts';
import type { Settings } from '../settings.ts';
import type { ClientSettings } from '../settings/client.ts';
import type { WriteEntry } from '../status-page/facts.ts';
import type { ScanFiles } from './fingerprint.ts';
import type { HistoryPage, HistoryQuery } from './history-query.ts';

/** What the daemon asks of a pass. */
export interface DaemonPass {
  readonly run: string;
  readonly trigger: Trigger;
  /** All of them where empty. */
  readonly templates: readonly string[];
  readonly signal: AbortSignal;
  readonly dryRun: boolean;
  /** Milliseconds to wait for another process that writes for this client. */
  readonly lockTimeout: number;
  /** Told when nothing is waited for any more, and the pass begins. */
  readonly onStart: () => void;
  /** Given what was read of the files, before anything else is done; gives the part that the pass is about. */
  readonly onDesired: (desired: DesiredState) => DesiredState;
  readonly onChange: (change: Change) => void;
}

/** What the daemon asks name servers with. */
export interface DaemonAnswers {
  readonly templates: readonly string[];
  readonly isCommand: boolean;
  readonly signal: AbortSignal;
  readonly previous: KnownAnswers;
}

/** A client as the daemon knows it. */
export interface DaemonClient {
  readonly settings: ClientSettings;
  /** Throws a `LockedError` where another process writes for this client. */
  pass(request: DaemonPass): Promise<PassResult>;
  /** What the name servers of its subdomains answer, where the settings or files ask for that. */
  askNameServers(request: DaemonAnswers): Promise<KnownAnswers>;
  /** Looks which template files there are. */
  readonly scan: ScanFiles;
  close(): Promise<void>;
}

/** What the daemon is given of the program. */
export interface DaemonContext {
  readonly settings: Settings;
  readonly clients: readonly DaemonClient[];
  readonly log: Logger;
  /** Where the embedded service listens, if there is one. */
  readonly sandboxUrl: string | null;
  /** What may be shown of a value of ours: all of it but the secrets that it repeats. */
  readonly redact: <T>(value: T) => T;
  /** What it keeps out. */
  readonly secrets: () => readonly string[];
  /** Reads the settings again and opens other clients with them. Throws a UserError where they cannot work. */
  reopen(): Pick<DaemonContext, 'settings' | 'clients'>;
  /** Reads one page of what was written for these clients. */
  readonly readHistory: (request: HistoryRequest) => Promise<HistoryPage<WriteEntry>>;
  /** Closes the clients that were opened first, and the embedded service. */
  close(): Promise<void>;
}

export interface HistoryRequest {
  readonly clients: readonly ClientSettings[];
  readonly isSandbox: boolean;
  readonly query: HistoryQuery;
  /** What may be shown of the writes. */
  readonly redact: <T>(value: T) => T;
  /** Aborted when nobody waits for it any more. */
  readonly signal?: AbortSignal | undefined;
}
