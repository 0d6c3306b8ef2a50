import type { PresentTemplate } from '../model/template.ts';
import { countLost } from './answer.ts';
import type { ApplyContext, TemplateWork } from './context.ts';
import { readOrHalt } from './halt.ts';

/** All templates by id, kept also for those for which they were not read; null as by `readOrHalt`. */
export const readTemplates = (context: ApplyContext): Promise<ReadonlyMap<number, PresentTemplate> | null> =>
  readOrHalt(() => listTemplates(context), context);

const listTemplates = async ({
  service,
  latest,
}: ApplyContext): Promise<ReadonlyMap<number, PresentTemplate>> => {
  const templates = await service.listDnsTemplates();
  const listing = new Map(templates.map((template) => [template.id, template]));
  const before = latest.listing;
  latest.listing = before
    ? new Map(templates.map((template) => [template.id, withAllOf(before.get(template.id), template)]))
    : listing;
  return listing;
};

/** A listing may be behind one that came before it. */
const withAllOf = (before: PresentTemplate | undefined, template: PresentTemplate): PresentTemplate => {
  if (before === undefined || before === template) return template;
  const ids = new Set(template.records.map(({ id }) => id));
  const others = before.records.filter(({ id }) => !ids.has(id));
  return others.length === 0 ? template : { ...template, records: [...template.records, ...others] };
};

/** With what any reading since the first one showed of it. */
export const allShown = ({ present }: TemplateWork, { latest }: ApplyContext): PresentTemplate =>
  withAllOf(latest.listing?.get(present.id), present);

/** What was read for another template's sake may show that this one holds more than it was planned with. */
export const holdAgainstLatest = (work: TemplateWork, { latest: { listing } }: ApplyContext): void => {
  if (listing === work.heldAgainst) return;
  work.heldAgainst = listing;
  const reading = listing?.get(work.present.id);
  const added = reading ? countLost(reading, work.present) : 0;
  if (added > 0) work.addsStopped ??= `another reading shows ${added} records that this one lacked`;
};
