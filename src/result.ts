import type { RecordData } from './model/record.ts';
import type { Difference, Outcome } from './plan/difference.ts';
import type { SubdomainDifference } from './plan/subdomains.ts';
import type { Problem } from './model/template.ts';

export type { SubdomainDifference } from './plan/subdomains.ts';

export type Trigger = 'command' | 'startup' | 'file-change' | 'schedule' | 'request';

/** Ordered from best to worst: a whole is as bad as its worst part. */
export const statuses = ['in-sync', 'drifted', 'held', 'failed'] as const;
export type Status = (typeof statuses)[number];

/** In sync where there is none. */
export const worstOf = (found: readonly Status[]): Status =>
  statuses.findLast((status) => found.includes(status)) ?? 'in-sync';

/** What a name server answers otherwise than the service shows it. */
export interface AnswerDifference {
  /**
   * `missing`: no answer; `stale`: another one; `foreign`: an answer where the service shows no record; `flattened`:
   * addresses in place of an alias at the apex, which servers do to keep to RFC 1034 §3.6.2, and which is no drift.
   */
  readonly kind: 'missing' | 'stale' | 'foreign' | 'flattened';
  /** The name of the server that answers so. */
  readonly server: string;
  /** As it was asked for: whole, in lower case, of A-labels. */
  readonly name: string;
  readonly type: string;
  readonly desired: readonly RecordData[];
  readonly current: readonly RecordData[];
}

/** How one name server is, by one of its addresses. */
export interface ServerResult {
  readonly name: string;
  /** Empty where it has none; with its port unless that is 53. */
  readonly address: string;
  /** Of the zone that it serves; null where it was not told. */
  readonly serial: number | null;
  /** `lame`: it does not serve the zone with authority; `silent`: no answer; `failed`: it could not be asked. */
  readonly status: 'in-sync' | 'pending' | 'drifted' | 'lame' | 'refused' | 'silent' | 'failed';
  readonly message: string | null;
}

/** What the name servers of a subdomain answer, compared with what the service shows of it. */
export interface SubdomainAnswers {
  /**
   * `pending`: the servers are not of one mind yet, or the last write is young; `failed`: none could be asked; `off`:
   * they were not asked.
   */
  readonly status: 'in-sync' | 'pending' | 'drifted' | 'failed' | 'off';
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

/** What a pass found in one template, and what it left. The object that the report lists under `templates`. */
export interface TemplateResult {
  readonly client: string;
  readonly template: string;
  readonly id: number | null;
  readonly file: string;
  /** The git commit of the file's checkout. */
  readonly revision: string | null;
  /** Only where the file is not what that commit has. */
  readonly uncommitted?: true;
  readonly status: Status;
  readonly message: string | null;
  /**
   * Only where the pass could not read the service: when what stands here was read, in ISO 8601; null where nothing
   * is known.
   */
  readonly asOf?: string | null;
  readonly inSync: number;
  readonly parked: number;
  readonly ignored: number;
  readonly differences: readonly Difference[];
  readonly subdomains: readonly SubdomainResult[];
}

/** One write and what became of it, as the log tells it. */
export interface Change {
  readonly template: string;
  readonly templateId: number;
  readonly recordId: number | null;
  readonly action: 'add' | 'update' | 'park';
  readonly before: RecordData | null;
  readonly after: RecordData;
  readonly outcome: Exclude<Outcome, 'skipped'>;
  readonly error: string | null;
}

/** What one pass over one client found and did: all that any form of the report is made of. */
export interface PassResult {
  readonly client: string;
  readonly run: string;
  readonly trigger: Trigger;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly durationMs: number;
  readonly dryRun: boolean;
  /** Why the service could not be read, or its writes ended early; null where the pass went through. */
  readonly halted: string | null;
  /** ISO 8601, where the service asked to wait until then. */
  readonly retryAt: string | null;
  /** Whether the service's templates were read; what halted the pass then came later. */
  readonly wasRead?: boolean;
  /** Whether it was halted because the service does not take the tokens. */
  readonly isDenied?: boolean;
  /** Whether it did not get to all that it was to write, for whatever reason but a mode or a guard. */
  readonly isIncomplete?: boolean;
  /** Whether it did not begin: another process writes for the client, or what it would write is not what was agreed. */
  readonly isNotStarted?: boolean;
  readonly templates: readonly TemplateResult[];
  readonly problems: readonly (Problem & { readonly client: string })[];
}
