import type { Place, RecordData } from './model/record.ts';
import type { ActualTemplate } from './model/template.ts';
import type { Cause, Outcome } from './plan/difference.ts';

export type { SubdomainDifference } from './plan/subdomains.ts';

/** A report as a program has written it; null: this is none. */
export const readReport = async (value: unknown) =>
  (await import('./report-schema.ts')).reportSchema.safeParse(value).data ?? null;

/**
 * What differs between template files and the service, and what was done about it; over the passes of all clients. Its
 * schema says what each part means. It is inferred from a function, so that the types of the library do not need zod.
 */
export type Report = Immutable<NonNullable<Awaited<ReturnType<typeof readReport>>>>;

type Immutable<T> = T extends readonly (infer Item)[]
  ? readonly Immutable<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Immutable<T[Key]> }
    : T;

export type Status = Report['status'];
export type Trigger = Report['trigger'];
/** Counts over all templates of a report. */
export type Summary = Report['summary'];
/** The commit of a checkout with template files. */
export type Commit = Report['commits'][number];
/** A template of the client that no file describes. */
export type UnmanagedTemplate = Report['unmanaged'][number];

/** The result of a pass for one template. */
export type TemplateResult = Report['templates'][number] & {
  /** Present with `retryAt`: when another pass may find that earlier writes have settled. No report has it. */
  readonly settlesAt?: string;
};
export type SubdomainResult = TemplateResult['subdomains'][number];
/** The answers of a subdomain's name servers, compared with what the service shows. */
export type SubdomainAnswers = SubdomainResult['answers'];
/** The status of one name server at one of its addresses. */
export type ServerResult = SubdomainAnswers['servers'][number];
/** A difference between a name server's answer and what the service shows. */
export type AnswerDifference = SubdomainAnswers['differences'][number];

export const notAsked: SubdomainAnswers = { status: 'off', servers: [], differences: [] };

/** From best to worst. */
export const statuses = ['in-sync', 'drifted', 'suspended', 'held', 'failed'] as const satisfies Status[];

/** In sync if there are none. */
export const worstOf = (found: readonly Status[]): Status =>
  statuses.findLast((status) => found.includes(status)) ?? 'in-sync';

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

type OfOnePass = 'run' | 'trigger' | 'startedAt' | 'durationMs' | 'dryRun' | 'problems';

/** The result of one pass over one client, from which every report is made. */
export interface PassResult extends Pick<Report, OfOnePass> {
  readonly client: string;
  readonly templates: readonly TemplateResult[];
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
  /** The commits of its templates' files, where people can see them. */
  readonly commits?: Report['commits'];
  /** Absent if the service was not read, or only some templates were asked for. */
  readonly unmanaged?: Report['unmanaged'];
  /** What the service has for templates whose files have errors. Absent like `unmanaged`; no report has it. */
  readonly withInvalidFile?: readonly ActualTemplate[];
}

/** What is left to do: without differences that were written. */
export const withoutApplied = (template: TemplateResult): TemplateResult => ({
  ...template,
  differences: template.differences.filter(({ outcome }) => outcome !== 'applied'),
});
