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

export interface SubdomainResult {
  readonly subdomain: string;
  readonly status: 'in-sync' | 'pending' | 'drifted' | 'failed';
  readonly message: string | null;
  readonly differences: readonly SubdomainDifference[];
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
