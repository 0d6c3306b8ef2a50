import { sameElements } from '../lib/same-elements.ts';
import { suspensionOf } from '../model/suspension.ts';
import { lostIds } from '../plan/guard.ts';
import type { Step } from '../plan/step.ts';
import type { TemplateResult } from '../result.ts';
import { noChanges, type Entry, type Revisions, type TemplateRow } from '../state/memory.ts';
import type { BoundTemplate } from '../plan/bind.ts';
import { openEntries } from './journal.ts';
import { permits } from './permit.ts';
import { withSubdomains } from './result.ts';
import type { ClientRun } from './run.ts';
import { isSettled, planOf, type Circumstances, type TemplateState } from './state.ts';
import { checkSubdomains } from './subdomains.ts';

/**
 * The result of a template in which a pass found nothing to do and nothing new to save. While file, service
 * and saved state are unchanged, another pass would find the same.
 */
export interface CachedResult {
  readonly bound: BoundTemplate;
  /** The revision of its saved state. */
  readonly revision: string;
  readonly row: TemplateRow;
  /** Found by a dry run. */
  readonly isDryRun: boolean;
  /** Without its subdomains, which every pass checks; with the last commit. */
  result: TemplateResult;
}

/** The results that are kept from one pass to the next. */
export interface ResultCache {
  /** By the template's id. */
  readonly byId: Map<number, CachedResult>;
  /** Of the last pass. */
  results: readonly TemplateResult[];
}

export const emptyCache = (): ResultCache => ({ byId: new Map(), results: [] });

/** The unchanged templates with their results; none that is not settled. `revisions`: null if the store does not know. */
export const lookUp = (
  bound: readonly BoundTemplate[],
  revisions: Revisions | null,
  journal: ReadonlyMap<number, readonly Entry[]>,
  { began, times }: Circumstances,
  cache: ResultCache | undefined,
  run: ClientRun,
): Map<BoundTemplate, CachedResult> => {
  const found = new Map<BoundTemplate, CachedResult>();
  if (!cache || !revisions) return found;
  for (const one of bound) {
    const { id, name, records } = one.actual;
    const cached = cache.byId.get(id);
    const names = [one.desired.template, name, cached?.row.template ?? null];
    const entries = journal.get(id) ?? [];
    const isSame =
      suspensionOf(run.suspensions, { templateId: id, names }) === null &&
      cached?.isDryRun === run.isDryRun &&
      cached.bound.desired === one.desired &&
      cached.bound.actual === one.actual &&
      cached.revision === revisions.of(id) &&
      entries.every(({ state }) => state === 'accepted' || state === 'failed') &&
      openEntries(entries, records, began, times).length === 0;
    if (isSame) found.set(one, cached);
    else cache.byId.delete(id);
  }
  return found;
};

/** The current results: the same objects, unless there are subdomains to check or another commit. */
export const refresh = async (cached: readonly CachedResult[], run: ClientRun): Promise<TemplateResult[]> => {
  const results = cached.map((one) => {
    const revision = run.pass.revisionOf(one.result.file);
    if (one.result.revision !== revision) one.result = { ...one.result, revision };
    return one.result;
  });
  const look = async ({ bound, row }: CachedResult, index: number): Promise<void> => {
    const check = await checkSubdomains(bound.desired, bound.actual, row, run);
    results[index] = withSubdomains(results[index]!, check.results);
    // Makes the next pass compare the whole template.
    if (check.row && !run.isDryRun) await run.save(run.writer.save({ ...noChanges, row: check.row }));
  };
  const withSome = cached.flatMap((one, index) =>
    one.bound.desired.subdomains.length === 0 ? [] : look(one, index),
  );
  await Promise.all(withSome);
  return results;
};

/** Stores the results that the next pass would find again. */
export const store = async (
  found: readonly FoundTemplate[],
  cache: ResultCache | undefined,
  run: ClientRun,
): Promise<void> => {
  if (!cache || found.length === 0) return;
  const revisions = await run.pass.memory.revisions?.();
  if (!revisions) return;
  for (const { bound, state, result, revisionBefore } of found) {
    const { id } = bound.actual;
    const revision = revisions.of(id);
    const isCalm = result.status === 'in-sync' || result.status === 'drifted';
    if (!isCalm || revision !== revisionBefore || !isUnchanging(state, run)) continue;
    cache.byId.set(id, {
      bound: { ...bound, actual: state.view },
      revision,
      row: state.memory.row,
      isDryRun: run.isDryRun,
      result: withoutSubdomains(result),
    });
  }
};

/** A template that a pass compared, and its result. */
export interface FoundTemplate {
  readonly bound: BoundTemplate;
  readonly state: TemplateState;
  readonly result: TemplateResult;
  /** The revision of its saved state before the pass. */
  readonly revisionBefore: string | undefined;
}

/** The same list object as after the last pass, if nothing has changed. */
export const asBefore = (
  results: readonly TemplateResult[],
  cache: ResultCache | undefined,
): readonly TemplateResult[] => {
  if (!cache) return results;
  if (!sameElements(results, cache.results)) cache.results = results;
  return cache.results;
};

const withoutSubdomains = (result: TemplateResult): TemplateResult => ({
  ...result,
  status: result.differences.length > 0 ? 'drifted' : 'in-sync',
  subdomains: [],
});

/** Whether nothing is due later: only a change can give a pass something to do here. */
const isUnchanging = (state: TemplateState, { isDryRun }: ClientRun): boolean => {
  const { attempts, view, memory, holds, journal } = state;
  const plan = planOf(state);
  const whyNot = permits(state, null);
  // Nobody writes in a dry run; but the adds of all templates together may reach a limit.
  const isShown = ({ difference }: Step): boolean => isDryRun && difference.action !== 'add';
  return (
    attempts.size === 0 &&
    isSettled(state) &&
    journal.every((entry) => entry.state !== 'missed') &&
    holds.length === 0 &&
    // Steps that a mode skips stay skipped.
    plan.steps.every((step) => whyNot(step) !== null || isShown(step)) &&
    plan.blocked.length === 0 &&
    plan.surplus.every(({ error }) => error === undefined) &&
    // A record that is missing for the first time needs a second listing.
    lostIds({ actual: view, memory }).length === 0
  );
};
