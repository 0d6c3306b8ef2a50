import type { Place, RecordData } from './model/record.ts';
import type { Cause, Difference, Outcome } from './plan/difference.ts';
import type { SubdomainDifference } from './plan/subdomains.ts';
import type { ActualTemplate, Problem } from './model/template.ts';

export type { SubdomainDifference } from './plan/subdomains.ts';

export type Trigger = 'command' | 'startup' | 'file-change' | 'schedule' | 'request';

/** From best to worst. */
export const statuses = ['in-sync', 'drifted', 'suspended', 'held', 'failed'] as const;
export type Status = (typeof statuses)[number];

/** In sync if there are none. */
export const worstOf = (found: readonly Status[]): Status =>
  statuses.findLast((status) => found.includes(status)) ?? 'in-sync';

/** A difference between a name server's answer and what the service shows. */
export interface AnswerDifference {
  /**
   * `missing`: it has none of these records; `stale`: it has others; `dangling`: what the records point at does not
   * exist.
   */
  readonly kind: 'missing' | 'stale' | 'dangling';
  /** The name and address of the server with this answer, as in its result. */
  readonly server: string;
  readonly address: string;
  /** The full name that was asked for, in lower case and A-labels. */
  readonly name: string;
  readonly type: string;
  readonly desired: readonly RecordData[];
  readonly current: readonly RecordData[];
  /** Of `dangling`: what does not exist. */
  readonly message?: string;
}

/** The status of one name server at one of its addresses. */
export interface ServerResult {
  readonly name: string;
  /** With its port unless that is 53; empty if the server has no address. */
  readonly address: string;
  /** The serial of its zone; null if unknown. */
  readonly serial: number | null;
  /** `silent`: it does not answer, or not all questions; `failed`: it could not be asked. */
  readonly status: 'in-sync' | 'pending' | 'drifted' | 'silent' | 'failed';
  readonly message: string | null;
}

/** The answers of a subdomain's name servers, compared with what the service shows. */
export interface SubdomainAnswers {
  /**
   * `pending`: the last write is recent; `failed`: none could be asked, which
   * says nothing about the template; `off`: they were not asked.
   */
  readonly status: 'in-sync' | 'pending' | 'drifted' | 'failed' | 'off';
  /** When the servers gave these answers, in ISO 8601; absent if they never did. */
  readonly askedAt?: string;
  /** Present if these answers are old: why the servers could not be asked since. */
  readonly message?: string;
  readonly servers: readonly ServerResult[];
  readonly differences: readonly AnswerDifference[];
}

export const notAsked: SubdomainAnswers = { status: 'off', servers: [], differences: [] };

export interface SubdomainResult {
  readonly subdomain: string;
  readonly status: 'in-sync' | 'pending' | 'drifted' | 'failed';
  readonly message: string | null;
  readonly differences: readonly SubdomainDifference[];
  readonly answers: SubdomainAnswers;
}

export interface ShownSuspension {
  readonly by: string;
  readonly reason: string;
  readonly since: string;
  /** Null: until somebody resumes it. */
  readonly until: string | null;
}

/** The result of a pass for one template: the object under `templates` in the report. */
export interface TemplateResult {
  readonly client: string;
  readonly template: string;
  readonly id: number | null;
  readonly file: string;
  /** The git commit of the file's checkout. */
  readonly revision: string | null;
  readonly status: Status;
  readonly message: string | null;
  /** Present if somebody has suspended it: nothing is written until then. Times are ISO 8601. */
  readonly suspension?: ShownSuspension;
  /** Present if something waits until earlier writes have settled: when they have at the latest, in ISO 8601. */
  readonly retryAt?: string;
  /** Present then: when another pass may find that they have. No report has it. */
  readonly settlesAt?: string;
  /**
   * Present if the pass could not read the service: when this result was read, in ISO 8601; null if nothing
   * is known.
   */
  readonly asOf?: string | null;
  readonly inSync: number;
  readonly parked: number;
  readonly ignored: number;
  readonly differences: readonly Difference[];
  readonly subdomains: readonly SubdomainResult[];
}

