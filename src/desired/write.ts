import type { PresentTemplate } from '../model/template.ts';
import type { Present } from '../plan/entry.ts';
import { allowableChecks, type AllowableCheck, type CheckId } from './check-id.ts';
import { outlineOf } from './outline.ts';
import { atFile, isError, type Finding } from './problem.ts';
import { draftTemplate, type TemplateSettings } from './template-draft.ts';
import type { Existing } from './write/existing.ts';
import { layOut, type Layout } from './write/layout.ts';
import { scalarOf } from './write/scalar.ts';
import { sortOut } from './write/sort-out.ts';
import { commonTtl, withOwnTtl } from './write/ttl.ts';

export interface WriteRequest {
  readonly template: PresentTemplate;
  /** What the file calls it, and its id where the name alone does not tell it. */
  readonly name: string;
  readonly id: number | null;
  readonly existing: Existing;
  readonly settings: Omit<TemplateSettings, 'strict'>;
}

export type Written =
  | { readonly text: string; readonly wanted: number; readonly remarks: number }
  | { readonly refusal: string };

/**
 * The file that wants what a template holds. What a check complains of is switched off record by record, so that
 * nothing is said about the file; what cannot be said is a comment. The same for any order of the records.
 */
export const writeTemplate = ({ template, name, id, existing, settings }: WriteRequest): Written => {
  const { wanted, remarks: unsaid } = sortOut(template.records, existing.ignore);
  const remarks = name === template.name ? unsaid : [`its name: ${scalarOf(template.name)}`, ...unsaid];
  const contents = { name, id, ttl: commonTtl(wanted), wanted, remarks, existing };
  const allow = new Map<Present, AllowableCheck[]>();
  for (const record of withOwnTtl(wanted)) allow.set(record, ['mixed-ttl']);
  for (;;) {
    const layout = layOut(contents, allow);
    const findings = findingsIn(layout.text, settings).filter(
      (finding) => isError(finding, false) || layout.recordAt(finding.line) !== undefined,
    );
    if (findings.length === 0) return { text: layout.text, wanted: wanted.length, remarks: remarks.length };
    const stubborn = switchOff(findings, layout, allow);
    if (stubborn !== null) return { refusal: `${stubborn.message} [${stubborn.check}]` };
  }
};

const findingsIn = (text: string, settings: Omit<TemplateSettings, 'strict'>): readonly Finding[] => {
  const outline = outlineOf(Buffer.from(text), false);
  const file = { path: '', isFragment: false, hash: '', outline, includes: new Map<string, never>() };
  const drafts = outline.documents.map((document) =>
    draftTemplate(file, document, { ...settings, strict: false }),
  );
  return [...atFile('', outline.faults), ...drafts.flatMap(({ findings }) => findings)];
};

/** Of each record the first complaint: it may be the reason for the others. Returns what cannot be switched off. */
const switchOff = (
  findings: readonly Finding[],
  { recordAt }: Layout,
  allow: Map<Present, AllowableCheck[]>,
): Finding | null => {
  const first = new Map<Present, AllowableCheck>();
  for (const finding of findings) {
    const { check, line } = finding;
    const record = recordAt(line);
    if (record === undefined || !isAllowable(check) || allow.get(record)?.includes(check)) return finding;
    if (!first.has(record)) first.set(record, check);
  }
  for (const [record, check] of first) allow.set(record, inOrder([...(allow.get(record) ?? []), check]));
  return null;
};

const isAllowable = (check: CheckId): check is AllowableCheck =>
  allowableChecks.some((allowable) => allowable === check);

const inOrder = (checks: readonly AllowableCheck[]): AllowableCheck[] =>
  allowableChecks.filter((check) => checks.includes(check));
