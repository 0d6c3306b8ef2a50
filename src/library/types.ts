import type { Problem } from '../model/template.ts';
import type { PassEvent, Report } from '../result.ts';

/** A secret: its text, or the environment variable or the file that has it, which is read again before each pass. */
export type Secret = string | { readonly env: string } | { readonly file: string };

/** The settings of one client. Durations are texts such as `8s`; paths are relative to `cwd`. */
export interface ClientSettings {
  readonly baseUrl?: string;
  readonly userToken?: Secret;
  readonly clientToken?: Secret;
  readonly allowInsecure?: boolean;
  readonly templates?: string | readonly string[];
  /** The directory of the saved state. All that writes for a client has to use the same. */
  readonly stateDir?: string;
  readonly vars?: Readonly<Record<string, string | number | boolean>>;
  readonly mode?: 'enforce' | 'edits' | 'report';
  readonly surplus?: 'report' | 'park';
  readonly adopt?: boolean;
  readonly limits?: Readonly<
    Partial<Record<'maxAdds' | 'maxAddsPerPass' | 'maxChangePercent' | 'minRecords', number>>
  >;
  readonly dryRun?: boolean;
  readonly requestTimeout?: string;
  readonly writeTimeout?: string;
  readonly settle?: string;
  readonly unknownPause?: string;
  readonly subdomainGrace?: string;
  readonly concurrency?: number;
  readonly maxAnswerSize?: string;
  readonly proxy?: string;
  readonly ca?: string;
  readonly answers?: 'off' | 'on';
  readonly answersGrace?: string;
  readonly resolver?: string;
  readonly nameservers?: string | readonly string[];
  readonly commitUrl?: string;
  /** For the daemon, as is `answersSchedule`; checked, and ignored here. */
  readonly schedule?: string;
  readonly timezone?: string;
  readonly answersSchedule?: string;
}

/** The keys of the config file, so that a program may read one and give it here. */
export interface Settings extends ClientSettings {
  /** Several clients by name, or the paths of their files. The settings beside it are their defaults. */
  readonly clients?: Readonly<Record<string, ClientSettings>> | string | readonly string[];
  /** `postgres://…`, in place of the state directory. */
  readonly store?: Secret;
  readonly leaseDuration?: string;
  readonly storeConnections?: number;
  /** For the daemon, as are the others below; checked, and ignored here. */
  readonly listen?: string;
  readonly allowedHosts?: string | readonly string[];
  readonly publicUrl?: string;
  readonly triggerToken?: Secret;
  readonly pageToken?: Secret;
  readonly notify?: Readonly<Record<string, unknown>>;
}

export interface ConnectOptions {
  /** What relative paths start from; default: the working directory. */
  readonly cwd?: string;
  /** Use an embedded service, which keeps its data in `stateDir`, in place of `baseUrl` and tokens. */
  readonly sandbox?: boolean;
  /** Warnings about template files are errors, and so are templates at the service that no file describes. */
  readonly strict?: boolean;
  /** No template files at all is no error. */
  readonly allowEmpty?: boolean;
  /** Told of what happens in a pass. It must not throw. */
  readonly onEvent?: (event: SyncEvent) => void;
}

export interface ValidateOptions {
  /** Only these files; default: all. */
  readonly files?: readonly string[];
  readonly signal?: AbortSignal;
}

export interface PlanOptions {
  /** Names, ids or patterns; default: all. */
  readonly templates?: readonly string[];
  readonly ignoreSubdomains?: boolean;
  /** Ask the name servers of the subdomains, too. */
  readonly answers?: boolean;
  readonly signal?: AbortSignal;
}

export interface ApplyOptions extends Omit<PlanOptions, 'answers'> {
  /** What `plan` gave: it is applied only if the plan is still exactly that. Without it, whatever differs is applied. */
  readonly plan?: Report;
  /** Each of these three needs `templates`. */
  readonly force?: boolean;
  readonly retry?: boolean;
  readonly acceptLoss?: boolean;
  /** How long to wait for another pass of the same client; default: `60s`. */
  readonly lockTimeout?: string;
}

/** What each of them means, `.github/docs/library.md` says. */
export interface SyncError {
  readonly kind: 'settings' | 'arguments' | 'plan-changed' | 'environment' | 'aborted' | 'closed';
  /** For people; without secrets. */
  readonly message: string;
}

export interface Failed {
  readonly ok: false;
  readonly error: SyncError;
}

export interface Validated {
  readonly ok: true;
  /** Valid if none of them is an error. */
  readonly problems: readonly (Problem & { readonly client: string })[];
  /** How many template files there are, without fragments. */
  readonly files: number;
}

export interface Planned {
  readonly ok: true;
  readonly report: Report;
}

export interface Applied extends Planned {
  /** Whether every planned write is known to have been made, and nothing was held: when `apply` exits with 0. */
  readonly isComplete: boolean;
}

export type SyncEvent =
  | PassEvent
  | { readonly event: 'notice'; readonly client: string | null; readonly message: string };

/** Calls run one after the other. A rejected promise is a bug. */
export interface Connection extends AsyncDisposable {
  /** Checks the template files; needs no service, no tokens and no state. */
  validate(options?: ValidateOptions): Promise<Validated | Failed>;
  /** What differs, and what `apply` would do about it. Writes nothing. */
  plan(options?: PlanOptions): Promise<Planned | Failed>;
  /** One pass that writes. After its signal is aborted, the write in flight is the last one. */
  apply(options?: ApplyOptions): Promise<Applied | Failed>;
  /** Waits for the call that runs. */
  close(): Promise<void>;
}
