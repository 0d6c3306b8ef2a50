import { asJson } from './json-text.ts';
import { type Report, reportSchema } from './report.ts';

/** The report as JSON, with a fixed order of keys. */
export const renderJson = (report: Report): string => asJson(reportSchema.parse(report));
