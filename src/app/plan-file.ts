import { createHash } from 'node:crypto';
import path from 'node:path';
import { codeOf, UserError } from '../errors.ts';
import type { Io } from '../io.ts';
import { groupBy } from '../model/group.ts';
import type { Difference, SkipCause } from '../plan/difference.ts';
import { readRegularFileSync } from '../regular-file.ts';
import { changeText, recordText } from '../report/row.ts';
import { readReport, type Report } from '../result.ts';
import type { Client } from './client.ts';

/** A report that `plan --format json --out FILE` wrote. */
export const readPlan = async (file: string, { cwd }: Pick<Io, 'cwd'>): Promise<Report> => {
  const how = 'write one with plan --format json --out plan.json';
  let text = '';
  try {
    text = readRegularFileSync(path.resolve(cwd, file), largestFile).toString('utf8');
  } catch (error) {
    throw new UserError(`--plan: cannot read ${file} (${codeOf(error)}): ${how}`, { cause: error });
  }
  let value: unknown = null;
  try {
    // PowerShell's `>` and some editors put a mark before the text.
    value = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    // Null is no plan.
  }
  const plan = await planOf(value);
  if (plan !== null) return plan;
  throw new UserError(`--plan: ${file} is not a report of plan: ${how}`);
};

/** Bytes; V8 strings end at half a gibibyte. */
const largestFile = 256 * 1024 ** 2;

/** Null if it is no plan of a service that is known. */
export const planOf = async (value: unknown): Promise<Report | null> => {
  const report = await readReport(value);
  return report?.dryRun === true && report.service !== undefined ? report : null;
};

/** By what a plan knows its service again: without the address itself, and in any order of the clients. */
export const serviceOf = (clients: readonly Pick<Client, 'savedAt'>[]): string => {
  const scopes = clients.map(({ savedAt }) => savedAt.scope).sort();
  return createHash('sha256').update(scopes.join()).digest('hex').slice(0, 32);
};

type Templates = Report['templates'];
type PlannedTemplate = Templates[number];

/** The plan differs from the approved one. */
export class PlanChangedError extends UserError {
  override name = 'PlanChangedError';

  constructor(which: string, changes: ReturnType<typeof planChanges>) {
    const more = changes.length > maxShown ? `\n  and ${changes.length - maxShown} more` : '';
    const lines = changes.slice(0, maxShown).map(({ template, change }) => `\n  ${template}: ${change}`);
    super(`the plan is no longer ${which}; nothing was written:${lines.join('')}${more}`);
  }
}

const maxShown = 20;

/**
 * The differences between two plans, by template as in `default/standard-web`. `lifted`: a person has just lifted a guard,
 * so being held in the first plan is not a difference.
 */
export const planChanges = (before: Templates, now: Templates, lifted: boolean) => {
  const [then, today] = [byName(before), byName(now)];
  const names = [...new Set([...then.keys(), ...today.keys()])].sort();
  return names.flatMap((template) => {
    const [old, fresh] = [then.get(template), today.get(template)];
    if (!fresh) return { template, change: 'in that plan; no file describes it now' };
    if (!old) return { template, change: 'not in that plan; name only templates of it' };
    return templateChanges(old, fresh, lifted).map((change) => ({ template, change }));
  });
};

/** The service may have several templates of one name, with different ids. */
const byName = (templates: Templates): ReadonlyMap<string, PlannedTemplate> => {
  const namesakes = groupBy(templates, ({ client, template }) => `${client}/${template}`);
  return new Map(
    [...namesakes].flatMap(([name, group]) =>
      group.map((one) => [group.length === 1 ? name : `${name} (${one.id})`, one]),
    ),
  );
};

/** Subdomains are not compared: they are never written. */
const templateChanges = (old: PlannedTemplate, fresh: PlannedTemplate, lifted: boolean): string[] => {
  const [then, today] = [differencesOf(old, lifted), differencesOf(fresh, lifted)];
  const only = (some: typeof then, others: typeof then): string[] =>
    [...some].flatMap(([key, one]) => (others.has(key) ? [] : differenceText(one)));
  return [
    ...(old.id === fresh.id ? [] : [`its id was ${old.id} and is now ${fresh.id}`]),
    ...(lifted || old.message === fresh.message
      ? []
      : [`its message was: ${old.message ?? 'none'}; it is now: ${fresh.message ?? 'none'}`]),
    ...only(then, today).map((text) => `no longer: ${text}`),
    ...only(today, then).map((text) => `new: ${text}`),
  ];
};

/** The differences by their records. A moved line in a file is no change. */
const differencesOf = ({ differences }: PlannedTemplate, lifted: boolean): ReadonlyMap<string, Difference> =>
  new Map(
    differences.map((one) => [
      JSON.stringify(lifted ? withoutOutcome(one) : { ...one, source: null }, inKeyOrder),
      one,
    ]),
  );

const inKeyOrder = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value;

/** What `mode: report` or `--only` left out of one plan, which nobody can force, is not to be written by another one. */
const withoutOutcome = (difference: Difference): unknown => {
  const { recordId = null, current = null, desired = null } = { ...empty, ...difference };
  const isLeftOut = difference.outcome === 'skipped' && !mayBeLifted.has(difference.skippedBy);
  return { isLeftOut, recordId, current, desired };
};

const empty: { readonly recordId?: unknown; readonly current?: unknown; readonly desired?: unknown } = {};

const mayBeLifted: ReadonlySet<SkipCause | undefined> = new Set(['mode-edits', 'held', 'pass']);

const differenceText = (difference: Difference): string => {
  if (difference.action === 'surplus') return `surplus ${recordText(difference.current)}`;
  const before = 'current' in difference ? (difference.current ?? null) : null;
  const why = difference.outcome === 'skipped' ? ` (${difference.error})` : '';
  return `${difference.action} ${changeText(before, difference.desired)}${why}`;
};
