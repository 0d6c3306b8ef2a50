import { createHash } from 'node:crypto';
import path from 'node:path';
import { codeOf, UserError } from '../errors.ts';
import type { Io } from '../io.ts';
import type { Difference, SkipCause } from '../plan/difference.ts';
import { readRegularFileSync } from '../regular-file.ts';
import { changeText, recordText } from '../report/row.ts';
import { readReport, type Report } from '../result.ts';
import type { Client } from './client.ts';

/** A report that `plan --format json --out FILE` wrote. */
export const readPlan = async (file: string, { cwd }: Pick<Io, 'cwd'>): Promise<Report> => {
  const how = 'write one with plan --format json --out plan.json';
  try {
    const text = readRegularFileSync(path.resolve(cwd, file), largestFile).toString('utf8');
    // PowerShell's `>` and some editors put a mark before the text.
    const plan = await planOf(JSON.parse(text.replace(/^\ufeff/, '')));
    if (plan !== null) return plan;
  } catch (error) {
    if (!(error instanceof SyntaxError))
      throw new UserError(`--plan: cannot read ${file} (${codeOf(error)}): ${how}`, { cause: error });
  }
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
 * What differs between two plans, by template as in `default/standard-web`. `lifted`: a person has just lifted a guard, so
 * being held in the first plan is not a difference.
 */
export const planChanges = (before: Report['templates'], now: Report['templates'], lifted: boolean) => {
  const [then, today] = [partsOf(before, lifted), partsOf(now, lifted)];
  const only = (some: typeof then, others: typeof then, word: string) =>
    [...some].flatMap(([key, { template, text }]) =>
      others.has(key) ? [] : [{ template, change: `${word}: ${text()}` }],
    );
  const changes = [...only(then, today, 'no longer'), ...only(today, then, 'new')];
  return changes.sort(
    (one, other) => Number(one.template > other.template) - Number(one.template < other.template),
  );
};

/**
 * Each template and each of its differences, by all that is decisive of it: neither its line in a file, nor subdomains,
 * which are never written.
 */
const partsOf = (templates: Report['templates'], lifted: boolean) =>
  new Map(
    templates.flatMap(({ client, template, id, message, differences }) => {
      const name = `${client}/${template}`;
      const part = (decisive: unknown, text: () => string) =>
        [JSON.stringify([name, id, decisive], inKeyOrder), { template: name, text }] as const;
      return [
        part(lifted || message, () => `template ${id}${message === null ? '' : `, ${message}`}`),
        ...differences.map((one) =>
          part(lifted ? withoutOutcome(one) : { ...one, source: null }, () => differenceText(one)),
        ),
      ];
    }),
  );

const inKeyOrder = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value;

/**
 * What `mode: report`, `--only` or a conflict left out of one plan, which nobody can force, is not to be written by another
 * one.
 */
const withoutOutcome = (difference: Difference): unknown => {
  const { recordId = null, current = null, desired = null, conflicts = null } = { ...empty, ...difference };
  const isLeftOut = difference.outcome === 'skipped' && !mayBeLifted.has(difference.skippedBy);
  return { isLeftOut, recordId, current, desired, conflicts };
};

const empty: Readonly<Partial<Record<'recordId' | 'current' | 'desired' | 'conflicts', unknown>>> = {};

const mayBeLifted: ReadonlySet<SkipCause | undefined> = new Set(['mode-edits', 'held', 'pass']);

const differenceText = (difference: Difference): string => {
  if (difference.action === 'surplus') return `surplus ${recordText(difference.current)}`;
  const before = 'current' in difference ? (difference.current ?? null) : null;
  const why = difference.outcome === 'skipped' ? ` (${difference.error})` : '';
  return `${difference.action} ${changeText(before, difference.desired)}${why}`;
};
