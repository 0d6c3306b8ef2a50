import { isYieldDue, yieldToOthers } from '../../lib/yield.ts';
import type { CheckId } from '../check-id.ts';
import type { FaultReport } from '../fault.ts';
import type { RecordDraft } from '../record-draft.ts';
import type { AnyComplaint, CheckedTemplate, NameCheck, RecordCheck } from './check.ts';
import { contentChecks } from './content-checks.ts';
import { hostChecks } from './host-checks.ts';
import { nameChecks } from './name-checks.ts';
import { wantedAndIgnored } from './ignore-checks.ts';
import { templateChecks } from './template-checks.ts';
import { ttlUnusual } from './ttl-checks.ts';

const recordChecks: readonly RecordCheck[] = [...contentChecks, ...hostChecks, ttlUnusual, wantedAndIgnored];

/** Runs every check over a template. A record that switches a check off is not seen by it. */
export const runChecks = async (template: CheckedTemplate, report: FaultReport): Promise<void> => {
  for (const draft of template.records) {
    if (isYieldDue()) await yieldToOthers();
    checkRecord(draft, template);
  }
  for (const drafts of byName(template.records)) {
    if (isYieldDue()) await yieldToOthers();
    for (const check of nameChecks) checkName(check, drafts);
  }
  for (const check of templateChecks) {
    if (isYieldDue()) await yieldToOthers();
    tell(check.id, check.find(template, seenBy(check.id, template.records)), report);
  }
};

const checkRecord = (draft: RecordDraft, template: CheckedTemplate): void => {
  for (const { id, find } of recordChecks) {
    if (draft.allow.has(id)) continue;
    for (const { at, message } of find(draft, template)) draft.origin.report(id, at, message);
  }
};

const checkName = ({ id, find }: NameCheck, drafts: readonly RecordDraft[]): void => {
  for (const { draft, at, message } of find(seenBy(id, drafts))) draft.origin.report(id, at, message);
};

const tell = (id: CheckId, complaints: readonly AnyComplaint[], report: FaultReport): void => {
  for (const { draft, at, message } of complaints) (draft?.origin.report ?? report)(id, at, message);
};

const seenBy = (id: CheckId, drafts: readonly RecordDraft[]): readonly RecordDraft[] =>
  drafts.some(({ allow }) => allow.has(id)) ? drafts.filter(({ allow }) => !allow.has(id)) : drafts;

/** Only names with several records: alone, nothing stands beside anything. */
const byName = (drafts: readonly RecordDraft[]): RecordDraft[][] => {
  const names = new Map<string, RecordDraft[]>();
  for (const draft of drafts) {
    const others = names.get(draft.canonical.name);
    if (others === undefined) names.set(draft.canonical.name, [draft]);
    else others.push(draft);
  }
  return [...names.values()].filter(({ length }) => length > 1);
};
