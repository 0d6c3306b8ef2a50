import { parseDuration } from './duration.ts';

/** That nothing is written for a template, or for all of a client, until then. */
export interface Suspension {
  /** The template as files name it; null: all templates of the client. */
  readonly template: string | null;
  /** Its id at the service, by which it stays suspended under another name; null if unknown. */
  readonly templateId: number | null;
  /** Who did it. */
  readonly by: string;
  readonly reason: string;
  /** Ms since the epoch, by the clock of the store. */
  readonly since: number;
  /** When it ends by itself, by the same clock; null: only `resume` ends it. */
  readonly until: number | null;
}

/** A template to suspend or to resume. */
export type SuspendedTemplate = Pick<Suspension, 'templateId'> & { readonly template: string };

export interface SuspensionRequest extends Pick<Suspension, 'by' | 'reason'> {
  /** Null: all templates of the client. */
  readonly templates: readonly SuspendedTemplate[] | null;
  /** Milliseconds after which it ends by itself; null: it does not. */
  readonly duration: number | null;
}

/** What suspends templates. Everybody has one for a template: nobody ends that of somebody else by suspending again. */
export interface Suspensions {
  /** Those in effect, by the clock of the store. */
  suspensions(): Promise<readonly Suspension[]>;
  /** Returns what was saved. */
  suspend(request: SuspensionRequest): Promise<readonly Suspension[]>;
  /** Ends those of these templates, or all of the client, whoever made them. Returns them. */
  resume(templates: readonly SuspendedTemplate[] | null): Promise<readonly Suspension[]>;
}

/** Why a reason is refused, which everybody will see; null if it is not. `redact` replaces every secret. */
export const refusedReason = (reason: string, redact: (text: string) => string): string | null => {
  if (reason === '') return 'say why, for those who see the report';
  if (reason.length > longestReason) return `it is longer than ${longestReason} characters`;
  if (redact(reason) === reason) return null;
  return 'it holds a token or another secret, and everybody would see it: leave that out';
};

/** Characters. */
export const longestReason = 200;

/** Milliseconds after which a suspension ends by itself; null if the text is no such duration. */
export const parseSuspensionLength = (text: string): number | null => {
  const duration = parseDuration(text);
  return duration === 0 || (duration ?? 0) > maxLength ? null : duration;
};

const maxLength = 1_000 * 86_400_000;

/** Within a client. */
export const suspensionKey = ({ template, by }: Suspension): string => JSON.stringify([template, by]);

export const suspensionsFrom = (
  { templates, by, reason, duration }: SuspensionRequest,
  now: number,
): Suspension[] =>
  (templates ?? [{ template: null, templateId: null }]).map((one) => ({
    template: one.template,
    templateId: one.templateId,
    by,
    reason,
    since: now,
    until: duration === null ? null : now + duration,
  }));

export const isInEffect = ({ until }: Suspension, now: number): boolean => until === null || now < until;

/** For people; `timeOf`: as a report has it, which others read elsewhere. */
export const suspensionText = (
  { by, reason, until }: Omit<Suspension, 'since'>,
  timeOf = (at: number): string => new Date(at).toISOString(),
): string => `suspended by ${by}${until === null ? '' : ` until ${timeOf(until)}`}: ${reason}`;

/** What a template goes by. */
export interface TemplateNames {
  readonly templateId: number;
  /** In its file, at the service, and in the saved state; null if there is none. */
  readonly names: readonly (string | null)[];
}

/** The suspension of a template that lasts the longest; null if there is none. A name alone is enough, and so is the id. */
export const suspensionOf = (
  suspensions: readonly Suspension[],
  { templateId, names }: TemplateNames,
): Suspension | null => {
  let longest: Suspension | null = null;
  for (const one of suspensions) {
    const isOfTemplate = one.template === null || names.includes(one.template);
    if ((isOfTemplate || one.templateId === templateId) && (longest === null || outlasts(one, longest)))
      longest = one;
  }
  return longest;
};

const outlasts = (one: Suspension, other: Suspension): boolean => {
  const [end, otherEnd] = [one.until ?? Infinity, other.until ?? Infinity];
  return end === otherEnd ? one.since < other.since : end > otherEnd;
};

/** Those in effect, by the key of the state that they belong to. */
export const inEffectByKey = (
  saved: readonly { readonly key: string; readonly suspension: Suspension }[],
  now: number,
): ReadonlyMap<string, readonly Suspension[]> => {
  const byKey = new Map<string, Suspension[]>();
  for (const { key, suspension } of saved)
    if (isInEffect(suspension, now)) byKey.set(key, [...(byKey.get(key) ?? []), suspension]);
  return byKey;
};

/** Whether `resume` of these templates ends it. Null: of all of the client. */
export const isEndedBy = (suspension: Suspension, templates: readonly SuspendedTemplate[] | null): boolean =>
  templates === null || templates.some((one) => isAbout(suspension, one));

/** By the id, where both are known; else by the name. */
const isAbout = (suspension: Suspension, { template, templateId }: SuspendedTemplate): boolean =>
  templateId === null || suspension.templateId === null
    ? suspension.template === template
    : suspension.templateId === templateId;

/** Where the state of one client is, and what identifies it there. */
export interface SavedAt {
  readonly file: string;
  readonly stateDir: string;
  /** The key of its rows: the digest of base URL and client name. */
  readonly scope: string;
  /** The embedded service starts without state, which needs no warning. */
  readonly isSandbox: boolean;
}
