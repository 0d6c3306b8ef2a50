import type { Place } from '../../model/record.ts';
import type { IgnoreRule } from '../../model/template.ts';
import type { CheckId } from '../check-id.ts';
import { quote, type Position } from '../fault.ts';
import type { Origin, RecordDraft } from '../record-draft.ts';

/** What a check has to say about a record, and where in the record's entry. */
export interface Complaint {
  readonly at: Position;
  readonly message: string;
}

/** Looks at one record by itself, and at what the template says of all. */
export interface RecordCheck {
  readonly id: CheckId;
  readonly find: (draft: RecordDraft, template: CheckedTemplate) => readonly Complaint[];
}

/** Looks at all records of one name together. */
export interface NameCheck {
  readonly id: CheckId;
  readonly find: (drafts: readonly RecordDraft[]) => readonly RecordComplaint[];
}

/** Looks at a template as a whole; `records` are those that do not switch the check off. */
export interface TemplateCheck {
  readonly id: CheckId;
  readonly find: (template: CheckedTemplate, records: readonly RecordDraft[]) => readonly AnyComplaint[];
}

export interface CheckedTemplate {
  readonly records: readonly RecordDraft[];
  readonly ignore: readonly IgnoreDraft[];
  /** Of `ignore`. */
  readonly rules: readonly IgnoreRule[];
  readonly subdomains: readonly (Position & { readonly text: string })[];
  readonly ttl: (Position & { readonly seconds: number }) | null;
}

export interface IgnoreDraft {
  readonly rule: IgnoreRule;
  readonly place: Place;
  /** Where name and content stand; the whole rule where it states none. */
  readonly at: { readonly name: Position; readonly content: Position };
  readonly origin: Origin;
}

export interface RecordComplaint extends Complaint {
  readonly draft: RecordDraft;
}

/** Of a record, of an ignore rule, or of the template's own document. */
export interface AnyComplaint extends Complaint {
  readonly draft: { readonly origin: Origin } | null;
}

export const placeOf = ({ record: { source } }: RecordDraft): string =>
  `${source.file}:${source.line}:${source.column}`;

/** The name in a message, as people write it. */
export const shownName = ({ canonical }: RecordDraft): string => quote(canonical.name || '@');

/** Where the name stands, or the entry if it states none. */
export const nameAt = ({ fields, at }: RecordDraft): Position => fields.get('name') ?? at.entry;
