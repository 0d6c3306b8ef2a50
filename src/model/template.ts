import type { Place, ActualRecord, RecordType, DesiredRecord } from './record.ts';

/** What a pass may write: everything, only what an edit of the file caused, or nothing. */
export const modes = ['enforce', 'edits', 'report'] as const;
export type Mode = (typeof modes)[number];

/** What to do with surplus records: only show them, or reuse and park them. */
export const surplusPolicies = ['report', 'park'] as const;
export type SurplusPolicy = (typeof surplusPolicies)[number];

/** Whether the name servers of a template's subdomains are checked. */
export const answersChoices = ['off', 'on'] as const;
export type AnswersChoice = (typeof answersChoices)[number];

/** How much a pass may change in one template before it is held. Percentages are of the current records. */
export interface TemplateLimits {
  readonly maxAdds: number;
  readonly maxChangePercent: number;
  readonly minRecords: number;
}

/** Records to leave alone. Globs: `*` is any text, `\*` a literal star; null matches everything. */
export interface IgnoreRule {
  readonly type: RecordType | null;
  readonly name: string | null;
  readonly content: string | null;
}

/** The name of a template without a name, at the service or in its file, in files, commands and reports. */
export const nameById = (id: number): string => `template-${id}`;

/** One template as its file describes it, with defaults applied. */
export interface DesiredTemplate {
  readonly template: string;
  /** Bound by id if the file has one, else by name. */
  readonly id: number | null;
  /** The position of the template's own document. */
  readonly source: Place;
  /** The files of the fragments that it includes, directly or not; present if there are any. */
  readonly fragments?: readonly string[];
  readonly mode: Mode;
  readonly surplus: SurplusPolicy;
  readonly adopt: boolean;
  readonly limits: TemplateLimits;
  readonly subdomains: readonly string[];
  /** Present if the file sets it; else the settings apply. */
  readonly answers?: AnswersChoice;
  /** The only name servers to ask, if the file names some. */
  readonly nameservers?: readonly string[];
  readonly ignore: readonly IgnoreRule[];
  readonly records: readonly DesiredRecord[];
  /** Present while it lacks what it had a moment ago. */
  readonly incomplete?: Incomplete;
}

/** A file that is perhaps still being uploaded: what it does not say any more is neither parked nor put to another use. */
export interface Incomplete {
  /** Ms since the epoch. */
  readonly until: number;
  /** The record sets that have fewer records, as type and canonical name. */
  readonly sets: readonly string[];
}

/** The defaults that settings give for template files. */
export type TemplateDefaults = Pick<DesiredTemplate, 'mode' | 'surplus' | 'adopt' | 'limits'>;

/** A template at the service (specification §2, DNS template). */
export interface ActualTemplate {
  readonly id: number;
  readonly name: string;
  readonly publiclyAvailable: boolean;
  /** Present if the service does not say whose it is; it then counts as publicly available. */
  readonly isOwnerStated?: false;
  /** A count. The specification does not say of what. */
  readonly subdomains: number | null;
  readonly records: readonly ActualRecord[];
}

/** A DNS record of a subdomain; `templateRecordId` is null if it derives from no template record. */
export interface SubdomainRecord extends ActualRecord {
  readonly templateRecordId: number | null;
}

/**
 * An error or warning about a template file. `check` is its id, such as `cname-alone`. Line and column count
 * from 1, and are null for a problem without a position, such as an unreadable directory.
 */
export interface Problem {
  readonly severity: 'error' | 'warning';
  readonly check: string;
  readonly message: string;
  readonly file: string | null;
  readonly line: number | null;
  readonly column: number | null;
}

/** A template whose description is invalid. Its last valid description is not withdrawn. */
export interface UnusableTemplate {
  readonly file: string;
  /** Null if the file is too broken to know. */
  readonly template: string | null;
  readonly id: number | null;
  readonly message: string;
  /** Where it has problems, also in its own file; absent if that cannot be read. */
  readonly fragments?: readonly string[];
}

/** The content of the template files of one client, read as one snapshot. */
export interface DesiredState {
  readonly templates: readonly DesiredTemplate[];
  readonly unusable: readonly UnusableTemplate[];
  readonly problems: readonly Problem[];
  /** Number of template files found, fragments not counted. */
  readonly files: number;
  /** The names of variables that the files use; absent for none. */
  readonly usedVariables?: ReadonlySet<string>;
  /** A file that may be half uploaded, of which nothing is known yet. */
  readonly awaited?: string;
}

/** A file whose name begins with `_` is only included by others. */
export const isFragmentPath = (path: string): boolean => /(?:^|[\\/])_[^\\/]*$/.test(path);

/** Where there may be descriptions of which nothing is known: a file without a readable name, or what cannot be read, or not yet; else null. */
export const unknownPlace = ({
  unusable,
  problems,
  awaited,
}: Pick<DesiredState, 'unusable' | 'problems' | 'awaited'>): string | null => {
  const isUnknown = ({ check, file }: Problem): boolean =>
    (check === 'unreadable' || check === 'outside') &&
    !(file && isFragmentPath(file) && /\.ya?ml$/.test(file));
  const found = unusable.find(({ template }) => template === null) ?? problems.find(isUnknown);
  return found?.file ?? awaited ?? null;
};
