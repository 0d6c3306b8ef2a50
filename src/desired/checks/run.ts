import { isYieldDue, yieldToOthers } from '../../lib/yield.ts';
import { recordTypes, type RecordType } from '../../model/record.ts';
import { groupBy } from '../../plan/group.ts';
import type { CheckId } from '../check-id.ts';
import type { ReportDiagnostic } from '../diagnostic.ts';
import type { ResolvedRecord } from '../resolve-record.ts';
import type { TemplateDiagnostic, CheckedTemplate, NameCheck, RecordCheck } from './check.ts';
import { contentChecksOf } from './content-checks.ts';
import { hostChecks } from './host-checks.ts';
import { nameChecks } from './name-checks.ts';
import { desiredAndIgnored } from './ignore-checks.ts';
import { templateChecks } from './template-checks.ts';
import { ttlUnusual } from './ttl-checks.ts';

const recordChecks: ReadonlyMap<RecordType, readonly RecordCheck[]> = new Map(
  recordTypes.map((type) => [type, [...contentChecksOf(type), ...hostChecks, ttlUnusual, desiredAndIgnored]]),
);

/** Runs every check over a template. A check does not see records that switch it off. */
export const runChecks = async (template: CheckedTemplate, report: ReportDiagnostic): Promise<void> => {
  for (const record of template.records) {
    if (isYieldDue()) await yieldToOthers();
    checkRecord(record, template);
  }
  for (const records of byName(template.records)) {
    if (isYieldDue()) await yieldToOthers();
    for (const check of nameChecks) checkName(check, records);
  }
  for (const check of templateChecks) {
    if (isYieldDue()) await yieldToOthers();
    reportAll(check.id, check.find(template, withCheck(check.id, template.records)), report);
  }
};

const checkRecord = (record: ResolvedRecord, template: CheckedTemplate): void => {
  for (const { id, find } of recordChecks.get(record.desired.type)!) {
    const found = find(record, template);
    if (found.length === 0 || record.allow.has(id)) continue;
    for (const { at, message } of found) record.origin.report(id, at, message);
  }
};

const checkName = ({ id, find }: NameCheck, records: readonly ResolvedRecord[]): void => {
  for (const { entry, at, message } of find(withCheck(id, records))) entry.origin.report(id, at, message);
};

const reportAll = (
  id: CheckId,
  diagnostics: readonly TemplateDiagnostic[],
  report: ReportDiagnostic,
): void => {
  for (const { entry, at, message } of diagnostics) (entry?.origin.report ?? report)(id, at, message);
};

const withCheck = (id: CheckId, records: readonly ResolvedRecord[]): readonly ResolvedRecord[] =>
  records.some(({ allow }) => allow.has(id)) ? records.filter(({ allow }) => !allow.has(id)) : records;

/** Only names with several records: these checks compare them. */
const byName = (records: readonly ResolvedRecord[]): ResolvedRecord[][] =>
  [...groupBy(records, ({ canonical }) => canonical.name).values()].filter(({ length }) => length > 1);