/** One write and its outcome, as in the log. */
export interface Change {
  /** The id of the write, which stays the same until its outcome is known. */
  readonly write: string;
  readonly template: string;
  readonly templateId: number;
  readonly recordId: number | null;
  readonly action: 'add' | 'update' | 'park';
  readonly before: RecordData | null;
  readonly after: RecordData;
  readonly cause: Cause;
  /** What started the pass that sent it. */
  readonly trigger: string | null;
  /** Where the file asks for it; null for a park. */
  readonly source: Place | null;
  /** The git commit of that file's checkout. */
  readonly revision: string | null;
  readonly outcome: Exclude<Outcome, 'skipped'>;
  readonly error: string | null;
}

/** What happens while passes of a command run. */
export type PassEvent = { readonly client: string } & (
  | ({ readonly event: 'change' } & Change)
  | { readonly event: 'waiting'; readonly holder: string }
  | { readonly event: 'pause'; readonly milliseconds: number; readonly why: string }
);

/** The commit of a checkout with template files. */
export interface Commit {
  /** Its id. */
  readonly revision: string;
  /** Where people can see it, by the setting `commitUrl`. */
  readonly url: string;
}

/** A template of the client that no file describes. */
export interface UnmanagedTemplate {
  readonly client: string;
  readonly template: string;
  readonly id: number;
  /** How many it has. */
  readonly records: number;
  /** Whether a file has described it before. */
  readonly hadFile: boolean;
}

/** The result of one pass over one client, from which every report is made. */
export interface PassResult {
  readonly client: string;
  readonly run: string;
  readonly trigger: Trigger;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly durationMs: number;
  readonly dryRun: boolean;
  /** Why the service could not be read or writing stopped early; null if the pass completed. */
  readonly holdReason: string | null;
  /** Milliseconds from its end that the service asks to wait; null if it does not. */
  readonly retryAfter: number | null;
  /** Whether that is since there were too many requests: then saved files wait too. */
  readonly isRateLimited?: boolean;
  /** Whether the service's templates were read before the pass was held. */
  readonly wasRead?: boolean;
  /** Whether it was held because the service rejected the tokens, or does not let them do something. */
  readonly isDenied?: boolean;
  /** Whether they may do nothing at all. */
  readonly areTokensRejected?: boolean;
  /** Whether it did not begin: another process holds the lock, or the plan differs from the approved one. */
  readonly isNotStarted?: boolean;
  readonly templates: readonly TemplateResult[];
  readonly problems: readonly (Problem & { readonly client: string })[];
  /** The commits of its templates' files, where people can see them. */
  readonly commits?: readonly Commit[];
  /** Absent if the service was not read, or only some templates were asked for. */
  readonly unmanaged?: readonly UnmanagedTemplate[];
  /** What the service has for templates whose files have errors. Absent like `unmanaged`; no report has it. */
  readonly withInvalidFile?: readonly ActualTemplate[];
}

/** Counts over all templates of a report. */
export interface Summary {
  readonly templates: number;
  /** Desired records that are in sync. */
  readonly inSync: number;
  readonly add: number;
  readonly update: number;
  readonly park: number;
  readonly surplus: number;
  readonly blocked: number;
  /** Differences that were written; not counted elsewhere. */
  readonly applied: number;
  /** Templates that are not in sync. */
  readonly differing: number;
  /** How many of these a guard, a mode or a backoff holds back. */
  readonly held: { readonly add: number; readonly update: number; readonly park: number };
  readonly suspendedTemplates: number;
  readonly heldTemplates: number;
  readonly failedTemplates: number;
  readonly subdomains: number;
  readonly subdomainDifferences: number;
}

/** What differs between template files and the service, and what was done about it; over the passes of all clients. */
export interface Report {
  readonly schema: 'dns-template-sync/report/v1';
  /** The digest of base URL and name of its clients; a plan is applied to no other ones. */
  readonly service?: string;
  /** Where earlier template files are that stood for the saved state. */
  readonly base?: string;
  readonly run: string;
  readonly trigger: Trigger;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly durationMs: number;
  readonly dryRun: boolean;
  /** The worst of all parts. */
  readonly status: Status;
  readonly summary: Summary;
  readonly templates: readonly TemplateResult[];
  readonly problems: readonly (Problem & { readonly client: string })[];
  /** The commits of the templates' files. */
  readonly commits: readonly Commit[];
  /** Templates of the clients that no file describes. */
  readonly unmanaged: readonly UnmanagedTemplate[];
}

/** What is left to do: without differences that were written. */
export const withoutApplied = (template: TemplateResult): TemplateResult => ({
  ...template,
  differences: template.differences.filter(({ outcome }) => outcome !== 'applied'),
});
