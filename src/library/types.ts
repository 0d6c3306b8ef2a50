import type { Problem } from '../model/template.ts';
import type { PassEvent, Report } from '../result.ts';

/** A secret: its text, or the environment variable or the file that has it, which is read again before each pass. */
export type Secret = string | { readonly env: string } | { readonly file: string };

type Given<Keys extends string, Form> = { readonly [Key in Keys]?: Form };

/** The settings of one client, by the keys of the settings file. Durations are texts such as `8s`; paths are relative to `cwd`. */
export interface ClientSettings
  extends
    Given<'userToken' | 'clientToken', Secret>,
    Given<'baseUrl' | 'stateDir' | 'proxy' | 'ca' | 'resolver' | 'commitUrl' | 'maxAnswerSize', string>,
    Given<'requestTimeout' | 'writeTimeout' | 'settle' | 'unknownPause' | 'subdomainGrace', string>,
    Given<'schedule' | 'timezone' | 'answersSchedule' | 'answersGrace', string>,
    Given<'templates' | 'nameservers', string | readonly string[]>,
    Given<'allowInsecure' | 'adopt' | 'dryRun', boolean> {
  readonly mode?: 'enforce' | 'edits' | 'report';
  readonly surplus?: 'report' | 'park';
  readonly answers?: 'off' | 'on';
  readonly concurrency?: number;
  readonly limits?: Given<'maxAdds' | 'maxAddsPerPass' | 'maxChangePercent' | 'minRecords', number>;
  readonly vars?: Readonly<Record<string, string | number | boolean>>;
}

/** The keys of the settings file. What is for the daemon alone is checked, and has no effect. */
export interface Settings
  extends
    ClientSettings,
    Given<'store' | 'triggerToken' | 'pageToken', Secret>,
    Given<'leaseDuration' | 'listen' | 'publicUrl', string> {
  /** Several clients by name, or the paths of their files. The settings beside it are their defaults. */
  readonly clients?: Readonly<Record<string, ClientSettings>> | string | readonly string[];
  readonly storeConnections?: number;
  readonly allowedHosts?: string | readonly string[];
  readonly notify?: Readonly<Record<string, unknown>>;
}

/** As the options of the commands. `sandbox`: the embedded service, which keeps its data in `stateDir`. */
export interface ConnectOptions extends Given<'sandbox' | 'strict' | 'allowEmpty', boolean> {
  /** What relative paths start from; default: the working directory. */
  readonly cwd?: string;
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

/** The first three need `templates`. */
export interface ApplyOptions
  extends Given<'force' | 'retry' | 'acceptLoss', boolean>, Omit<PlanOptions, 'answers'> {
  /** What `plan` gave: it is applied only if the plan is still exactly that. Without it, whatever differs is applied. */
  readonly plan?: Report;
  /** How long to wait for another pass of the same client; default: `60s`. */
  readonly lockTimeout?: string;
}

export interface Failed {
  readonly ok: false;
  readonly error: SyncError;
}

/** `.github/docs/library.md` says what each kind means. The message is for people, and without secrets. */
export interface SyncError {
  readonly kind: 'settings' | 'arguments' | 'plan-changed' | 'environment' | 'aborted' | 'closed';
  readonly message: string;
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
