import type { Place } from '../../model/record.ts';
import type { IgnoreRule } from '../../model/template.ts';
import type { CheckId } from '../check-id.ts';
import { quote, type Position } from '../diagnostic.ts';
import type { Origin, ResolvedRecord } from '../resolve-record.ts';

/** The message of a check, and its position in the file. */
export interface CheckDiagnostic {
  readonly at: Position;
  readonly message: string;
}

/** Checks one record, with what the template says for all. */
export interface RecordCheck {
  readonly id: CheckId;
  readonly find: (record: ResolvedRecord, template: CheckedTemplate) => readonly CheckDiagnostic[];
}

/** Checks all records of one name together. */
export interface NameCheck {
  readonly id: CheckId;
  readonly find: (records: readonly ResolvedRecord[]) => readonly RecordDiagnostic[];
}

/** Checks a template as a whole; `records` are those that do not switch the check off. */
export interface TemplateCheck {
  readonly id: CheckId;
  readonly find: (
    template: CheckedTemplate,
    records: readonly ResolvedRecord[],
  ) => readonly TemplateDiagnostic[];
}

export interface CheckedTemplate {
  readonly records: readonly ResolvedRecord[];
  readonly ignore: readonly ResolvedIgnoreRule[];
  /** The rules in `ignore`. */
  readonly rules: readonly IgnoreRule[];
  readonly subdomains: readonly (Position & { readonly text: string })[];
  readonly ttl: (Position & { readonly seconds: number }) | null;
}

export interface ResolvedIgnoreRule {
  readonly rule: IgnoreRule;
  readonly place: Place;
  /** The positions of name and content, or of the rule if it has none. */
  readonly at: { readonly name: Position; readonly content: Position };
  readonly origin: Origin;
}

export interface RecordDiagnostic extends CheckDiagnostic {
  readonly entry: ResolvedRecord;
}

/** About a record, an ignore rule, or (null) the template's own document. */
export interface TemplateDiagnostic extends CheckDiagnostic {
  readonly entry: { readonly origin: Origin } | null;
}

export const placeOf = ({ desired: { source } }: ResolvedRecord): string =>
  `${source.file}:${source.line}:${source.column}`;

/** The name in a message, as people write it. */
export const shownName = ({ canonical }: ResolvedRecord): string => quote(canonical.name || '@');

/** The position of the name, or of the entry if it has none. */
export const nameAt = ({ fields, at }: ResolvedRecord): Position => fields.get('name') ?? at.entry;
