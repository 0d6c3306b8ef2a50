import type { PassResult, Trigger } from '../result.ts';
import type { FleetProcess, FleetSummary, PassEntry } from '../status-page/facts.ts';

/** The processes that share the clients, as one of them sees it. */
export interface Fleet {
  /** Whether there may be other processes. */
  readonly isShared: boolean;
  /** Why this process does not take part at the moment; null if it does. */
  readonly trouble: string | null;
  /** What is known of the processes; null if there is one, or nothing is known yet. */
  readonly summary: FleetSummary | null;
  /** Whose each client is, asked now; null if there is one process. */
  owners(): Promise<FleetOwners | null>;
  /** Takes part for this client from now on; whether it is this process's is said by calls. */
  join(client: FleetClient): Membership;
  /** Takes part from now on. */
  start(listener: FleetListener): Promise<void>;
  /** Gives up all clients at once, those with a write in flight when its answer is saved. */
  close(): Promise<void>;
}

export interface FleetOwners {
  readonly processes: readonly FleetProcess[];
  readonly clients: readonly {
    readonly client: string;
    readonly baseUrl: string;
    /** The process; null if no living one owns it. */
    readonly owner: string | null;
    /** How often it was claimed. */
    readonly epoch: number;
    /** Whether a living process has its files. */
    readonly hasFiles: boolean;
  }[];
}

export interface FleetListener {
  /** Called for each pass that another process made. */
  readonly onReport: (client: string, report: PassReport) => void;
  /** Something is new in what is known of the processes. */
  readonly onChange: () => void;
}

/** A client, as those see it that say whose it is. */
export interface FleetClient {
  /** By its base URL and name. */
  readonly scope: () => string;
  readonly baseUrl: () => string;
  readonly name: string;
  /** By what others can tell whether they have the same files; null if they are absent. */
  readonly files: () => Promise<FilesVersion | null>;
  /** A digest of its base URL and token. */
  readonly token: () => string;
  /** The ids of the templates that its token lists, asked now. */
  readonly listTemplateIds: () => Promise<readonly number[]>;
  /** Its passes are made here from now on, one of them at once for this reason. */
  readonly own: (first: Trigger | null) => void;
  /** They are not any more. Resolves when the running one has ended; its write in flight is given its time. */
  readonly disown: () => Promise<void>;
  /** Whether a pass has begun. */
  readonly isBusy: () => boolean;
  /** Somebody asked another process for a pass of this id. Returns whether it comes. */
  readonly request: (run: string) => boolean;
}

/** The template files of a client, with the settings that decide what they mean. */
export interface FilesVersion {
  readonly version: string;
  /** Of the checkout that they are in. */
  readonly commit: string | null;
}

/** The part of one client. */
export interface Membership {
  /** Why it cannot be this client; null if it can. */
  readonly trouble: string | null;
  /** Of a client that was added to a fleet that takes part. */
  start(): Promise<void>;
  /** Before a pass, and when files have changed: whether it may be made here with the files that there are now. */
  mayPass(): Promise<boolean>;
  /** Its pass has ended. */
  passed(report: PassReport): void;
  /** Asks the process that makes its passes for one. Returns its id; null unless it comes even if this process dies. */
  request(): Promise<string | null>;
  /** This process does not know the client any more. */
  leave(): Promise<void>;
}

/** What is known of a client after a pass, here or in another process. */
export interface PassReport {
  readonly entry: PassEntry;
  /** The known state of its templates; null if there was no pass. */
  readonly latest: PassResult | null;
  /** Why the pass could not be made, or ended early. */
  readonly lastError: string | null;
  /** Whether its templates and the service were ever read, and passes can be made. */
  readonly isReady: boolean;
}

/** One process that has all clients. */
export const alone = (): Fleet => {
  const clients = new Set<FleetClient>();
  let isStarted = false;
  return {
    isShared: false,
    trouble: null,
    summary: null,
    owners: () => Promise.resolve(null),
    join: (client) => {
      clients.add(client);
      return {
        trouble: null,
        start: () => {
          if (isStarted) client.own(null);
          return Promise.resolve();
        },
        mayPass: () => Promise.resolve(true),
        passed: () => undefined,
        request: () => Promise.resolve(null),
        leave: () => {
          clients.delete(client);
          return client.disown();
        },
      };
    },
    start: () => {
      isStarted = true;
      for (const client of clients) client.own(null);
      return Promise.resolve();
    },
    close: async () => void (await Promise.all([...clients].map((client) => client.disown()))),
  };
};
