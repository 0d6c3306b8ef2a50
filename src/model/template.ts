import type { Place, PresentRecord, RecordType, WantedRecord } from './record.ts';

/** What a pass may write (semantics §4): everything, only what an edit of the file caused, or nothing. */
export const modes = ['enforce', 'edits', 'report'] as const;
export type Mode = (typeof modes)[number];

/** What becomes of records that the file does not want: shown only, or put to use and out of the way. */
export const surplusPolicies = ['report', 'park'] as const;
export type SurplusPolicy = (typeof surplusPolicies)[number];

/** Whether the name servers of a template's subdomains are asked what they answer. */
export const answersChoices = ['off', 'on'] as const;
export type AnswersChoice = (typeof answersChoices)[number];

/** How far a pass may go in one template before it holds and asks. Percent of the records present. */
export interface TemplateLimits {
  readonly maxAdds: number;
  readonly maxChangePercent: number;
  readonly minRecords: number;
}

/** Records that are left alone. Globs: `*` any text, `\*` a literal star; what is null matches everything. */
export interface IgnoreRule {
  readonly type: RecordType | null;
  readonly name: string | null;
  readonly content: string | null;
}

/** How files, commands and reports call a template that nobody gave a name: at the service, or in its file. */
export const nameById = (id: number): string => `template-${id}`;

/** One template as its file describes it, with the TTL, mode and policies that hold for it filled in. */
export interface DesiredTemplate {
  readonly template: string;
  /** Bound by id when the file says one, else by name. */
  readonly id: number | null;
  /** The place of the template's own document. */
  readonly source: Place;
  readonly mode: Mode;
  readonly surplus: SurplusPolicy;
  readonly adopt: boolean;
  readonly limits: TemplateLimits;
  readonly subdomains: readonly string[];
  /** Where the file says so; else the settings do. */
  readonly answers?: AnswersChoice;
  /** The only name servers that are asked, where the file names some. */
  readonly nameservers?: readonly string[];
  readonly ignore: readonly IgnoreRule[];
  readonly records: readonly WantedRecord[];
}

/** What a template file may leave to the settings. */
export type TemplateDefaults = Pick<DesiredTemplate, 'mode' | 'surplus' | 'adopt' | 'limits'>;

/** A template as the service holds it (specification §2, DNS template). */
export interface PresentTemplate {
  readonly id: number;
  readonly name: string;
  readonly publiclyAvailable: boolean;
  /** A count whose meaning the specification does not show. */
  readonly subdomains: number | null;
  readonly records: readonly PresentRecord[];
}

/** A DNS record of a subdomain; `templateRecordId` is null when it derives from no template record. */
export interface SubdomainRecord extends PresentRecord {
  readonly templateRecordId: number | null;
}

/**
 * Something wrong in a template file. `check` is the id in brackets, e.g. `cname-alone`. Line and column count
 * from 1 and are null where the problem is of no one place, e.g. a directory that cannot be read.
 */
export interface Problem {
  readonly severity: 'error' | 'warning';
  readonly check: string;
  readonly message: string;
  readonly file: string | null;
  readonly line: number | null;
  readonly column: number | null;
}

/** A template whose description cannot be used. What it last said is not withdrawn (semantics §5). */
export interface UnusableTemplate {
  readonly file: string;
  /** Null where the file is too broken to tell. */
  readonly template: string | null;
  readonly id: number | null;
  readonly message: string;
}

/** Everything the template files of one client say, read as one snapshot. */
export interface DesiredState {
  readonly templates: readonly DesiredTemplate[];
  readonly unusable: readonly UnusableTemplate[];
  readonly problems: readonly Problem[];
  /** Number of template files found, fragments not counted. */
  readonly files: number;
}
