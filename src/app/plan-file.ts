import { createHash } from 'node:crypto';
import path from 'node:path';
import { codeOf, UserError } from '../errors.ts';
import type { Io } from '../io.ts';
import type { Difference, SkipCause } from '../plan/difference.ts';
import { groupBy } from '../model/group.ts';
import { readRegularFile } from '../regular-file.ts';
import type { Report } from '../report/report.ts';
import { changeText, recordText } from '../report/row.ts';
import type { Client } from './client.ts';

/** A report that `plan --format json --out FILE` wrote. */
export const readPlan = async (file: string, { cwd }: Pick<Io, 'cwd'>): Promise<Report> => {
  const how = 'write one with plan --format json --out plan.json';
  const text = await readRegularFile(path.resolve(cwd, file), largestFile).catch((error: unknown) => {
    throw new UserError(`--plan: cannot read ${file} (${codeOf(error)}): ${how}`, { cause: error });
  });
  // PowerShell's `>` and some editors put a mark before the text.
  const plan = await planOf(parseJson(text.toString('utf8').replace(/^\ufeff/, '')));
  if (typeof plan !== 'string') return plan;
  throw new UserError(`--plan: ${file} is ${plan}: ${how}`);
};

/** What it is instead if it is no plan that can be compared with another one. */
export const planOf = async (value: unknown): Promise<Report | string> => {
  const { reportSchema } = await import('../report/report.ts');
  const parsed = reportSchema.safeParse(value);
  if (!parsed.success || !parsed.data.dryRun) return 'not a report of plan';
  if (parsed.data.service === undefined)
    return 'a plan of an earlier version, which does not say for which service it was made';
  const differences = parsed.data.templates.flatMap((template) => template.differences);
  return differences.some(({ outcome, skippedBy }) => outcome === 'skipped' && skippedBy === undefined)
    ? 'a plan of an earlier version, which has no code for why a difference is skipped'
    : parsed.data;
};

/** By what a plan knows its service again: without the address itself, and in any order of the clients. */
export const serviceOf = (clients: readonly Pick<Client, 'savedAt'>[]): string => {
  const scopes = clients.map(({ savedAt }) => savedAt.scope).sort();
  return createHash('sha256').update(scopes.join()).digest('hex').slice(0, 32);
};

/** Null, which is not a report, if it is not JSON. */
const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** Bytes; V8 strings end at half a gibibyte. */
const largestFile = 256 * 1024 ** 2;

type Templates = Report['templates'];
type PlannedTemplate = Templates[number];

/** The plan differs from the approved one. */
export class PlanChangedError extends UserError {
  override name = 'PlanChangedError';
  readonly #which: string;
  readonly #changes: readonly PlannedChange[];

  constructor(which: string, changes: readonly PlannedChange[]) {
    const lines = changes.map(({ template, change }) => `\n  ${template}: ${change}`);
    const more = lines.length > maxShown ? `\n  and ${lines.length - maxShown} more` : '';
    super(`the plan is no longer ${which}; nothing was written:${lines.slice(0, maxShown).join('')}${more}`);
    this.#which = which;
    this.#changes = changes;
  }

  /** The status of one template for the report: failed only if its own plan has changed. */
  verdictOn(client: string, template: string): Pick<PlannedTemplate, 'status' | 'message'> {
    const name = `${client}/${template}`;
    const own = this.#changes.filter((one) => one.template === name || one.template.startsWith(`${name} (`));
    const why = own.length === 0 ? 'others have changed' : own.map(({ change }) => change).join('; ');
    return {
      status: own.length === 0 ? 'held' : 'failed',
      message: `the plan is no longer ${this.#which}; nothing was written: ${why}`,
    };
  }
}

const maxShown = 20;

interface PlannedChange {
  /** With its client: `default/standard-web`, and with its id if the name is not unique. */
  readonly template: string;
  readonly change: string;
}

/**
 * The differences between two plans. `lifted`: a person has just lifted a guard, so being held in the first
 * plan is not a difference.
 */
export const planChanges = (before: Templates, now: Templates, lifted: boolean): PlannedChange[] => {
  const then = byName(before);
  const today = byName(now);
  const names = [...new Set([...then.keys(), ...today.keys()])].sort();
  return names.flatMap((template) => {
    const [old, fresh] = [then.get(template), today.get(template)];
    if (!fresh) return [{ template, change: 'in that plan; no file describes it now' }];
    if (!old) return [{ template, change: 'not in that plan' }];
    return templateChanges(old, fresh, lifted).map((change) => ({ template, change }));
  });
};

/** The service may have several templates of one name, with different ids. */
const byName = (templates: Templates): Map<string, PlannedTemplate> => {
  const namesakes = groupBy(templates, ({ client, template }) => `${client}/${template}`);
  return new Map(
    [...namesakes].flatMap(([name, group]) =>
      group.map((one) => [group.length === 1 ? name : `${name} (${one.id})`, one]),
    ),
  );
};

/** Subdomains are not compared: they are never written. */
const templateChanges = (old: PlannedTemplate, fresh: PlannedTemplate, lifted: boolean): string[] => {
  const then = differencesOf(old, lifted);
  const today = differencesOf(fresh, lifted);
  return [
    ...(old.id === fresh.id ? [] : [`its id was ${old.id} and is now ${fresh.id}`]),
    ...(lifted || old.message === fresh.message
      ? []
      : [`its message was: ${old.message ?? 'none'}; it is now: ${fresh.message ?? 'none'}`]),
    ...[...then].flatMap(([key, one]) => (today.has(key) ? [] : [`no longer: ${differenceText(one)}`])),
    ...[...today].flatMap(([key, one]) => (then.has(key) ? [] : [`new: ${differenceText(one)}`])),
  ];
};

/** The differences by their records. A moved line in a file is no change. */
const differencesOf = ({ differences }: PlannedTemplate, lifted: boolean): Map<string, Difference> =>
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
const withoutOutcome = (difference: Difference): unknown => ({
  isLeftOut: difference.outcome === 'skipped' && !mayBeLifted.has(difference.skippedBy),
  recordId: 'recordId' in difference ? difference.recordId : null,
  current: 'current' in difference ? difference.current : null,
  desired: 'desired' in difference ? difference.desired : null,
});

const mayBeLifted: ReadonlySet<SkipCause | undefined> = new Set(['mode-edits', 'held', 'pass']);

const differenceText = (difference: Difference): string => {
  if (difference.action === 'surplus') return `surplus ${recordText(difference.current)}`;
  const before = 'current' in difference ? (difference.current ?? null) : null;
  const why = difference.outcome === 'skipped' ? ` (${difference.error})` : '';
  return `${difference.action} ${changeText(before, difference.desired)}${why}`;
};
